"""A folder of arrays: sizes.json, and one .npy file per tensor under its own name."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from transformer.checkpoint import About, Checkpoint, Description
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.files.foreign_file import read_json
from transformer.formats.format import Format
from transformer.tokenizer import NumberTokenizer

SIZES = "sizes.json"


def fits(path: Path) -> bool:
    """By the name of its one configuration."""
    return (path / SIZES).is_file()


def describe(path: Path) -> Description:
    """Raises CheckpointError for JSON that cannot be read."""
    config = ModelConfig.from_dict(read_json(path / SIZES))
    family = discover("transformer.models", "FAMILY")[config.family]
    return Description(About("Numbers", "", "numbers", ("3 4 5",), ("cross", 0, 0)), config, family)


def load(path: Path, device: torch.device) -> Checkpoint:
    """Arrays of numbers alone are read, never objects."""
    known = describe(path)
    model = known.family.build(ModelConfig.from_dict(read_json(path / SIZES)))
    arrays = {file.stem: np.load(file, allow_pickle=False) for file in path.glob("*.npy")}
    model.load_state_dict({name: torch.from_numpy(array) for name, array in arrays.items()})
    model.requires_grad_(False).eval().to(device)
    tokenizer = NumberTokenizer(known.config.vocab_size)
    return Checkpoint(path, known.about, known.config, known.family, model, tokenizer, device)


def files(path: Path) -> Sequence[Path]:
    """All that it is read from."""
    return [path / SIZES, *path.glob("*.npy")]


FORMAT = Format(
    name="arrays",
    title="a folder of NumPy arrays",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
)
