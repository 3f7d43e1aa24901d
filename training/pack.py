"""Pack fitted weights for the wheel: matrices as int8 with a scale a row, the rest float16, less rare pieces.

``python -m training.pack weights.safetensors vocab.txt [FOLDER]``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).parents[1] / "gnrs_ppl" / "reading" / "weights"


def tensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The arrays of a safetensors file of float32."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    head = json.loads(content[8 : 8 + size])
    return {
        name: np.frombuffer(content[8 + size :][slice(*entry["data_offsets"])], np.float32).reshape(
            entry["shape"]
        )
        for name, entry in head.items()
        if name != "__metadata__"
    }


def is_kept(piece: str) -> bool:
    """Whether a piece may stand in an English text or a label: Latin letters, digits, signs, marks."""
    plain = piece.removeprefix("##")
    return piece in ("[UNK]", "[CLS]", "[SEP]") or (
        not piece.startswith("[") and all(ord(c) < 0x250 or 0x2010 <= ord(c) <= 0x20BF for c in plain)
    )


def packed(
    weights: dict[str, NDArray[np.float32]], lines: list[str]
) -> tuple[dict[str, NDArray[np.generic]], list[str]]:
    """Arrays as stored, and the pieces that are left."""
    left = [k for k, piece in enumerate(lines) if is_kept(piece)]
    arrays: dict[str, NDArray[np.generic]] = {}
    for name, array in weights.items():
        full = array[left] if name == "words.weight" else array
        if full.ndim == 2 and full.size > 4096 and not name.startswith("places"):
            scale = np.abs(full).max(1) / 127
            arrays[name] = np.rint(full / np.maximum(scale, 1e-12)[:, None]).astype(np.int8)
            arrays[f"{name}.scale"] = scale.astype(np.float32 if name == "words.weight" else np.float16)
        else:
            arrays[name] = full.astype(np.float16)
    return arrays, [lines[k] for k in left]


def main(weights: str, vocabulary: str, folder: str = str(FOLDER)) -> None:
    """Write reader.npz and vocabulary.txt."""
    lines = Path(vocabulary).read_text(encoding="utf-8").splitlines()
    arrays, kept = packed(tensors(Path(weights)), lines)
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    np.savez(home / "reader.npz", **arrays)  # type: ignore[arg-type]
    (home / "vocabulary.txt").write_text("\n".join(kept) + "\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in home.iterdir()) / 1e6
    print(f"{len(kept):,} of {len(lines):,} pieces, {size:.1f} MB in {home}")


if __name__ == "__main__":
    main(*sys.argv[1:])
