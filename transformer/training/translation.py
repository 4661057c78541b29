"""Translation from TSV pairs: the data, and quick scores on the way."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer.checkpoint import Checkpoint
from transformer.tokenizer import SentencePieceTokenizer, TokenizerError
from transformer.training.batches import Batch, Pair, bucketed
from transformer.training.evaluation.translations import closeness, translations
from transformer.training.task import Recipe, Scores, TrainingError, read_lines

# The places of the data's files: in a subfolder of their own, or in the data folder itself.


class MissingData(TrainingError):
    """A file that is not there; the message names it."""


def find(data: Path | None, room: str, name: str) -> Path | None:
    """data/room/name, else data/name; None where neither is a file or there is no data folder."""
    if data is None:
        return None
    return next((file for file in (data / room / name, data / name) if file.is_file()), None)


def need(data: Path | None, room: str, name: str) -> Path:
    """The same; raises MissingData where there is none."""
    if data is None:
        raise MissingData(f"{name} needs --data DIR, a folder with {room}/{name} or {name}.")
    file = find(data, room, name)
    if file is None:
        raise MissingData(
            f"{data / room / name} is missing: --data must name the folder that holds "
            f"{room}/{name} or {name}."
        )
    return file


# Translation from TSV pairs: the data, and quick scores on the way.

PAIRS = "translation_en_de"
"""The subfolder of the data folder that may hold these files."""
TRAIN, VALID = "train.tatoeba.tsv", "valid.tatoeba.tsv"
TESTS = {"Tatoeba test": "test.tatoeba.tsv", "Multi30k test2016": "test_2016_flickr.multi30k.tsv"}
N_SAMPLE = 150
"""Sentences that are decoded for the log while training."""


def read_pairs(file: Path) -> list[list[str]]:
    """Rows of a TSV: source, target, further references. Raises TrainingError."""
    rows = [line.split("\t") for line in read_lines(file.parent, file.name)]
    wrong = next((i for i, row in enumerate(rows, 1) if len(row) < 2), None)
    if wrong is not None:
        raise TrainingError(f"{file}, line {wrong}: a source, a tab and a target are needed.")
    return rows


def prepare(recipe: Recipe, data: Path | None, work: Path) -> "Translation":
    """Learn the vocabulary where there is none yet, and tokenize everything."""
    file, unseen = need(data, PAIRS, TRAIN), held_out(data)
    rows = [row for row in read_pairs(file) if key(row[0]) not in unseen]
    try:
        texts = (text for row in rows for text in row[:2])
        tokenizer = SentencePieceTokenizer.trained_in(work, texts, recipe.model.vocab_size)
    except TokenizerError as error:
        raise TrainingError(f"{file}: {error}") from error
    return Translation(recipe, tokenizer, rows, read_pairs(need(data, PAIRS, VALID)))


def held_out(data: Path | None) -> set[str]:
    """The keys of the sentences that are validated or tested on, as far as their files are here."""
    files = (find(data, PAIRS, name) for name in (VALID, *TESTS.values()))
    return {key(row[0]) for file in files if file is not None for row in read_pairs(file)}


class Translation:
    """Pairs made ready for training."""

    def __init__(
        self,
        recipe: Recipe,
        tokenizer: SentencePieceTokenizer,
        train: Sequence[Sequence[str]],
        valid: Sequence[Sequence[str]],
    ) -> None:
        self.recipe, self.tokenizer = recipe, tokenizer
        self.train = [pair for pair in map(self._pair, train) if self._fits(pair)]
        self.valid_rows = [row for row in valid if self._fits(self._pair(row))]
        self.valid = [self._pair(row) for row in self.valid_rows]
        if not (self.train and self.valid):
            raise TrainingError("no pairs left to train or to validate on: held out or too long.")

    def _pair(self, row: Sequence[str]) -> Pair:
        return self.tokenizer.encode(row[0]), self.tokenizer.encode(row[1], "target")

    def _fits(self, pair: Pair) -> bool:
        return max(map(len, pair)) <= self.recipe.model.max_len

    def batches(self, epoch: int) -> Iterator[Batch]:
        return self._bucketed(self.train, epoch)

    def validation(self) -> list[Batch]:
        return list(self._bucketed(self.valid, 0))

    def _bucketed(self, pairs: Sequence[Pair], epoch: int) -> Iterator[Batch]:
        training, model = self.recipe.training, self.recipe.model
        seed, size = training.seed_of(epoch), training.tokens_per_batch
        return bucketed(pairs, size, model.pad_id, model.bos_id, seed)

    def sample_scores(self, checkpoint: Checkpoint) -> Scores:
        """BLEU and chrF, greedy, of some of the validation sentences."""
        rows = self.valid_rows[:: max(1, len(self.valid_rows) // N_SAMPLE)]
        outputs = translations(checkpoint, [row[0] for row in rows], "greedy")
        return closeness(outputs, [row[1] for row in rows])


def key(text: str) -> str:
    """Sentences that differ only in case or punctuation count as one."""
    return "".join(c for c in text.lower() if c.isalnum())
