"""A trained model, opened: what it is made of and what its folder says. Data, and nothing else.

`transformer/formats/` opens and saves them: one way of keeping models per file.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from torch import nn

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.models.family import Family
from transformer.refusal import Refusal, quoted
from transformer.tokenizer import Tokenizer

CONFIG, WEIGHTS, CARD, HISTORY, SNAPSHOTS = (
    "config.json",
    "model.safetensors",
    "card.md",
    "history.json",
    "snapshots",
)

LEFT_OUT = "left-out.txt"
"""The file in the place of what an installed package lacks: snapshots, and whole checkpoints."""

FOLDER = "HEADSCOPE_CHECKPOINTS"
"""The setting of `checkpoints_folder`."""


def checkpoints_folder() -> Path:
    """HEADSCOPE_CHECKPOINTS: the folder of checkpoint folders; `checkpoints` beside app.py."""
    return Path(os.environ.get(FOLDER) or Path(__file__).parents[1] / "checkpoints")


def shipped_path(name: str) -> Path:
    """The folder of a shipped checkpoint; a path as it is."""
    return checkpoints_folder() / name


def allowed_folders() -> tuple[Path, ...] | None:
    """HEADSCOPE_FOLDERS: folders whose checkpoints may be opened by path, as in PATH.

    None where it is not set: then any folder may on one's own machine, and none on a server. Each
    as it is written, and as its links lead.
    """
    text = os.environ.get("HEADSCOPE_FOLDERS")
    if text is None:
        return None
    folders = [Path(part).expanduser().absolute() for part in text.split(os.pathsep) if part]
    return tuple(dict.fromkeys((*folders, *(folder.resolve() for folder in folders))))


def is_allowed(path: Path) -> bool:
    """Tell whether a path lies in `allowed_folders`, wherever its links lead."""
    folders = allowed_folders()
    if folders is None:
        return True
    try:
        whole = path.resolve()
    except (OSError, RuntimeError):  # a circle of links
        return False
    return any(whole.is_relative_to(folder) for folder in folders)


class CheckpointError(Refusal):
    """A folder that cannot be opened; the message names the file and what is wrong with it."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class About:
    """The words of a checkpoint about itself, beside its sizes."""

    title: str
    recipe: str
    """The name of the training or the mapping that it came of; of others what they are."""
    tokenizer: str
    """The kind of its tokenizer in a few words, such as "characters"."""
    examples: tuple[str, ...] = ()
    """Texts to begin with."""
    opens_at: tuple[str, int, int] = ("cross", 0, 0)
    """The kind, layer and head that are shown first."""
    notes: tuple[str, ...] = ()
    """A sentence for each thing in its folder that does not take part here, or is another than its
    files say."""
    decoding: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The name of a decoding method -> options of it, by name, and the checkpoint's own defaults
    for them: see `checked_defaults`."""
    special: Literal["shown", "hidden", "renormalised"] = "shown"
    """Special tokens in the picture of that first head; others are shown with theirs."""
    earlier: tuple[str, ...] = ()
    """The fingerprints of the same weights before these words changed: links go on to mean it."""


class Config(Protocol):
    """The least that any model's configuration says; a ModelConfig says more."""

    @property
    def vocab_size(self) -> int: ...
    @property
    def max_len(self) -> int:
        """The longest source and the longest target, in tokens."""

    @property
    def pad_id(self) -> int: ...
    @property
    def eos_id(self) -> int | None:
        """The token that ends a text."""

    @property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end a text that is written: often that one alone; none: nothing does."""

    def to_dict(self) -> dict[str, Any]:
        """JSON values, for people to read."""


@dataclass(frozen=True)
class Description:
    """The facts of a checkpoint that are known before its weights are read."""

    about: About
    config: Config
    family: Family


@fields_in_help
@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model ready to run, with its tokenizer. Shared between sessions: never changed."""

    path: Path
    """The folder or file that it was opened from; its name is the checkpoint's."""
    about: About
    """Words of the checkpoint about itself."""
    config: Config
    """Sizes and special tokens, as its family builds a model of them."""
    family: Family
    """The kind of model: where its attentions are, what it reads and writes."""
    model: nn.Module
    """The module that runs, with its weights."""
    tokenizer: Tokenizer
    """Turns texts into token ids, and ids into tokens and texts."""
    device: torch.device
    """The place of its weights."""

    def __repr__(self) -> str:
        return f"Checkpoint({self.name!r}, {self.about.title!r}, on {self.device})"

    @property
    def name(self) -> str:
        return self.path.name


def check_open(checkpoint: object) -> None:
    """Raise CheckpointError for a path, a name or a bare module where a checkpoint is wanted."""
    if isinstance(checkpoint, Checkpoint):
        return
    if isinstance(checkpoint, str | Path):
        raise CheckpointError(
            f"{quoted(str(checkpoint))} is a name, and an open checkpoint is needed: "
            f"load_checkpoint({quoted(str(checkpoint))}) gives it."
        )
    kind = checkpoint if isinstance(checkpoint, type) else type(checkpoint)
    raise CheckpointError(
        f"{kind.__name__} is not a checkpoint: load_checkpoint opens a folder, and "
        "from_module makes one of a torch module."
    )
