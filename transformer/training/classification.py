"""Texts with a label, and sequences to copy: what a classifier and the copy task learn."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece
import torch

from transformer.checkpoint import Checkpoint
from transformer.decoding import decode
from transformer.tokenizer import NumberTokenizer, SentencePieceTokenizer, Tokenizer, TokenizerError
from transformer.training.batches import Batch, Pair, grouped, make_batch, pad
from transformer.training.task import Recipe, Scores, TrainingError, read_lines

# Texts with a label, from TSV: what a classifier learns, and how often it is right.

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


# The copy task: a sequence of numbers in, the same out (The Annotated Transformer).

FIRST_NUMBER = 2
"""0 is padding, 1 the start."""
N_TEST = 1000
TEST_SEED, VALID_SEED = 10**9, 10**9 + 1


def prepare_copying(recipe: Recipe, data: Path | None, work: Path) -> "Copying":
    """Nothing to read: the data is generated."""
    return Copying(recipe)


class Copying:
    """Random sequences; most as long as the model reads, some shorter."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.tokenizer = NumberTokenizer(recipe.model.vocab_size)

    def batches(self, epoch: int) -> Iterator[Batch]:
        """A hundred batches, each of one length; none holds a test sequence."""
        model, rng = self.recipe.model, random.Random(epoch)
        held_out = set(sequences(N_TEST, model.vocab_size, model.max_len, TEST_SEED))
        for i in range(100):
            length = model.max_len if i % 2 else rng.randint(1, model.max_len)
            n = max(1, self.recipe.training.tokens_per_batch // (2 * length))
            rows = sequences(n, model.vocab_size, length, rng.randrange(10**9))
            yield self._batch([row for row in rows if row not in held_out] or rows)

    def validation(self) -> list[Batch]:
        model = self.recipe.model
        return [self._batch(sequences(200, model.vocab_size, model.max_len, VALID_SEED))]

    def sample_scores(self, checkpoint: Checkpoint) -> Scores:
        return {"exact": exact_copies(checkpoint, 100, VALID_SEED)}

    def _batch(self, rows: list[tuple[int, ...]]) -> Batch:
        pairs: list[Pair] = [(row, row) for row in rows]
        return make_batch(pairs, self.recipe.model.pad_id, self.recipe.model.bos_id)


def sequences(n: int, vocab_size: int, length: int, seed: int) -> list[tuple[int, ...]]:
    """n random sequences of the numbers 2 .. vocab_size-1."""
    rng = random.Random(seed)
    return [tuple(rng.randrange(FIRST_NUMBER, vocab_size) for _ in range(length)) for _ in range(n)]


def exact_copies(checkpoint: Checkpoint, n: int, seed: int) -> float:
    """The percentage of n sequences that greedy decoding copies without a fault."""
    config = checkpoint.config
    right = 0
    for row in sequences(n, config.vocab_size, config.max_len, seed):
        text = " ".join(map(str, row))
        right += decode(checkpoint, text).text == text
    return 100 * right / n


def evaluate_copying(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Exact copies of sequences that training left out, in per cent."""
    score = exact_copies(checkpoint, N_TEST, TEST_SEED)
    return {f"exact copies of {N_TEST} unseen sequences, %": score}
