"""A trained model, opened: what it is made of, what its folder says, and how it is saved.

How one is read is up to its format, `transformer/formats/`: one way of keeping models a file.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from safetensors.torch import save
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.device import choose_device
from transformer.discover import discover
from transformer.files.whole_file import write_whole
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from transformer.formats.format import Format

CONFIG, WEIGHTS, CARD, HISTORY, SNAPSHOTS = (
    "config.json",
    "model.safetensors",
    "card.md",
    "history.json",
    "snapshots",
)


class CheckpointError(Exception):
    """A folder that cannot be opened; the message names the file and what is wrong with it."""

    def __init__(self, said: str) -> None:
        # A name from a file may hold half a surrogate pair, which no screen or pipe takes.
        super().__init__(said.encode("utf-8", "backslashreplace").decode("utf-8"))


@dataclass(frozen=True)
class About:
    """What a checkpoint says of itself beside its sizes."""

    title: str
    recipe: str
    tokenizer: str
    examples: tuple[str, ...] = ()
    opens_at: tuple[str, int, int] = ("cross", 0, 0)
    """The kind, layer and head that are shown first."""


class Config(Protocol):
    """What is asked of any model's configuration; a ModelConfig says more."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def max_len(self) -> int:
        """The longest source and the longest target, in tokens."""

    @property
    def pad_id(self) -> int: ...
    @property
    def eos_id(self) -> int | None: ...

    def to_dict(self) -> dict[str, Any]:
        """JSON values, for people to read."""


@dataclass(frozen=True)
class Description:
    """What is known of a checkpoint before its weights are read."""

    about: About
    config: Config
    family: Family


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model ready to run, with its tokenizer. Shared between sessions: never changed."""

    path: Path
    about: About
    config: Config
    family: Family
    model: nn.Module
    tokenizer: Tokenizer
    device: torch.device

    @property
    def name(self) -> str:
        return self.path.name


def load_checkpoint(
    path: str | Path, device: str | None = None, weights: str | None = None
) -> Checkpoint:
    """Open a checkpoint of any format: a folder of ours, of Hugging Face's, a file of weights.

    device: where to run; None chooses CUDA, else MPS, else CPU. weights: another weights file of
    the folder, such as "snapshots/000100.safetensors". Raises CheckpointError, or DeviceError for
    a device that is not here.
    """
    path, chosen = Path(path).absolute(), choose_device(device)  # so that "." has a name too
    path = path / weights if weights else path
    return format_of(path).load(path, chosen)


def describe_checkpoint(path: Path) -> Description:
    """What is known of it before its weights are read. Raises CheckpointError."""
    return format_of(path).describe(path)


def format_of(path: Path) -> "Format":
    """The format that a path is in. Raises CheckpointError where it is none that is known."""
    formats: dict[str, Format] = discover("transformer.formats", "FORMAT")
    fitting = (each for each in formats.values() if each.fits(path))
    found = next(fitting, None)
    if found is None:
        known = "; ".join(each.title for each in formats.values())
        what = "is no checkpoint" if path.exists() else "is not there"
        raise CheckpointError(f"{path.name} {what}. What opens: {known}.")
    return found


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


def _is_history_row(row: Any) -> bool:
    """Numbers by name; a loss may be NaN where a run went astray, a step may not."""
    if not isinstance(row, dict) or not isinstance(row.get("step"), int):
        return False
    return all(isinstance(value, int | float) for value in row.values())
