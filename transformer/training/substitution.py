"""Rare nouns in whole sentences: a noun of a pair gives way to another one on both sides.

A dictionary shows a word by itself, and a decoder that saw it only there does not write it in a
sentence ("the bat" became "der Flederm"). So known sentences get rare nouns (Fadaee, Bisazza and
Monz 2017, "Data augmentation for low-resource neural machine translation", there chosen by a
language model). What the sentences say is often silly; that they are German is what counts, so a
noun is replaced by one of the same form: gender and number decide its articles and adjectives.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from transformer.training.deck import Deck
from transformer.training.dictionary import counted
from transformer.training.noise import Row

MAX_WORDS = 14
"""Longer sentences are left as they are: they cost much and teach a noun no better."""
RARE = range(2, 60)
"""How often the sentences have a noun that others give way to: one that they have more often is
learned from them, and one that they have only once is seldom typed.
"""
_DETERMINERS = (
    "a an the this that these those my your his her its our their some any no every each another"
)
_ARTICLES = {
    **dict.fromkeys(("eine", "einer", "keine", "zur"), "feminine"),
    **dict.fromkeys(("einen", "keinen", "den"), "masculine"),
    "das": "neuter",
}
"""What tells a gender. "Den" stands before plurals, too, but those are told by their English."""
_ENDINGS = (
    ("ung heit keit schaft tion tät ik ei enz anz ur rin", "feminine"),
    ("chen lein ment tum", "neuter"),
    ("ling ismus or er", "masculine"),
)
_WEAK = re.compile(
    r"(?:e|ent|ant|ist|aut|at|oge|graph|soph|nom|arch|mensch|herr|bär"
    r"|[eirdg]ter|nder|ener|chster)$"
)
"""Masculine nouns with other endings after "den" or "der": on -n, or those of adjectives."""
_ENGLISH, _GERMAN = re.compile(r"[a-z]{3,}"), re.compile(r"[A-ZÄÖÜ][a-zäöüß]{2,}")
_DETERMINED = re.compile(rf"\b(?i:{'|'.join(_DETERMINERS.split())})(?: [a-z]+)? $")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Noun:
    """A noun with its translation; `form` is what both have to have in common with another."""

    english: str
    german: str
    form: str


@dataclass(frozen=True)
class Frame:
    """A pair of sentences, and the noun of it that may give way."""

    row: Row
    noun: Noun

    def having(self, noun: Noun) -> Row:
        """The pair with another noun of the same form."""
        source, target = self.row
        source = re.sub(
            rf"\b(?:([Aa])n? )?{self.noun.english}\b",
            lambda found: (found[1] + _n(noun.english) + " " if found[1] else "") + noun.english,
            source,
        )
        return source, re.sub(rf"\b{self.noun.german}\b", noun.german, target)


def _n(word: str) -> str:
    """The n of the article "an"."""
    is_vowel = word[0] in "aeiou" and not re.match("uni|use|usa|eu|one", word)
    return "n" if is_vowel or re.match("hour|hono|heir", word) else ""


def nouns(entries: Iterable[Row], sentences: Sequence[Row]) -> list[Noun]:
    """The dictionary's nouns whose form is known, in its order.

    entries: word and translation. sentences: English and German, whose articles tell genders.
    """
    pairs = {
        row: None for row in entries if _ENGLISH.fullmatch(row[0]) and _GERMAN.fullmatch(row[1])
    }
    gender = Genders(target for _, target in sentences)
    singular: dict[str, set[str]] = defaultdict(set)
    for english, german in pairs:
        singular[english].add(german)
    found = []
    for english, german in pairs:
        one = next((each for each in _singulars(english) if each in singular), None)
        if one is None:
            form = gender.of(german)
            is_weak = form == "masculine" and _WEAK.search(german)
            is_plural = english.endswith("s") or (form == "feminine" and german.endswith("en"))
            form = None if is_weak or is_plural else form
        else:  # In the dative a plural ends in -n, where it can.
            is_same = german in singular[one] and not german.endswith(("er", "el", "en", "chen"))
            form = None if is_same else "plural" + "-n" * german.endswith(("n", "s"))
        if form:
            found.append(Noun(english, german, form))
    return found


def _singulars(english: str) -> list[str]:
    """What an English word may be the plural of."""
    if not english.endswith("s") or english.endswith(("ss", "us", "is", "ics")):
        return []
    ies = [english[:-3] + "y"] if english.endswith("ies") else []
    return [*ies, english[:-1], *([english[:-2]] if english.endswith("es") else [])]


class Genders:
    """The gender of German nouns by the articles before them, or by what they end in."""

    def __init__(self, texts: Iterable[str]) -> None:
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for text in texts:
            for article, noun in re.findall(r"(?=\b(\w+) ([A-ZÄÖÜ][a-zäöüß]{2,})\b)", text):
                if gender := _ARTICLES.get(article.lower()):
                    votes[noun][gender] += 1
        self.known = {}
        for noun, counts in votes.items():
            (first, n), *_ = counts.most_common(1)
            if n > 0.7 * counts.total():
                self.known[noun] = first

    def of(self, noun: str) -> str | None:
        """ "masculine", "feminine" or "neuter"; None where nothing tells it."""
        ends = (noun[at:].capitalize() for at in range(len(noun) - 3))  # of a compound, the last
        found = next((self.known[end] for end in ends if end in self.known), None)
        if found:
            return found
        return next(
            (gender for endings, gender in _ENDINGS if noun.endswith(tuple(endings.split()))), None
        )


def frames(sentences: Iterable[Row], known: Iterable[Noun]) -> dict[str, list[Frame]]:
    """By form: the short sentences that have a noun once, and its translation once."""
    by_english: dict[str, list[Noun]] = defaultdict(list)
    for noun in known:
        by_english[noun.english].append(noun)
    found: dict[str, list[Frame]] = defaultdict(list)
    for row in sentences:
        source, target = _once(row[0]), _once(row[1])
        if len(source) > MAX_WORDS:
            continue
        for word in source.keys() & by_english.keys():
            if _DETERMINED.search(row[0][: source[word]]):
                for noun in by_english[word]:
                    if noun.german in target:
                        found[noun.form].append(Frame(row, noun))
    return found


def _once(text: str) -> dict[str, int]:
    """The words that a text has once, and where they begin."""
    every = [(found.group(), found.start()) for found in _WORD.finditer(text)]
    counts = Counter(word for word, _ in every)
    return {word: start for word, start in every if counts[word] == 1}


def rare(known: Iterable[Noun], sentences: Sequence[Row]) -> list[Noun]:
    """The nouns worth a sentence, each with the translation that the sentences have most often."""
    english, german = (counted(row[side] for row in sentences) for side in (0, 1))
    meanings: dict[str, list[Noun]] = defaultdict(list)
    for noun in known:
        if english[noun.english] in RARE and german[noun.german.lower()]:
            meanings[noun.english].append(noun)
    together: Counter[tuple[str, str]] = Counter()
    for source, target in sentences:
        written = set(_WORD.findall(target))
        for word in meanings.keys() & _WORD.findall(source):
            together.update((word, n.german) for n in meanings[word] if n.german in written)
    return [
        max(each, key=lambda n: (together[word, n.german], german[n.german.lower()]))
        for word, each in meanings.items()
    ]


class Substitutions:
    """Rare nouns, each in a sentence that had another one. A Deck of pairs."""

    def __init__(self, rare: Sequence[Noun], frames: dict[str, list[Frame]]) -> None:
        self.nouns = [noun for noun in rare if noun.form in frames]
        self.frames = frames

    def deal(self, start: int) -> Iterator[Row]:
        """The pairs from the start-th one on, for ever."""
        dealt = enumerate(Deck(self.nouns, seed=0).deal(start), start)
        for i, noun in dealt:
            yield random.Random(i).choice(self.frames[noun.form]).having(noun)
