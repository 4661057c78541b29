"""Text for generators: character windows of one long text, or single sentences in pieces."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from tqdm import tqdm

from transformer.checkpoint import Checkpoint
from transformer.tokenizer import (
    CharacterTokenizer,
    SentencePieceTokenizer,
    Tokenizer,
    TokenizerError,
)
from transformer.training.batches import IGNORED, Batch, grouped, pad
from transformer.training.task import Recipe, Scores, TrainingError, read_lines, read_text

LONG_TEXT = "input.txt"
TRAIN, VALID = "train.txt", "valid.txt"
HELD_OUT = 0.1
"""The last part of a long text, which is validated on and never trained on."""
N_VALIDATION = 40
"""Batches of the validation loss while training."""


def text_batch(rows: Sequence[Sequence[int]], pad_id: int) -> Batch:
    """Each row reads all its tokens but the last and predicts all but the first."""
    read = pad([row[:-1] for row in rows], pad_id)
    return Batch((read,), pad([row[1:] for row in rows], IGNORED))


class Windows:
    """A long text in characters; every batch is drawn from random places of its first part."""

    def __init__(self, recipe: Recipe, text: str) -> None:
        self.recipe = recipe
        self.tokenizer = CharacterTokenizer.train(text)
        if self.tokenizer.vocab_size != recipe.model.vocab_size:
            raise TrainingError(
                f"the text has {self.tokenizer.vocab_size - 1} different characters; the recipe "
                f"{recipe.name} expects {recipe.model.vocab_size - 1}: another text?"
            )
        self.train, self.valid = split(torch.tensor(self.tokenizer.encode(text)))
        _require_window(self.valid, recipe.model.max_len)

    def batches(self, epoch: int) -> Iterator[Batch]:
        """Yield as many random windows as cover the text about once."""
        length = self.recipe.model.max_len
        random = torch.Generator().manual_seed(self.recipe.training.seed_of(epoch))
        n = max(1, self.recipe.training.tokens_per_batch // length)
        for _ in range(max(1, len(self.train) // (n * length))):
            starts = torch.randint(len(self.train) - length, (n,), generator=random)
            yield _windows(self.train, starts, length)

    def validation(self) -> list[Batch]:
        return _in_order(self.valid, self.recipe.model.max_len)[:N_VALIDATION]

    def sample_scores(self, checkpoint: Checkpoint) -> Scores:
        return {}


def split(ids: Tensor) -> tuple[Tensor, Tensor]:
    """The part that is trained on, and the last tenth."""
    cut = round(len(ids) * (1 - HELD_OUT))
    return ids[:cut], ids[cut:]


def _require_window(held_out: Tensor, length: int) -> None:
    if len(held_out) <= length:
        raise TrainingError(
            f"{LONG_TEXT} is too short: its last tenth has {len(held_out)} characters, "
            f"and more than {length} are needed."
        )


def _windows(ids: Tensor, starts: Tensor, length: int) -> Batch:
    rows = torch.stack([ids[start : start + length + 1] for start in starts.tolist()])
    return Batch((rows[:, :-1],), rows[:, 1:])


def _in_order(ids: Tensor, length: int) -> list[Batch]:
    """One window after the other; what is left at the end, less than a window, is left out."""
    starts = torch.arange(0, len(ids) - length, length)
    return [_windows(ids, some, length) for some in starts.split(16)]


class Sentences:
    """Single sentences in pieces, each begun with the start token and ended with the end token."""

    def __init__(
        self, recipe: Recipe, tokenizer: Tokenizer, train: Sequence[str], valid: Sequence[str]
    ) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer
        self.train, self.valid = ([*map(self._ids, part)] for part in (train, valid))

    def _ids(self, text: str) -> list[int]:
        ids = sentence_ids(self.tokenizer, self.recipe.model.bos_id, text)
        return ids[: self.recipe.model.max_len + 1]

    def batches(self, epoch: int) -> Iterator[Batch]:
        seed = self.recipe.training.seed_of(epoch)
        yield from self._grouped(self.train, seed)

    def validation(self) -> list[Batch]:
        return list(self._grouped(self.valid, 0))[:N_VALIDATION]

    def sample_scores(self, checkpoint: Checkpoint) -> Scores:
        return {}

    def _grouped(self, rows: Sequence[Sequence[int]], seed: int) -> Iterator[Batch]:
        training, pad_id = self.recipe.training, self.recipe.model.pad_id
        for group in grouped([(len(row),) for row in rows], training.tokens_per_batch, seed):
            yield text_batch([rows[i] for i in group], pad_id)


def sentence_ids(tokenizer: Tokenizer, bos_id: int, text: str) -> list[int]:
    """Start token, pieces, end token."""
    return [bos_id, *tokenizer.encode(text, "continuation")]


def _lines(data: Path | None, name: str) -> list[str]:
    """One sentence per line, at least one. Raises TrainingError."""
    lines = [line for line in read_lines(data, name) if line]
    if not lines:
        raise TrainingError(f"{name} holds no sentence.")
    return lines


def prepare_windows(recipe: Recipe, data: Path | None, work: Path) -> Windows:
    """A long text, its alphabet made of what stands in it."""
    try:
        return Windows(recipe, read_text(data, LONG_TEXT))
    except TokenizerError as error:
        raise TrainingError(str(error)) from error


def prepare_sentences(recipe: Recipe, data: Path | None, work: Path) -> Sentences:
    """One sentence per line; the vocabulary is learnt if there is none yet."""
    train, valid = (_lines(data, name) for name in (TRAIN, VALID))
    held_out = set(valid)
    train = [line for line in train if line not in held_out]
    try:
        tokenizer = SentencePieceTokenizer.trained_in(work, train, recipe.model.vocab_size)
    except TokenizerError as error:
        raise TrainingError(str(error)) from error
    return Sentences(recipe, tokenizer, train, valid)


def evaluate_windows(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Nats per character over the whole windows of the last tenth, each read from nothing."""
    text = read_text(data, LONG_TEXT)
    try:
        _, held_out = split(torch.tensor(checkpoint.tokenizer.encode(text)))
    except TokenizerError as error:
        raise TrainingError(f"{LONG_TEXT}: {error}") from error
    length = checkpoint.config.max_len
    _require_window(held_out, length)
    total, n = _nats(checkpoint, _in_order(held_out, length))
    return {
        "last tenth, nats per character": total / n,
        "last tenth, bits per character": total / n / math.log(2),
    }


def evaluate_sentences(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Perplexity of held-out sentences, per piece, the end token included, and per character."""
    config: Any = checkpoint.config
    lines = _lines(data, VALID)
    whole = [sentence_ids(checkpoint.tokenizer, config.bos_id, line) for line in lines]
    rows = [ids[: config.max_len + 1] for ids in whole]
    n_characters = sum(  # the end counts as one; of a text that is cut only what is read
        len(line) + 1 if row == ids else len(checkpoint.tokenizer.decode(row))
        for line, ids, row in zip(lines, whole, rows, strict=True)
    )
    groups = grouped([(len(row),) for row in rows], 2000, 0)
    batches = [text_batch([rows[i] for i in group], config.pad_id) for group in groups]
    total, n = _nats(checkpoint, batches)
    return {
        "held-out sentences, perplexity per piece": math.exp(total / n),
        "held-out sentences, perplexity per character": math.exp(total / n_characters),
        "held-out sentences, bits per character": total / n_characters / math.log(2),
    }


@torch.inference_mode()
def _nats(checkpoint: Checkpoint, batches: Sequence[Batch]) -> tuple[float, int]:
    """Sum of -log p over all targets, in nats, and how many there are."""
    total, n = 0.0, 0
    for batch in tqdm(batches, unit="batch", dynamic_ncols=True):
        here = batch.to(checkpoint.device)
        logits = checkpoint.model(*here.inputs).flatten(0, -2).float()
        targets = here.target_output.flatten()
        total += float(F.cross_entropy(logits, targets, ignore_index=IGNORED, reduction="sum"))
        n += batch.n_targets
    return total, n
