"""JAX's persistent compilation cache, so that a second draft does not compile again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jax


def cache_folder() -> Path:
    """``$GNRS_CACHE_DIR``, else ours in the user's cache folder."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gnrs-ppl"
    return Path(os.environ.get("GNRS_CACHE_DIR", default))


def use_compilation_cache() -> None:
    """Keep compiled kernels in ``$GNRS_CACHE_DIR``, else in the user's cache folder; leaves a folder JAX
    already uses alone.
    """
    config: Any = jax.config
    if config.jax_compilation_cache_dir is not None:
        return
    config.update("jax_compilation_cache_dir", str(cache_folder()))
    config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
