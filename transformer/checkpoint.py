"""A checkpoint folder: config.json, model.safetensors, a tokenizer, card.md, snapshots/.

Weights are read from safetensors only: nothing in a folder is ever executed.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from transformer.config import ConfigError, ModelConfig
from transformer.device import choose_device, inference_dtype
from transformer.discover import discover
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer, TokenizerError, load_tokenizer
from transformer.whole_file import write_whole

CONFIG, WEIGHTS, CARD, HISTORY, SNAPSHOTS = (
    "config.json",
    "model.safetensors",
    "card.md",
    "history.json",
    "snapshots",
)


class CheckpointError(Exception):
    """A folder that cannot be opened; the message names the file and what is wrong with it."""


@dataclass(frozen=True)
class About:
    """What a checkpoint says of itself beside its sizes."""

    title: str
    recipe: str
    tokenizer: str
    examples: tuple[str, ...] = ()
    opens_at: tuple[str, int, int] = ("cross", 0, 0)
    """The kind, layer and head that are shown first."""


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model ready to run, with its tokenizer. Shared between sessions: never changed."""

    path: Path
    about: About
    config: ModelConfig
    family: Family
    model: nn.Module
    tokenizer: Tokenizer
    device: torch.device

    @property
    def name(self) -> str:
        return self.path.name


def load_checkpoint(
    path: str | Path, device: str | None = None, weights: str = WEIGHTS
) -> Checkpoint:
    """Open a checkpoint folder.

    device: where to run; None chooses CUDA, else MPS, else CPU. weights: another weights file of
    the folder, such as "snapshots/000100.safetensors". Raises CheckpointError, or DeviceError for
    a device that is not here.
    """
    path = Path(path).absolute()  # so that "." has a name too
    chosen = choose_device(device)
    about, config, family = read_config(path)
    try:
        tokenizer = load_tokenizer(about.tokenizer, path, config.vocab_size)
    except TokenizerError as error:
        raise CheckpointError(f"{path.name}: {error}") from error
    try:
        model = family.build(config)
    except ConfigError as error:
        raise CheckpointError(f"{path.name}: {CONFIG}: {error}") from error
    _fill(model, path / weights, f"{path.name}: {weights}")
    model.requires_grad_(False).eval().to(chosen, inference_dtype(chosen))
    return Checkpoint(path, about, config, family, model, tokenizer, chosen)


def read_config(path: Path) -> tuple[About, ModelConfig, Family]:
    """Read config.json alone: what a list of checkpoints needs. Raises CheckpointError."""
    file = path / CONFIG
    try:
        values = json.loads(file.read_text(encoding="utf-8"))
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


def read_history(path: Path) -> list[dict[str, float]]:
    """The rows that training saved, in order: each has `step` and what was measured there.

    Empty where a folder has no history.json: a model from elsewhere keeps no log. Raises
    CheckpointError for a file that holds something else.
    """
    where = f"{path.name}: {HISTORY}"
    try:
        rows = json.loads((path / HISTORY).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise CheckpointError(f"{where} cannot be read: {error}.") from error
    if not isinstance(rows, list) or not all(map(_is_history_row, rows)):
        raise CheckpointError(f"{where} must be a list of rows of numbers, each with a step.")
    return rows


def save_checkpoint(
    path: Path, about: About, config: ModelConfig, weights: dict[str, Tensor], tokenizer: Tokenizer
) -> None:
    """Write a folder that `load_checkpoint` opens; weights go out in half precision."""
    path.mkdir(parents=True, exist_ok=True)
    values: dict[str, Any] = {
        "title": about.title,
        "recipe": about.recipe,
        "tokenizer": about.tokenizer,
        "examples": list(about.examples),
        "opens_at": list(about.opens_at),
        "model": config.to_dict(),
    }
    write_whole(path / CONFIG, (json.dumps(values, indent=2) + "\n").encode())
    tokenizer.save(path)
    save_weights(path / WEIGHTS, weights)


def save_weights(file: Path, weights: dict[str, Tensor]) -> None:
    """One safetensors file in half precision."""
    file.parent.mkdir(parents=True, exist_ok=True)
    half = {name: tensor.detach().to("cpu", torch.float16) for name, tensor in weights.items()}
    write_whole(file, save({name: tensor.contiguous() for name, tensor in half.items()}))


def _opens_at(value: Any) -> tuple[str, int, int]:
    kind, layer, head = value
    return str(kind), int(layer), int(head)


def _is_history_row(row: Any) -> bool:
    """Numbers by name; a loss may be NaN where a run went astray, a step may not."""
    if not isinstance(row, dict) or not isinstance(row.get("step"), int):
        return False
    return all(isinstance(value, int | float) for value in row.values())


def _fill(model: nn.Module, file: Path, where: str) -> None:
    """Load weights into the model; names and shapes must be exactly the model's."""
    if not file.is_file():
        raise CheckpointError(f"{where} is missing.")
    try:
        weights = load_file(file)
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise CheckpointError(f"{where} is not a whole safetensors file: {error}.") from error
    expected = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    for name, shape in expected.items():
        if name not in found:
            raise CheckpointError(f"{where} has no tensor {name}, which config.json asks for.")
        if found[name] != shape:
            raise CheckpointError(
                f"{where}: {name} is {list(found[name])}, config.json says {list(shape)}."
            )
    unexpected = sorted(set(found) - set(expected))
    if unexpected:
        raise CheckpointError(f"{where} has tensors the model lacks: {', '.join(unexpected[:3])}.")
    for name, tensor in weights.items():
        if not bool(tensor.isfinite().all()):
            raise CheckpointError(f"{where}: {name} holds NaN or infinite values.")
    model.load_state_dict(weights)
