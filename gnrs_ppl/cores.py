"""All cores for the samplers: JAX takes a processor for one device unless it is told otherwise before it
begins. Loads no JAX.
"""

from __future__ import annotations

import os
import sys

VARIABLE = "JAX_NUM_CPU_DEVICES"


def use_all_cores() -> int:
    """Let JAX take every core this process may use for a device, as many as are a power of two, so that
    chains divide evenly; draws are the same on any number. What the environment says stays. The command does
    so itself.

    Call it before anything is computed: later it changes nothing.

    Returns
    -------
    int
        How many devices the processor will be.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    number = int(os.environ.setdefault(VARIABLE, str(1 << cores.bit_length() - 1)))
    if "jax" in sys.modules:  # it has read the environment
        import jax

        try:
            jax.config.update("jax_num_cpu_devices", number)  # type: ignore[no-untyped-call]
        except RuntimeError:  # it has begun
            return len(jax.local_devices(backend="cpu"))
    return number
