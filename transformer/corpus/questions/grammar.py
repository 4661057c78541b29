"""The small fixed grammar of questions about heads: “who links it to phone?”.

A question becomes a Pattern: a word that looks, a word that is looked at, a place that is looked
at, such as the previous word, or cells of a text's map. `transformer.corpus.ask` says which heads
do it.
"""

import re
from dataclasses import dataclass

from transformer.inputs import InputError
from transformer.refusal import quoted

GRAMMAR = (
    "who links WORD to WORD? · who looks at WORD? · where does WORD look? · who looks at the "
    "previous word? (or next, first, same word, the word 3 back, or the end) · from WORD to WORD; "
    "for WORD several with “or” between them; who looks at cells q7k5 q9k5? (row and column, "
    "counted from 0); and at the end, where wanted, in the encoder, in the decoder or in "
    "cross-attention"
)
"""The questions that are understood."""
PLACES: dict[str, tuple[str, ...]] = {
    "previous": ("previous word", "previous", "previous one", "word before", "one before"),
    "next": ("next word", "next", "next one", "word after", "one after", "following word"),
    "first": ("first word", "first", "beginning", "start"),
    "same": ("same word", "itself", "themselves", "word itself", "own word", "same"),
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
MOST_CELLS = 400
"""Cells of a question: an address has room for them."""
_STEPS = re.compile(r"(?:word |one )?([1-9][0-9]?)(?: words?)? (back|before|ahead|after)")
"""A place that is so many words from the query's."""
_CELL = r"q[0-9]{1,4}k[0-9]{1,4}"
_WHO = r"(?:who|which heads?|what heads?|heads? that)"
_LOOKS = r"(?:looks? (?:back )?(?:at|to)|attends? to|reads?|sees?)"
_LINKS = r"(?:links?|connects?|joins?|ties)"
_QUESTIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_WHO} {_LOOKS} (?:the )?cells? (?P<cells>{_CELL}(?:,? (?:and |or )?{_CELL})*)",
        rf"{_WHO} looks? (?P<key>[1-9][0-9]? words? (?:back|ahead))",
        rf"{_WHO} {_LINKS} (?P<query>.+?) (?:to|with|and) (?P<key>.+)",
        rf"{_WHO} (?:looks?|attends?) from (?P<query>.+?) (?:to|at) (?P<key>.+)",
        rf"{_WHO} {_LOOKS} (?P<key>.+?)(?: from (?P<query>\S+))?",
        r"(?:where|what) does (?P<query>.+?) (?:look|attend)(?: at| to)?",
        r"from (?P<query>.+?) (?:to|at) (?P<key>.+)",
        r"(?P<query>\S+) (?:->|→|to) (?P<key>\S+)",
    )
)
_IN = re.compile(rf" in (?:the )?({'|'.join(KINDS)}|\*[^* ]+\*)$", re.IGNORECASE)
_MARKS = "*_\"'“”„‘’`«» "


@dataclass(frozen=True)
class Pattern:
    """Something that a head may do, by words: one, or several with “or” between them.

    An empty word is any.
    """

    query: str = ""
    key: str = ""
    place: str = ""
    """One of `PLACES`, or "3 back" or "2 ahead", in place of a key."""
    kind: str = ""
    """The kind of attention; empty: any."""
    cells: tuple[tuple[int, int], ...] = ()
    """Row and column of each, in a map by words and in this order: then no word is asked for."""

    def __str__(self) -> str:
        """Spell it as a question that `ask` reads as this pattern."""
        names = [name for name, kind in KINDS.items() if kind == self.kind]
        the = "the " if self.kind in ("encoder_self", "decoder_self") else ""
        end = f" in {the}{names[0] if names else f'*{self.kind}*'}" if self.kind else ""
        if self.cells:
            cells = " ".join(f"q{row}k{column}" for row, column in self.cells)
            return f"who looks at cells {cells}{end}?"
        place = f"the {_named(self.place)}" if self.place else ""
        query, key = _spelled(self.query), place or _spelled(self.key)
        if not key:
            return f"where does {query} look{end}?"
        return f"who links {query} to {key}{end}?" if query else f"who looks at {key}{end}?"


def ask(text: str) -> Pattern:
    """Read a question. Raises InputError, which says what can be asked.

    >>> ask("Who links *it* to *phone*?")
    Pattern(query='it', key='phone', place='', kind='', cells=())
    >>> ask("who looks at the previous word in the decoder?").place
    'previous'
    >>> ask("who looks at cells q9k5 q7k5?").cells
    ((7, 5), (9, 5))
    """
    question = " ".join(text.split()).rstrip("?!. ")
    kind = ""
    if end := _IN.search(question):
        kind = KINDS.get(end[1].lower(), end[1].strip("*"))
        question = question[: end.start()]
    for pattern in _QUESTIONS:
        if match := pattern.fullmatch(question):
            parts = match.groupdict()
            if cells := parts.get("cells"):
                return Pattern(kind=kind, cells=_cells(cells))
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


def _cells(text: str) -> tuple[tuple[int, int], ...]:
    cells = {(int(row), int(column)) for row, column in re.findall(r"q(\d+)k(\d+)", text.lower())}
    if len(cells) > MOST_CELLS:
        raise InputError(f"A question has {MOST_CELLS} cells at most; these are {len(cells)}.")
    return tuple(sorted(cells))


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
    if steps := _STEPS.fullmatch(name):
        return place_at(int(steps[1]) * (-1 if steps[2] in ("back", "before") else 1))
    return next((place for place, names in PLACES.items() if name in names), "")


def place_at(offset: int) -> str:
    """The place so many words from the query's, as a Pattern has it: before it below 0.

    >>> place_at(-1), place_at(-3), place_at(2), place_at(0)
    ('previous', '3 back', '2 ahead', 'same')
    """
    near = {-1: "previous", 0: "same", 1: "next"}
    return near.get(offset) or f"{abs(offset)} {'back' if offset < 0 else 'ahead'}"


def offset_of(place: str) -> int | None:
    """Undo `place_at`; None: the place is no distance from the query."""
    if steps := _STEPS.fullmatch(place):
        return int(steps[1]) * (-1 if steps[2] == "back" else 1)
    return {"previous": -1, "next": 1, "same": 0}.get(place)


def _named(place: str) -> str:
    return PLACES[place][0] if place in PLACES else f"word {place}"
