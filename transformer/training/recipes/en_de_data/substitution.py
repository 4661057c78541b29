"""Rare words in whole sentences: a word of a pair gives way to another one on both sides."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

from transformer.training.recipes.en_de_data.noise import Row

# The entries of a dictionary that are worth learning first.

FAMILIAR = 400
"""A word that occurs so often in sentences is learned from them."""
MEANINGS = (2, 1)
"""The times that a word comes with its commonest translation, and how often with the second."""


def counted(texts: Iterable[str]) -> Counter[str]:
    """Count how often each word occurs, in lower case."""
    return Counter(word for text in texts for word in words_dictionary(text))


def words_dictionary(text: str) -> list[str]:
    """The runs of letters, in lower case."""
    return re.findall(r"[^\W\d_]+", text.lower())


def sorted_out(
    entries: Iterable[Row], english: Counter[str], german: Counter[str]
) -> tuple[list[Row], list[Row]]:
    """The words that somebody is likely to type, with their commonest translations; all the rest.

    english, german: how often a word occurs in the sentences that are trained on. A word is likely
    where they have it at all, and a translation common where they have all its words.
    """
    meanings: dict[str, list[str]] = {}
    for source, target in entries:
        meanings.setdefault(source, []).append(target)
    likely, rest = [], []
    for source, targets in meanings.items():
        targets.sort(key=lambda target: -_rarest(target, german))
        common = [target for target in targets if _rarest(target, german)][: len(MEANINGS)]
        is_word = len(words_dictionary(source.removeprefix("to "))) == 1
        if is_word and common and 0 < _rarest(source, english) < FAMILIAR:
            for target, times in zip(common, MEANINGS, strict=False):
                likely += [(source, target)] * times
        else:
            rest.append((source, targets[0]))
    return likely, rest


def _rarest(text: str, counts: Counter[str]) -> int:
    """Count how often the rarest word of a text occurs; 0 of none."""
    return min((counts[word] for word in words_dictionary(text)), default=0)


# A deck that epochs are dealt from: shuffled anew each time that all of it was dealt.

T = TypeVar("T")


class Deck(Generic[T]):
    """Items in a random order, the same for the same seed."""

    def __init__(self, items: Sequence[T], seed: int) -> None:
        self.items, self.seed = items, seed

    def deal(self, start: int) -> Iterator[T]:
        """The items from the start-th one on, for ever."""
        time, at = divmod(start, len(self.items))
        while True:
            order = list(range(len(self.items)))
            random.Random(self.seed * 1_000_003 + time).shuffle(order)
            yield from (self.items[i] for i in order[at:])
            time, at = time + 1, 0


# Rare words in whole sentences: a word of a pair gives way to another one on both sides.
#
# A dictionary shows a word by itself, and a decoder that saw it only there does not write it in a
# sentence ("the bat" became "der Flederm"). So known sentences get rare nouns (Fadaee, Bisazza
# and Monz 2017, "Data augmentation for low-resource neural machine translation", there chosen by
# a language model), and rare verbs. What the sentences say is often silly; that they are German
# is what counts, so a word is replaced by one of the same form: gender and number of a noun
# decide its articles and adjectives, and a verb is an infinitive after a modal.

MAX_WORDS = 14
"""Longer sentences are left as they are: they cost much and teach a noun no better."""
RARE = range(2, 300)
"""The counts of a word that others give way to, in the sentences: one that they have more often is
learned from them, and one that they have only once is seldom typed.
"""
_DETERMINERS = (
    "a an the this that these those my your his her its our their some any no every each another"
)
_ARTICLES = {
    **dict.fromkeys(("eine", "einer", "keine", "zur"), "feminine"),
    **dict.fromkeys(("einen", "keinen", "den"), "masculine"),
    "Der": "masculine",
    "das": "neuter",
}
"""Articles with a gender. "Den" stands before plurals, too, but those are told by their English;
"der" is a dative as often, but seldom where it begins a sentence.
"""
_ABSTRACT = re.compile(r"(?:ung|heit|keit|schaft|tion|tät|ik|enz|anz|ismus|tum)$")
"""Nouns that do without an article: "Attention is rare."."""
_ENDINGS = (
    ("ung heit keit schaft tion tät ik ei enz anz ur rin", "feminine"),
    ("chen lein ment tum", "neuter"),
    ("ling ismus or er", "masculine"),
)
GENDERS = ("masculine", "feminine", "neuter")
_WEAK = re.compile(
    r"(?:e|ent|ant|ist|aut|at|oge|graph|soph|nom|arch|mensch|herr|bär"
    r"|[eirdg]ter|nder|ener|chster)$"
)
"""Masculine nouns with other endings after "den" or "der": on -n, or those of adjectives."""
_ENGLISH, _GERMAN = re.compile(r"[a-z]{3,}(?: [a-z]{3,})?"), re.compile(r"[A-ZÄÖÜ][a-zäöüß]{2,}")
_TO_VERB, _INFINITIVE = re.compile(r"to [a-z]{3,}"), re.compile(r"[a-zäöüß]{3,}n")
_DETERMINED = re.compile(rf"\b(?i:{'|'.join(_DETERMINERS.split())})(?: [a-z]+)? $")
_MODALS = "can could cannot can't couldn't must should shouldn't will would won't may might"
_AFTER_MODAL = re.compile(rf"\b(?i:{'|'.join(_MODALS.split())}) $")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


@dataclass(frozen=True)
class Word:
    """A word with its translation; `form` is what both have to have in common with another.

    The English of a noun may be two words: "traffic light" is "Ampel".
    """

    english: str
    german: str
    form: str

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms of the frames that it fits: some nouns stand without an article, too."""
        is_singular = self.form in GENDERS
        return (self.form, "bare " + self.form)[
            : 1 + bool(is_singular and _ABSTRACT.search(self.german))
        ]


@dataclass(frozen=True)
class Frame:
    """A pair of sentences, and the word of it that may give way."""

    row: Row
    word: Word

    def having(self, word: Word) -> Row:
        """The pair with another word of the same form."""
        source, target = self.row
        first, others = self.word.english[0], self.word.english[1:]

        def put(match: re.Match[str]) -> str:
            if match[1]:
                return f"{match[1]}{article_n(word.english)} {word.english}"
            return word.english if match[2] == first else word.english.capitalize()

        source = re.sub(rf"\b(?:([Aa])n? )?([{first}{first.upper()}]){others}\b", put, source)
        return source, re.sub(rf"\b{self.word.german}\b", word.german, target)


def article_n(word: str) -> str:
    """The n of the article "an"."""
    is_vowel = word[0] in "aeiou" and not re.match("uni|use|usa|eu|one", word)
    return "n" if is_vowel or re.match("hour|hono|heir", word) else ""


def words(entries: Iterable[Row], sentences: Sequence[Row]) -> list[Word]:
    """The dictionary's nouns whose form is known, and its verbs, in its order.

    entries: word and translation. sentences: English and German, whose articles tell genders.
    """
    entries = list(entries)
    pairs = {
        row: None for row in entries if _ENGLISH.fullmatch(row[0]) and _GERMAN.fullmatch(row[1])
    }
    gender = Genders(target for _, target in sentences)
    singular: dict[str, set[str]] = defaultdict(set)
    for english, german in pairs:
        singular[english].add(german)
    result = []
    for english, german in pairs:
        one = next((each for each in _singulars(english) if each in singular), None)
        if one is None:
            form = gender.of(german)
            is_weak = form == "masculine" and _WEAK.search(german)
            is_plural = english.endswith("s") or (form == "feminine" and german.endswith("en"))
            form = None if is_weak or is_plural else form
        else:
            is_same = german in singular[one] and not german.endswith(("er", "el", "en", "chen"))
            form = None if is_same else plural_form(german)
        if form:
            result.append(Word(english, german, form))
    verbs = [row for row in entries if _TO_VERB.fullmatch(row[0]) and _INFINITIVE.fullmatch(row[1])]
    return result + [
        Word(row[0].removeprefix("to "), row[1], "verb") for row in dict.fromkeys(verbs)
    ]


def plural_form(german: str) -> str:
    """The form of a plural: in the dative it ends in -n, where it can."""
    return "plural" + "-n" * german.endswith(("n", "s"))


def _singulars(english: str) -> list[str]:
    """List what an English word may be the plural of."""
    if not english.endswith("s") or english.endswith(("ss", "us", "is", "ics")):
        return []
    ies = [english[:-3] + "y"] if english.endswith("ies") else []
    return [*ies, english[:-1], *([english[:-2]] if english.endswith("es") else [])]


class Genders:
    """The gender of German nouns by the articles before them, or by what they end in."""

    def __init__(self, texts: Iterable[str]) -> None:
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for text in texts:
            for noun in re.findall(
                r"\bDie ([A-ZÄÖÜ][a-zäöüß]{2,}) (?:ist|war|hat|wird|kann)\b", text
            ):
                votes[noun]["feminine"] += 1
            for article, noun in re.findall(r"(?=\b(\w+) ([A-ZÄÖÜ][a-zäöüß]{2,})\b)", text):
                if gender := _ARTICLES.get(article) or _ARTICLES.get(article.lower()):
                    votes[noun][gender] += 1
        self.by_noun = {}
        for noun, counts in votes.items():
            (first, n), *_ = counts.most_common(1)
            if n > 0.7 * counts.total():
                self.by_noun[noun] = first

    def of(self, noun: str) -> str | None:
        """ "masculine", "feminine" or "neuter"; None where nothing tells it."""
        ends = (noun[at:].capitalize() for at in range(len(noun) - 3))  # of a compound, the last
        ending = next((self.by_noun[end] for end in ends if end in self.by_noun), None)
        if ending:
            return ending
        return next(
            (gender for endings, gender in _ENDINGS if noun.endswith(tuple(endings.split()))), None
        )


def frames(sentences: Iterable[Row], words: Iterable[Word]) -> dict[str, list[Frame]]:
    """Group by form the short sentences that have a word once, and its translation once."""
    by_english: dict[str, list[Word]] = defaultdict(list)
    for word in words:
        by_english[word.english].append(word)
    result: dict[str, list[Frame]] = defaultdict(list)
    for row in sentences:
        source, target = _once(row[0], is_english=True), _once(row[1])
        if len(source) > MAX_WORDS:
            continue
        for english in source.keys() & by_english.keys():
            for word in by_english[english]:
                if word.german in target:
                    form = _form_in(row, word, source[english], target[word.german])
                    if form:
                        result[form].append(Frame(row, word))
    return result


def _form_in(row: Row, word: Word, at: int, german_at: int) -> str | None:
    """The form that a word has in a pair, where it begins at these characters."""
    before = row[0][:at]
    if word.form == "verb":  # "anzufangen" is not made of "zu" and "anfangen".
        is_infinitive = _AFTER_MODAL.search(before) and not row[1][:german_at].endswith("zu ")
        return "verb" if is_infinitive else None
    if _DETERMINED.search(before) or word.form not in GENDERS:
        return word.form
    return word.forms[1] if len(word.forms) > 1 else None


def _once(text: str, is_english: bool = False) -> dict[str, int]:
    """The words that a text has once, and where they begin."""
    every = [(match.group(), match.start()) for match in _WORD.finditer(text)]
    if every:  # a sentence begins with a capital
        every[0] = (every[0][0].lower(), every[0][1]) if is_english else every[0]
    counts = Counter(word for word, _ in every)
    return {word: start for word, start in every if counts[word] == 1}


def rare(words: Iterable[Word], sentences: Sequence[Row]) -> list[Word]:
    """The words worth a sentence, each with the translation that the sentences have most often."""
    english = Counter(term for source, _ in sentences for term in _terms(source.lower()))
    german = counted(target for _, target in sentences)
    meanings: dict[tuple[str, bool], list[Word]] = defaultdict(list)
    for word in words:
        if english[word.english] in RARE and german[word.german.lower()]:
            meanings[word.english, word.form == "verb"].append(word)
    by_term: dict[str, list[Word]] = defaultdict(list)
    for (term, _), each in meanings.items():
        by_term[term] += each
    together: Counter[Word] = Counter()
    for source, target in sentences:
        common = set(_WORD.findall(target))
        for term in by_term.keys() & _terms(source):
            together.update(word for word in by_term[term] if word.german in common)
    best = [
        max(each, key=lambda word: (together[word], german[word.german.lower()]))
        for each in meanings.values()
    ]
    return [word for word in best if word.form != "verb" or together[word] in RARE]


def _terms(text: str) -> list[str]:
    """The words of a text, and every two that follow each other."""
    terms = _WORD.findall(text)
    return terms + [f"{one} {other}" for one, other in pairwise(terms)]


class Substitutions:
    """Rare words, each in a sentence that had another one. A Deck of pairs."""

    def __init__(self, rare: Sequence[Word], frames: dict[str, list[Frame]]) -> None:
        self.words = [word for word in rare if any(form in frames for form in word.forms)]
        self.frames = frames

    def deal(self, start: int) -> Iterator[Row]:
        """The pairs from the start-th one on, for ever."""
        dealt = enumerate(Deck(self.words, seed=0).deal(start), start)
        for i, word in dealt:
            rng = random.Random(i)
            form = rng.choice([form for form in word.forms if form in self.frames])
            yield rng.choice(self.frames[form]).having(word)
