"""Sentences with gaps, and everyday nouns to fill them: what agrees with a noun is learned.

Which pronoun stands for which noun ("... because it was too big") cannot be learned from pairs that
hold each noun a few times. So `patterns.tsv` has sentences of which every noun may be another one:
the kinds of nouns that fit its first and its second gap, English, and German. `{1}` is the noun,
`{1s}` its plural, `{1:der|die|das}` what stands there for each of the three genders. `nouns.tsv`
has a noun a row: English, German, gender, both plurals where there are some, and its kinds.
All of it was written for this project.
"""

import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from transformer.training.recipes.en_de_data.deck import Deck
from transformer.training.recipes.en_de_data.noise import Row
from transformer.training.recipes.en_de_data.substitution import (
    GENDERS,
    Word,
    article_n,
    plural_form,
)

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
