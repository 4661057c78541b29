"""Translation from several kinds of pairs, each with a share of every epoch that may change."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import sentencepiece

from transformer.tokenizer import SentencePieceTokenizer, TokenizerError
from transformer.training.batches import Batch, Pair
from transformer.training.data_folder import find, need
from transformer.training.evaluation.long import LONG
from transformer.training.evaluation.stage import SECOND, stage_pairs
from transformer.training.recipes.en_de_data.deck import Deck
from transformer.training.recipes.en_de_data.dictionary import counted, sorted_out
from transformer.training.recipes.en_de_data.long_pairs import SOURCES, files, joined, neighbours
from transformer.training.recipes.en_de_data.noise import Row, noisy
from transformer.training.recipes.en_de_data.patterns import NOUNS, PATTERNS, Patterns, nouns
from transformer.training.recipes.en_de_data.substitution import Substitutions, frames, rare, words
from transformer.training.task import Recipe, TrainingError
from transformer.training.translation import (
    PAIRS,
    TRAIN,
    VALID,
    Translation,
    held_out,
    key,
    read_pairs,
)

DICTIONARY, NEWS = "dictionary_en_de", "newstest_en_de"
EXAMPLES, WORDS = "sentences.tsv", "words_and_phrases.tsv"
TEST_YEAR = 2014
NEWS_SETS = (
    "news-test2008",
    "newssyscomb2009",
    *(f"newstest{year}" for year in range(2009, 2021) if year != TEST_YEAR),
)
TALK = Path(__file__).with_name("talk.tsv")
WORLD = Path(__file__).with_name("world.tsv")
EPOCH_PAIRS = 30_000
SAMPLED, SAMPLING = 0.3, 0.3
"""The share of sources whose pieces are drawn anew (Kudo 2018), with this inverse temperature."""
MAX_PIECES = 120
"""Longer pairs are left out: they cost much and nobody types them."""
TEXTS = ("sentences", "examples", "news", "general", "parliament", "narrative")
"""Kinds whose words are those that people are likely to type."""
VOCABULARY_EVERY = {"words": 4, "bible": 3, "technical": 3}
"""The vocabulary sees every so many-th pair of these kinds, so that the others outweigh."""


@dataclass(frozen=True)
class Shares:
    """The shares of the kinds in an epoch's pairs: at the start of a run and at its end."""

    words: tuple[float, float] = (0.16, 0.08)
    rare: tuple[float, float] = (0.03, 0.00)
    """The rest of the dictionary: phrases, and words that no sentence has."""
    substituted: tuple[float, float] = (0.26, 0.20)
    """Sentences with a rare noun or verb in place of theirs."""
    sentences: tuple[float, float] = (0.30, 0.48)
    joined: tuple[float, float] = (0.05, 0.08)
    examples: tuple[float, float] = (0.06, 0.06)
    news: tuple[float, float] = (0.04, 0.05)
    talk: tuple[float, float] = (0.02, 0.02)
    """Sentences about attention, talks and the world, written for this project."""
    world: tuple[float, float] = (0.10, 0.12)
    """Sentences about everything else that people type, written for this project."""
    patterns: tuple[float, float] = (0.10, 0.08)
    """Sentences with gaps that everyday nouns fill, written for this project."""
    general: tuple[float, float] = (0.00, 0.00)
    """Long sentences: later news, an encyclopaedia, advice. See `long_pairs` for these six."""
    parliament: tuple[float, float] = (0.00, 0.00)
    narrative: tuple[float, float] = (0.00, 0.00)
    bible: tuple[float, float] = (0.00, 0.00)
    technical: tuple[float, float] = (0.00, 0.00)
    neighbours: tuple[float, float] = (0.00, 0.00)
    """Two or three lines that follow each other in a text."""

    def at(self, progress: float) -> dict[str, int]:
        """Pairs per epoch by kind, if it ever has some. progress: 0 at the start, 1 at the end."""
        done = min(1.0, progress)
        return {
            kind: round(EPOCH_PAIRS * (first + (last - first) * done))
            for kind, (first, last) in vars(self).items()
            if first or last
        }


def prepare(
    recipe: Recipe, data: Path | None, work: Path, shares: Shares, splits_digits: bool = False
) -> "Mixture":
    """Read every kind but what is held out, learn the vocabulary where there is none."""
    test = find(data, NEWS, f"newstest{TEST_YEAR}.tsv")
    stage = [*stage_pairs(), *stage_pairs(SECOND)]
    long = find(data, *LONG)
    tests = [*stage, *(row for file in (test, long) if file for row in read_pairs(file))]
    unseen = held_out(data) | {key(row[0]) for row in tests}
    kinds = {
        kind: [row for path in paths for row in _read(kind, path, unseen)]
        for kind, paths in _files(data, shares).items()
    }
    texts = [row for kind in TEXTS for row in kinds.get(kind, ())]
    some = [row for kind, n in VOCABULARY_EVERY.items() for row in kinds.get(kind, ())[::n]]
    seen = (text for row in [*texts, *some] for text in row)
    try:
        tokenizer = SentencePieceTokenizer.trained_in(
            work, seen, recipe.model.vocab_size, splits_digits=splits_digits
        )
    except TokenizerError as error:
        raise TrainingError(f"{TRAIN} and the dictionary: {error}") from error
    english, german = (counted(row[side] for row in texts) for side in (0, 1))
    vocabulary = words(kinds["words"], texts)
    kinds["words"], kinds["rare"] = sorted_out(kinds["words"], english, german)
    everyday = nouns(NOUNS)
    everyday_words = [word for noun in everyday for word in noun.words]
    substitutions = Substitutions(
        [*rare(vocabulary, texts), *everyday_words],
        frames([*kinds["sentences"], *kinds["examples"]], vocabulary),
    )
    for kind, rows in {**kinds, "substituted": substitutions.words}.items():
        if not rows:
            raise TrainingError(f"None of the rows of the kind {kind!r} is left to train on.")
    valid = read_pairs(need(data, PAIRS, VALID))
    patterns = Patterns(PATTERNS, everyday, lambda row: key(row[0]) not in unseen)
    return Mixture(recipe, tokenizer, kinds, substitutions, patterns, valid, shares)


def _read(kind: str, path: Path, unseen: set[str]) -> list[Row]:
    """The pairs of a file but those whose source is held out."""
    rows = [(row[0], row[1]) for row in read_pairs(path) if key(row[0]) not in unseen]
    return neighbours(rows) if kind == "neighbours" else rows


def _files(data: Path | None, shares: Shares) -> dict[str, list[Path]]:
    """The files of each kind. Raises MissingData, which names the first that is not there."""
    return {
        "sentences": [need(data, PAIRS, TRAIN)],
        "examples": [need(data, DICTIONARY, EXAMPLES)],
        "words": [need(data, DICTIONARY, WORDS)],
        "news": [need(data, NEWS, f"{name}.tsv") for name in NEWS_SETS],
        "talk": [TALK],
        "world": [WORLD],
        **{kind: files(data, kind) for kind in (*SOURCES, "neighbours") if kind in shares.at(0)},
    }


class Mixture(Translation):
    """Pairs of all kinds, drawn, changed and split anew each epoch."""

    def __init__(
        self,
        recipe: Recipe,
        tokenizer: SentencePieceTokenizer,
        kinds: dict[str, list[Row]],
        substitutions: Substitutions,
        patterns: Patterns,
        valid: Sequence[Sequence[str]],
        shares: Shares,
    ) -> None:
        super().__init__(recipe, tokenizer, kinds["sentences"][:1], valid)
        whole = [row for row in kinds["sentences"] if row[0][-1:] in ".!?" and row[1][-1:] in ".!?"]
        decks = kinds | {"joined": whole}
        self.decks: dict[str, Deck[Row] | Substitutions | Patterns] = {
            kind: Deck(rows, i) for i, (kind, rows) in enumerate(decks.items())
        }
        self.decks |= {"substituted": substitutions, "patterns": patterns}
        self.shares = shares
        self.n_epochs = max(1, round(recipe.training.steps / self._batches_per_epoch()))

    def _batches_per_epoch(self) -> float:
        """About how many batches the rows of an epoch in the middle of the run make."""
        rows = list(islice(self._rows(0, 0.5), 2000))
        n_tokens = sum(len(side) for row in rows for side in self._pair(row))
        return EPOCH_PAIRS / len(rows) * n_tokens / self.recipe.training.tokens_per_batch

    def batches(self, epoch: int) -> Iterator[Batch]:
        seed = self.recipe.training.seed_of(epoch)
        rng = random.Random(seed)
        sentencepiece.set_random_generator_seed(seed)
        rows = self._rows(epoch, epoch / self.n_epochs)
        pairs = (self._drawn(noisy(row, rng), rng) for row in rows)
        return self._bucketed([pair for pair in pairs if max(map(len, pair)) <= MAX_PIECES], epoch)

    def _rows(self, epoch: int, progress: float) -> Iterator[Row]:
        """The pairs of an epoch, kinds mixed."""
        dealt = []
        for kind, n in self.shares.at(progress).items():
            before = sum(self.shares.at(e / self.n_epochs)[kind] for e in range(epoch))
            if kind == "joined":
                deal = self.decks[kind].deal(3 * before)
                dealt += [joined(tuple(islice(deal, 2 + i % 2))) for i in range(n)]
            else:
                dealt += islice(self.decks[kind].deal(before), n)
        random.Random(epoch).shuffle(dealt)
        return iter(dealt)

    def _drawn(self, row: Row, rng: random.Random) -> Pair:
        """Some sources are split into rarer pieces than the best ones."""
        source, target = self._pair(row)
        if rng.random() < SAMPLED:
            source = [*self.tokenizer.sample(row[0], SAMPLING), source[-1]]
        return source, target
