"""Texts with a label, from TSV: what a classifier learns, and how often it is right."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece
import torch

from transformer.checkpoint import Checkpoint
from transformer.tokenizer import SentencePieceTokenizer, Tokenizer, TokenizerError
from transformer.training.batches import Batch, grouped, pad
from transformer.training.task import Recipe, Scores, TrainingError, read_lines

TRAIN, VALID, TEST = "train.tsv", "valid.tsv", "test.tsv"
SAMPLING = 0.3
"""Pieces of training texts are drawn anew each epoch (Kudo 2018), with this inverse temperature."""
DROPPED = 0.2
"""The share of tokens that a training text loses, others each epoch."""


@dataclass(frozen=True)
class Labelled:
    """One text and its class, by number."""

    label: int
    text: str


def read_labelled(data: Path | None, name: str, n_classes: int) -> list[Labelled]:
    """Rows of a TSV: class number, text. Raises TrainingError."""
    rows = []
    for i, line in enumerate(read_lines(data, name), 1):
        label, tab, text = line.partition("\t")
        if not (tab and text.strip() and label in map(str, range(n_classes))):
            raise TrainingError(
                f"{name}, line {i}: a class from 0 to {n_classes - 1}, a tab and a text are needed."
            )
        rows.append(Labelled(int(label), text))
    return rows


def prepare(recipe: Recipe, data: Path | None, work: Path) -> "Classification":
    """Learn the vocabulary where there is none yet."""
    train, valid = (read_labelled(data, n, len(recipe.model.classes)) for n in (TRAIN, VALID))
    try:
        tokenizer = SentencePieceTokenizer.trained_in(
            work, (row.text for row in train), recipe.model.vocab_size, folds_case=True
        )
    except TokenizerError as error:
        raise TrainingError(f"{TRAIN}: {error}") from error
    return Classification(recipe, tokenizer, train, valid)


class Classification:
    """Labelled texts; those for training are split and thinned differently each epoch."""

    def __init__(
        self,
        recipe: Recipe,
        tokenizer: SentencePieceTokenizer,
        train: Sequence[Labelled],
        valid: Sequence[Labelled],
    ) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer
        self.train, self.valid = train, valid

    def batches(self, epoch: int) -> Iterator[Batch]:
        seed = self.recipe.training.seed_of(epoch)
        rng = random.Random(seed)
        sentencepiece.set_random_generator_seed(seed)
        rows = [self._thinned(row.text, rng) for row in self.train]
        return self._grouped(rows, [row.label for row in self.train], seed)

    def _thinned(self, text: str, rng: random.Random) -> list[int]:
        ids = self.tokenizer.sample(text, SAMPLING)
        rest = [id for id in ids if rng.random() >= DROPPED] or ids
        return rest[: self.recipe.model.max_len]

    def validation(self) -> list[Batch]:
        max_len = self.recipe.model.max_len
        rows = [_cut(self.tokenizer, row.text, max_len) for row in self.valid]
        return list(self._grouped(rows, [row.label for row in self.valid], 0))

    def _grouped(
        self, rows: Sequence[Sequence[int]], labels: Sequence[int], seed: int
    ) -> Iterator[Batch]:
        training, pad_id = self.recipe.training, self.recipe.model.pad_id
        for group in grouped([(len(row),) for row in rows], training.tokens_per_batch, seed):
            inputs = pad([rows[i] for i in group], pad_id)
            yield Batch((inputs,), torch.tensor([labels[i] for i in group]))

    def sample_scores(self, checkpoint: Checkpoint) -> Scores:
        return {"accuracy": accuracy(checkpoint, self.valid)}


@torch.inference_mode()
def accuracy(checkpoint: Checkpoint, rows: Sequence[Labelled]) -> float:
    """The percentage of texts whose most probable class is theirs."""
    config = checkpoint.config
    ids = [_cut(checkpoint.tokenizer, row.text, config.max_len) for row in rows]
    right = 0
    for group in grouped([(len(row),) for row in ids], 4000, 0):
        inputs = pad([ids[i] for i in group], config.pad_id).to(checkpoint.device)
        classes = checkpoint.model(inputs).argmax(-1).tolist()
        right += sum(label == rows[i].label for i, label in zip(group, classes, strict=True))
    return 100 * right / len(rows)


def _cut(tokenizer: Tokenizer, text: str, max_len: int) -> list[int]:
    return tokenizer.encode(text, "text")[:max_len]


def evaluate(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Accuracy on the validation and the test split, in per cent."""
    config: Any = checkpoint.config
    n_classes = len(config.classes)
    return {
        f"{title}, accuracy, %": accuracy(checkpoint, read_labelled(data, name, n_classes))
        for title, name in (("validation", VALID), ("test", TEST))
    }
