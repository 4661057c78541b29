"""A recipe, and what it has to prepare before training starts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from transformer.checkpoint import About, Checkpoint
from transformer.config import ModelConfig
from transformer.files.regular_file import read_regular
from transformer.files.weights import Misfit
from transformer.refusal import Refusal
from transformer.tokenizer import Tokenizer
from transformer.training.batches import Batch
from transformer.training.config import TrainingConfig

Scores = dict[str, float]
Evaluation = Callable[[Checkpoint, Path | None], Scores]
"""(checkpoint, data folder or None) -> scores by the names that a card gives them."""


class TrainingError(Refusal):
    """A run that cannot start; the message says what to change."""


class Task(Protocol):
    """Data made ready for one model."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def batches(self, epoch: int) -> Iterator[Batch]:
        """One epoch, in an order that only the epoch's number decides."""

    def validation(self) -> list[Batch]:
        """Held-out batches for the validation loss."""

    def sample_scores(self, checkpoint: Checkpoint) -> Scores:
        """Quick scores of decoding on a held-out sample, for the log."""


@dataclass(frozen=True)
class Recipe:
    """One named run: the model, the numbers, the data, and how its result is judged."""

    name: str
    about: About
    model: ModelConfig
    training: TrainingConfig
    prepare: Callable[["Recipe", Path | None, Path], Task]
    """(recipe, data folder or None, work folder for a tokenizer) -> task."""
    evaluate: Evaluation
    """All the scores that the card states."""
    scored: str
    """One sentence: how the scores are computed."""
    data: str
    """Markdown: where the data is from and its licence."""
    parts: Mapping[str, Evaluation] = field(default_factory=dict)
    """Parts of `evaluate` that can be asked for by name, where it has such parts."""


LARGEST, LARGEST_CARD = 2**32, 2**20
"""Bytes that are read of a file of data, and of a card."""


def read_text(data: Path | None, name: str, most: int = LARGEST) -> str:
    """`text_in` a file of the data folder. Raises TrainingError."""
    if data is None:
        raise TrainingError(f"this recipe needs --data DIR, a folder with {name}.")
    if not (data / name).exists():
        raise TrainingError(f"{data / name} is missing: --data must name the folder that holds it.")
    return text_in(data / name, most)


def read_lines(data: Path | None, name: str) -> list[str]:
    """`lines_in` a file of the data folder. Raises TrainingError."""
    return _lines(read_text(data, name))


def text_in(file: Path, most: int = LARGEST) -> str:
    """A file in UTF-8, without the mark (BOM) that some editors begin it with.

    most: bytes that are read. Raises TrainingError.
    """
    try:
        text = read_regular(file, most).decode("utf-8-sig")
        return text.replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        byte = f"byte {error.start + 1:,d} is 0x{error.object[error.start]:02x}"
        raise TrainingError(f"{file} is not UTF-8 ({byte}): save it in that encoding.") from error
    except Misfit as error:
        raise TrainingError(f"{file} {error}.") from error


def lines_in(file: Path) -> list[str]:
    """The lines of such a file, without their ends. Raises TrainingError."""
    return _lines(text_in(file))


def _lines(text: str) -> list[str]:
    # Not splitlines(), which would also split at the rarer separators within a sentence.
    return text.removesuffix("\n").split("\n")
