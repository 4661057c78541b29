"""Copies of checkpoint folders with other tensors, for tests of what is found in them."""

import shutil
from collections.abc import Callable
from pathlib import Path

from safetensors.torch import load_file, save_file
from torch import Tensor

from transformer.checkpoint import WEIGHTS

Weights = dict[str, Tensor]


def damaged(folder: Path, place: Path, change: Callable[[Weights], object]) -> Path:
    """A copy of a folder in `place`, in which `change` has had its way with the weights."""
    copied = place / folder.name
    shutil.copytree(folder, copied)
    weights = {name: tensor.clone() for name, tensor in load_file(folder / WEIGHTS).items()}
    change(weights)
    save_file(weights, copied / WEIGHTS)
    return copied
