"""The small fixed grammar of questions about heads: “who links it to phone?”.

A question becomes a Pattern: a word that looks, a word that is looked at, or a place that is looked
at, such as the previous word. `transformer.corpus.ask` says which heads do it.
"""

import re
from dataclasses import dataclass

from transformer.inputs import InputError
from transformer.refusal import quoted

GRAMMAR = (
    "who links WORD to WORD? · who looks at WORD? · where does WORD look? · who looks at the "
    "previous word? (or next, first, same word, or the end) · from WORD to WORD; for WORD several "
    "with “or” between them; and at the end, where wanted, in the encoder, in the decoder or in "
    "cross-attention"
)
"""The questions that are understood."""
PLACES: dict[str, tuple[str, ...]] = {
    "previous": ("previous", "previous word", "previous one", "word before", "one before"),
    "next": ("next", "next word", "next one", "word after", "one after", "following word"),
    "first": ("first", "first word", "beginning", "start"),
    "same": ("itself", "themselves", "same word", "word itself", "own word", "same"),
    "end": ("end", "end token", "last token", "end of the text", "end of the sentence"),
}
"""Name of a place that is looked at -> how it is asked for, without “the”."""
KINDS = {
    "encoder": "encoder_self",
    "decoder": "decoder_self",
    "cross-attention": "cross",
    "cross attention": "cross",
    "cross": "cross",
}
_WHO = r"(?:who|which heads?|what heads?|heads? that)"
_LOOKS = r"(?:looks? (?:back )?(?:at|to)|attends? to|reads?|sees?)"
_LINKS = r"(?:links?|connects?|joins?|ties)"
_QUESTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WHO} {_LINKS} (?P<query>.+?) (?:to|with|and) (?P<key>.+)",
        rf"{_WHO} (?:looks?|attends?) from (?P<query>.+?) (?:to|at) (?P<key>.+)",
        rf"{_WHO} {_LOOKS} (?P<key>.+?)(?: from (?P<query>\S+))?",
        r"(?:where|what) does (?P<query>.+?) (?:look|attend)(?: at| to)?",
        r"from (?P<query>.+?) (?:to|at) (?P<key>.+)",
        r"(?P<query>\S+) (?:->|→|to) (?P<key>\S+)",
    )
)
_IN = re.compile(rf" in (?:the )?({'|'.join(KINDS)})$", re.IGNORECASE)
_MARKS = "*_\"'“”„‘’`«» "


@dataclass(frozen=True)
class Pattern:
    """Something that a head may do, by words: one, or several with “or” between them.

    An empty word is any.
    """

    query: str = ""
    key: str = ""
    place: str = ""
    """One of `PLACES`, in place of a key."""
    kind: str = ""
    """The kind of attention; empty: any."""

    def __str__(self) -> str:
        """Spell it as a question that `ask` reads as this pattern."""
        place = f"the {PLACES[self.place][0]}" if self.place else ""
        end = next((f" in {name}" for name, kind in KINDS.items() if kind == self.kind), "")
        query, key = _spelled(self.query), place or _spelled(self.key)
        if not key:
            return f"where does {query} look{end}?"
        return f"who links {query} to {key}{end}?" if query else f"who looks at {key}{end}?"


def ask(text: str) -> Pattern:
    """Read a question. Raises InputError, which says what can be asked.

    >>> ask("Who links *it* to *phone*?")
    Pattern(query='it', key='phone', place='', kind='')
    >>> ask("who looks at the previous word in the decoder?").place
    'previous'
    """
    question = " ".join(text.split()).rstrip("?!. ")
    kind = ""
    if end := _IN.search(question):
        kind, question = KINDS[end[1].lower()], question[: end.start()]
    for pattern in _QUESTIONS:
        if match := pattern.fullmatch(question):
            parts = match.groupdict()
            query, key = (_words(parts.get(side) or "") for side in ("query", "key"))
            place = _place(parts.get("key") or "")
            result = Pattern(query, "" if place else key, place, kind)
            if result.query or result.key or result.place:
                return result
    raise InputError(f"The question {quoted(text)} is none of these: {GRAMMAR}.")


def words_of(text: str) -> list[str]:
    """The words of a side of a pattern: any of them will do.

    >>> words_of("it or phone"), words_of("or")
    (['it', 'phone'], ['or'])
    """
    return text.split(" or ")


def _words(text: str) -> str:
    """One side of a question; its words as a pattern has them."""
    return " or ".join(_word(each) for each in words_of(text))


def _word(text: str) -> str:
    """A word without the marks around it, and without “the word” or “the” before it."""
    name = re.sub(r"^the (?:word )?(?=\S)", "", text.strip(), flags=re.IGNORECASE)
    is_spelled = len(name) > 2 and name[0] == name[-1] == "*"
    return name.strip(_MARKS) or (name[1:-1] if is_spelled else name)


def _spelled(side: str) -> str:
    """A side as questions have it: words in asterisks that would be read as something else."""
    return " or ".join(map(_spelled_word, words_of(side)))


def _spelled_word(word: str) -> str:
    return word if re.fullmatch(r"[\w'’-]*\w", word) and not _place(word) else word and f"*{word}*"


def _place(text: str) -> str:
    """The place that these words ask for; a word in quotes or asterisks is a word."""
    name = text.strip().lower().removeprefix("the ")
    return next((place for place, names in PLACES.items() if name in names), "")
