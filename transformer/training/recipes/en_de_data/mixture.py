"""Translation from several kinds of pairs, each with a share of every epoch that may change."""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import sentencepiece

from transformer.tokenizer import SentencePieceTokenizer, TokenizerError
from transformer.training.batches import Batch, Pair
from transformer.training.evaluation.parts import LONG
from transformer.training.evaluation.stage import SECOND, stage_pairs
from transformer.training.recipes.en_de_data.noise import Row, noisy
from transformer.training.recipes.en_de_data.substitution import (
    GENDERS,
    Deck,
    Substitutions,
    Word,
    article_n,
    counted,
    frames,
    plural_form,
    rare,
    sorted_out,
    words,
)
from transformer.training.task import Recipe, TrainingError
from transformer.training.translation import (
    PAIRS,
    TRAIN,
    VALID,
    Translation,
    find,
    held_out,
    key,
    need,
    read_pairs,
)

# Pairs of long sentences, by kind, and texts of neighbours that follow each other.

ROOM, FILE = "long_en_de", "train.tsv"
SOURCES = {
    "general": ("wmt_news_2021_2023", "xquad", "opensource_guide"),
    "parliament": ("europarl_20k",),
    "narrative": (
        *("african_storybook", "gutenberg", "literature_aligned", "wesnoth", "cataclysm_dda"),
        *("freeciv_freeorion", "widelands"),
    ),
    "bible": ("bible_menge_web",),
    "technical": (
        *("libreoffice_help", "gnome_user_docs", "gimp_help", "debian_docs", "manpages"),
        *("php_docs", "lilypond_docs", "tails_website", "mediawiki_messages"),
    ),
}
"""Kind -> the folders that hold its pairs."""
IN_ORDER = ("gutenberg", "bible_menge_web", "europarl_20k", "literature_aligned")
"""Folders whose lines follow each other as they do in the text."""
MOST_WORDS = 60
"""The most words of a text that is joined of neighbours."""


def files(data: Path | None, kind: str) -> list[Path]:
    """List the files of a kind. Raises MissingData, which names the first that is not there."""
    folders = IN_ORDER if kind == "neighbours" else SOURCES[kind]
    return [need(data, f"{ROOM}/{folder}", FILE) for folder in folders]


def neighbours(rows: Sequence[Row]) -> list[Row]:
    """Two or three lines in succession as one text, each line in at most one of them."""
    texts, at, n = [], 0, 2
    while at < len(rows):
        group = rows[at : at + n]
        while len(group) > 1 and _n_words(group) > MOST_WORDS:
            group = group[:-1]
        if len(group) > 1:
            texts.append(joined(group))
        at, n = at + len(group), 5 - n
    return texts


def joined(rows: Iterable[Row]) -> Row:
    """Several sentences as one text."""
    rows = list(rows)
    return " ".join(row[0] for row in rows), " ".join(row[1] for row in rows)


def _n_words(rows: Iterable[Row]) -> int:
    return sum(len(row[0].split()) for row in rows)


# Sentences with gaps, and everyday nouns to fill them: what agrees with a noun is learned.
#
# Which pronoun stands for which noun ("... because it was too big") cannot be learned from pairs
# that hold each noun a few times. So `patterns.tsv` has sentences of which every noun may be
# another one: the kinds of nouns that fit its first and its second gap, English, and German.
# `{1}` is the noun, `{1s}` its plural, `{1:der|die|das}` what stands there for each of the three
# genders. `nouns.tsv` has a noun a row: English, German, gender, both plurals where there are
# some, and its kinds. All of it was written for this project.

NOUNS, PATTERNS = (Path(__file__).with_name(f"{name}.tsv") for name in ("nouns", "patterns"))
NO_NOUN = "-"
_GAP = re.compile(r"\{([12])(?::([^}]*)|(s?))\}")


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; names of countries and languages have no gender, and no plural."""

    english: str
    german: str
    gender: str
    plural: Row
    kinds: frozenset[str]

    @property
    def words(self) -> Iterator[Word]:
        """Yield what may stand in place of another noun in a sentence."""
        if self.gender:
            yield Word(self.english, self.german, self.gender)
        if all(self.plural):
            yield Word(*self.plural, plural_form(self.plural[1]))


def nouns(path: Path) -> list[Noun]:
    """Read the nouns of the file."""
    rows = (line.split("\t") for line in path.read_text().splitlines())
    return [
        Noun(english, german, gender, (many, viele), frozenset(kinds.split()))
        for english, german, gender, many, viele, kinds in rows
    ]


class Patterns:
    """The patterns of a file, with nouns in their gaps. A Deck of pairs."""

    def __init__(
        self, path: Path, nouns: Sequence[Noun], is_allowed: Callable[[Row], bool]
    ) -> None:
        """is_allowed: says of a pair whether it may be dealt."""
        self.patterns = [tuple(line.split("\t")) for line in path.read_text().splitlines()]
        self.by_kind: Mapping[str, list[Noun]] = defaultdict(list)
        for noun in nouns:
            for kind in noun.kinds:
                self.by_kind[kind].append(noun)
        self.is_allowed = is_allowed

    def deal(self, start: int) -> Iterator[Row]:
        """The pairs from the start-th one on, for ever."""
        for i, (one, other, *texts) in enumerate(Deck(self.patterns, seed=0).deal(start), start):
            rng = random.Random(i)
            row = None
            while row is None or not self.is_allowed(row):
                row = self._row(texts, (self._drawn(one, rng), self._drawn(other, rng)))
            yield row

    def _drawn(self, kinds: str, rng: random.Random) -> Noun | None:
        """A noun of one of the kinds. A pattern without plurals asks for none, and may get one."""
        if kinds == NO_NOUN:
            return None
        return rng.choice([noun for kind in kinds.split() for noun in self.by_kind[kind]])

    def _row(self, texts: Sequence[str], chosen: Sequence[Noun | None]) -> Row | None:
        """The pair with these nouns; None where one of them lacks its plural, or is there twice."""
        missing = [
            noun
            for text in texts
            for at, _, plural in _GAP.findall(text)
            if (noun := chosen[int(at) - 1]) is None or (plural and not all(noun.plural))
        ]
        if missing or chosen[0] == chosen[1]:
            return None
        english, german = (
            _GAP.sub(partial(_filled, chosen, side), text) for side, text in enumerate(texts)
        )
        english = re.sub(r"\b([Aa]) (\w+)", lambda a: f"{a[1]}{article_n(a[2])} {a[2]}", english)
        return english[0].upper() + english[1:], german[0].upper() + german[1:]


def _filled(chosen: Sequence[Noun | None], side: int, gap: re.Match[str]) -> str:
    noun = chosen[int(gap[1]) - 1]
    assert noun is not None
    if gap[2]:
        return gap[2].split("|")[GENDERS.index(noun.gender)]
    if gap[3]:
        return noun.plural[side]
    return noun.german if side else noun.english


# Translation from several kinds of pairs, each with a share of every epoch that may change.

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
