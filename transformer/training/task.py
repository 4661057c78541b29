"""A recipe, the numbers that it trains by, and what it has to prepare before training starts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from transformer.checkpoint import About, Checkpoint
from transformer.config import ModelConfig
from transformer.files.regular_file import read_regular
from transformer.files.weights import Misfit
from transformer.refusal import Refusal
from transformer.tokenizer import Tokenizer
from transformer.training.batches import Batch

# The numbers of a recipe, by which a model is trained.


@dataclass(frozen=True)
class TrainingConfig:
    """Defaults follow AIAYN, section 5, except where a field says otherwise."""

    steps: int
    tokens_per_batch: int
    """Source and target positions together."""
    learning_rate: float
    """The highest that the schedule reaches."""
    warmup_steps: int
    decay_fraction: float = 0.5
    """The last part of the steps, in which the rate falls linearly to zero."""
    label_smoothing: float = 0.1
    loss_pieces: int = 0
    """The pieces of the vocabulary that judge a step, beside its own; 0: all do. Of an
    encoder-decoder whose embedding also makes the logits."""
    gradient_clip: float = 1.0
    weight_decay: float = 0.01
    average_decay: float = 0.999
    """The decay of the exponential moving average of the weights, which is what is shipped."""
    validate_every: int = 1000
    snapshots: int = 0
    """The number of copies of the averaged weights to keep, log-spaced from step 0 to the last."""
    seed: int = 1

    def seed_of(self, epoch: int) -> int:
        """Return the seed of an epoch's order; no two epochs of any two seeds share it."""
        return self.seed * 1_000_003 + epoch


# A recipe, and what it has to prepare before training starts.

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


# The schedule: the learning rate and the steps at which snapshots are kept.


def rate(step: int, steps: int, warmup_steps: int, decay_fraction: float) -> float:
    """The factor on the learning rate at a step: up, level, and down to zero.

    Unlike AIAYN's inverse square root (section 5.3) it ends at zero, which is worth about as much
    as doubling the steps of a short run, and its level part lets `steps` be changed on resuming.
    """
    decay_steps = max(1, round(steps * decay_fraction))
    return min(1.0, (step + 1) / max(1, warmup_steps), max(0, steps - step) / decay_steps)


def inverse_square_root(step: int, d_model: int, warmup_steps: int) -> float:
    """AIAYN's learning rate at a step, counted from 1 (section 5.3, equation 3).

    d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5): it grows linearly over warmup_steps,
    then falls with the inverse square root of the step. Its peak, where both are equal, is
    (d_model * warmup_steps)^-0.5 at step warmup_steps.

    >>> f"{inverse_square_root(4000, d_model=512, warmup_steps=4000):.6f}"
    '0.000699'
    """
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def snapshot_steps(steps: int, n: int, first: int = 20) -> list[int]:
    """At most n log-spaced steps: 0, first, ..., steps; fewer where a run is too short for n."""
    if n < 2:
        return []
    first = min(first, steps)
    ratio = (steps / first) ** (1 / max(1, n - 2))
    spaced = [round(first * ratio**i) for i in range(n - 2)]
    return sorted({0, *spaced, steps})


# Label smoothing (AIAYN, section 5.4), written out as a divergence between two distributions.
#
# The loop trains with `torch.nn.functional.cross_entropy(..., label_smoothing=epsilon)`; this is
# the same number taken apart: cross-entropy = KL(smoothed target || prediction) + entropy of the
# target.


def smoothed_target(target: int, vocab_size: int, epsilon: float) -> Tensor:
    """Return what the prediction is compared with: [V] in float64, sums to 1.

    PyTorch's convention: epsilon is spread over all V pieces, so the target keeps
    1 - epsilon + epsilon / V. (The Annotated Transformer spreads it over the V - 2 pieces that are
    neither the target nor padding.)
    """
    smoothed = torch.full((vocab_size,), epsilon / vocab_size, dtype=torch.float64)
    smoothed[target] += 1 - epsilon
    return smoothed


def entropy(probs: Tensor) -> Tensor:
    """-sum p ln p in nats: [..., V] -> [...]. The least that a cross-entropy with p can be."""
    return torch.special.entr(probs).sum(-1)


def cross_entropy(probs: Tensor, log_probs: Tensor) -> Tensor:
    """-sum p ln q in nats: p [..., V] and ln q [..., V] -> [...]."""
    return -_weighted(probs, log_probs).sum(-1)


def divergence(probs: Tensor, log_probs: Tensor) -> Tensor:
    """KL(p || q) = sum p (ln p - ln q) in nats: p [..., V] and ln q [..., V] -> [...]."""
    return _weighted(probs, probs.log() - log_probs).sum(-1)


def _weighted(probs: Tensor, values: Tensor) -> Tensor:
    """p * value, and 0 where p is 0 however infinite the value."""
    return torch.where(probs > 0, probs * values, 0.0)
