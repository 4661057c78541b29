"""Our own folders: config.json, model.safetensors, a tokenizer, card.md, history.json, snapshots/.

Weights are read from safetensors only: nothing in a folder is ever executed. A file of snapshots/
is the same model at an earlier step.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file
from torch import nn

from transformer.checkpoint import (
    CONFIG,
    SNAPSHOTS,
    WEIGHTS,
    About,
    Checkpoint,
    CheckpointError,
    Description,
)
from transformer.config import ConfigError, ModelConfig
from transformer.device import inference_dtype
from transformer.discover import discover
from transformer.files.foreign_text import read_json
from transformer.files.tensor_files import SafetensorsFiles
from transformer.files.tensors import list_tensors
from transformer.formats.format import Format
from transformer.inspection.contents import Contents, compare, expect, our_contents, require_fit
from transformer.models.family import Family
from transformer.tokenizer import TokenizerError, load_tokenizer

LARGEST_CONFIG = 2**24
"""Bytes of a config.json that are read."""


def fits(path: Path) -> bool:
    """A folder with a config.json that is nobody else's, or one of its snapshots."""
    folder, _ = _parts(path)
    if not (folder / CONFIG).is_file():
        return False
    try:
        if (folder / CONFIG).stat().st_size > LARGEST_CONFIG:
            return True  # opening it says so
        values = read_json(folder / CONFIG)
    except (OSError, ValueError, RecursionError):
        return True  # damaged: opening it says how
    return not isinstance(values, dict) or "model" in values or "model_type" not in values


def describe(path: Path) -> Description:
    """What config.json says."""
    return Description(*read_config(_parts(path)[0]))


def load(path: Path, device: torch.device) -> Checkpoint:
    """Build the model that config.json describes and fill it."""
    folder, weights = _parts(path)
    about, config, family = read_config(folder)
    try:
        tokenizer = load_tokenizer(about.tokenizer, folder, config.vocab_size)
    except TokenizerError as error:
        raise CheckpointError(f"{folder.name}: {error}") from error
    try:
        model = _fill(config, family, folder / weights, f"{folder.name}: {weights}")
    except ConfigError as error:
        raise CheckpointError(f"{folder.name}: {CONFIG}: {error}") from error
    model.requires_grad_(False).eval().to(device, inference_dtype(device))
    return Checkpoint(path, about, config, family, model, tokenizer, device)


def contents(path: Path) -> Contents:
    """What config.json and the weights' file hold, fitting or not."""
    folder, weights = _parts(path)
    known = describe(path)
    tensors = SafetensorsFiles(folder, [weights])
    kind, size = known.about.tokenizer, known.config.vocab_size
    return our_contents(known, tensors, lambda: load_tokenizer(kind, folder, size))


def files(path: Path) -> Sequence[Path]:
    """The configuration and the weights."""
    folder, weights = _parts(path)
    return folder / CONFIG, folder / weights


def _parts(path: Path) -> tuple[Path, str]:
    """The folder, and which of its files holds the weights."""
    if path.suffix == ".safetensors" and path.parent.name == SNAPSHOTS:
        return path.parent.parent, f"{SNAPSHOTS}/{path.name}"
    return path, WEIGHTS


def read_config(path: Path) -> tuple[About, ModelConfig, Family]:
    """Read config.json alone: what a list of checkpoints needs. Raises CheckpointError."""
    file = path / CONFIG
    try:
        if file.stat().st_size > LARGEST_CONFIG:
            raise CheckpointError(f"{path.name}: {CONFIG} is too large to be a configuration.")
        values = read_json(file)
        if not isinstance(values, dict):
            raise CheckpointError(
                f"{path.name}: {CONFIG} holds {_JSON[type(values)]}, and no fields with their "
                "values: put the one there that was saved with the weights."
            )
        config = ModelConfig.from_dict(values["model"])
        about = About(
            title=str(values["title"]),
            recipe=str(values["recipe"]),
            tokenizer=str(values["tokenizer"]),
            examples=tuple(map(str, values["examples"])),
            opens_at=_opens_at(values.get("opens_at", About.opens_at)),
        )
    except FileNotFoundError as error:
        raise CheckpointError(f"{path.name}: {CONFIG} is missing.") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CheckpointError(f"{path.name}: {CONFIG} cannot be read: {error}.") from error
    except KeyError as error:
        raise CheckpointError(f"{path.name}: {CONFIG} lacks the field {error}.") from error
    except ConfigError as error:
        raise CheckpointError(f"{path.name}: {CONFIG}: {error}") from error
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name}: {CONFIG} has a wrong value: {error}.") from error
    families = discover("transformer.models", "FAMILY")
    if config.family not in families:
        known = ", ".join(families)
        raise CheckpointError(f"{path.name}: {CONFIG}: unknown family {config.family!r} ({known}).")
    return about, config, families[config.family]


_JSON = {list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
_JSON |= dict.fromkeys((int, float), "a number")


def _opens_at(value: Any) -> tuple[str, int, int]:
    kind, layer, head = value
    return str(kind), int(layer), int(head)


def _fill(config: ModelConfig, family: Family, file: Path, where: str) -> nn.Module:
    """The model with its weights; before any is allocated, the file's header must fit it."""
    stored = list_tensors(file, where)
    expected = expect(config, family, stored)
    require_fit(compare(stored, expected), stored, where)
    if expected.problem:
        raise ConfigError(f"{expected.problem}.")
    try:
        weights = load_file(file)
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{where} is not a whole safetensors file: {error}.") from error
    for name, tensor in weights.items():
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(f"{where}: {name} holds NaN or infinite values.")
    model = family.build(config)
    model.load_state_dict(weights)
    return model


FORMAT = Format(
    name="headscope",
    title="a folder that `python -m transformer train` saved",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
