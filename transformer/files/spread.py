"""Weights that a training of several processes left in parts, which only its own code joins."""

from collections.abc import Mapping
from pathlib import Path

from transformer.files.foreign_text import some_of

WAYS: Mapping[tuple[str, ...], str] = {
    ("*.distcp", "*/*.distcp"): (
        "of torch.distributed.checkpoint: `accelerate merge-weights FOLDER OUT`, FOLDER being "
        "where they lie, makes model.safetensors of them"
    ),
    ("*_model_states.pt", "*/*_model_states.pt", "*_optim_states.pt", "*/*_optim_states.pt"): (
        "of DeepSpeed: `python zero_to_fp32.py . OUT`, which lies beside them, makes "
        "pytorch_model.bin of them"
    ),
}
"""Patterns of files -> what they are parts of, and what makes one file of them."""


def spread(path: Path) -> str:
    """Say which such parts a folder holds, or a file is, and what to do; "": there are none."""
    folder = path.parent if path.is_file() else path
    for patterns, way in WAYS.items():
        if path.is_file() and not any(map(path.match, patterns)):
            continue
        names = sorted({file.name for pattern in patterns for file in folder.glob(pattern)})
        if names:
            return f"{some_of(names, 1)} {'is a part' if len(names) == 1 else 'are parts'} {way}"
    return ""
