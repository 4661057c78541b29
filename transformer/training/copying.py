"""The copy task: a sequence of numbers in, the same out (The Annotated Transformer)."""

import random
from collections.abc import Iterator
from pathlib import Path

from transformer.checkpoint import Checkpoint
from transformer.decoding import decode
from transformer.tokenizer import NumberTokenizer
from transformer.training.batches import Batch, Pair, make_batch
from transformer.training.task import Recipe, Scores

FIRST_NUMBER = 2
"""0 is padding, 1 the start."""
N_TEST = 1000
TEST_SEED, VALID_SEED = 10**9, 10**9 + 1


def prepare(recipe: Recipe, data: Path | None, work: Path) -> "Copying":
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


def evaluate(checkpoint: Checkpoint, data: Path | None) -> Scores:
    """Exact copies of sequences that training left out, in per cent."""
    score = exact_copies(checkpoint, N_TEST, TEST_SEED)
    return {f"exact copies of {N_TEST} unseen sequences, %": score}
