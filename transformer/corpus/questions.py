"""Questions about heads: “who links it to phone?”; their grammar, and the cells that they are
about.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.refusal import quoted
from transformer.token import Token, n_words

# The small fixed grammar of questions about heads: “who links it to phone?”.
#
# A question becomes a Pattern: a word that looks, a word that is looked at, a place that is
# looked at, such as the previous word, or cells of a text's map. `transformer.corpus.ask` says
# which heads do it.

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


# The cells of a recording that a question is about, in maps by words.
#
# They are those of words, of a place, or drawn one by one; `countable` says what of drawn ones
# can be looked for in other texts.

CLOSED = "No word there may look at these: a mask closes all of it."


@dataclass(frozen=True)
class Spot:
    """Cells of one kind of attention: all in which one of these queries meets one of these keys."""

    kind: str
    queries: tuple[int, ...]
    """Positions; empty: of every word that is not special."""
    keys: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a map by words that a pattern is about."""

    map: AttentionMap
    are: tuple[Tensor, ...]
    """bool [H, R, C] for each layer: none that its mask closes, and of no row without a choice."""
    is_one: bool
    """True: one of them is enough; else a head that does it has weight in every row of them."""

    def alike(self, layer: int) -> Tensor:
        """The weights of heads that look at all keys alike: [H, R, C]."""
        n_pieces = torch.tensor([len(group) for group in self.map.column_groups])
        open_ = self.map.allowed(layer) * n_pieces
        return open_ / open_.sum(-1, keepdim=True).clamp_min(1)

    def counts(self, layer: int) -> list[tuple[int, int]]:
        """Count for each head its rows with such cells, and those whose largest weight is there."""
        are, most = self.are[layer], self.map.values(layer).argmax(-1, keepdim=True)
        n_rows, n_largest = are.any(-1).sum(-1), are.gather(-1, most).sum((-2, -1))
        return [*zip(n_rows.tolist(), n_largest.tolist(), strict=True)]


def cells_of(pattern: Pattern, recording: Recording) -> dict[str, Cells]:
    """Kind -> the cells of a pattern. Raises InputError where there are none."""
    result: dict[str, Cells] = {}
    for kind in recording.attentions:
        if pattern.kind and kind != pattern.kind:
            continue
        map = read_words(recording, kind)
        are = _drawn(pattern, map) if pattern.cells else _of_words(pattern, map)
        if layers := _open(map, are):
            result[kind] = Cells(map, layers, bool(pattern.query) and not pattern.place)
    if not result:
        what = (
            "cells that are within its map, which counts words from 0, and that no mask closes"
            if pattern.cells
            else "words that stand in the text and that attention of one kind joins, or for "
            "“itself”, if you mean a word's own place"
        )
        raise InputError(f"Nothing fits {quoted(str(pattern))}: ask for {what}.")
    return result


def _of_words(pattern: Pattern, map: AttentionMap) -> Tensor:
    """The cells of words or of a place: bool [R, C]."""
    rows, columns = _matches(map.rows, pattern.query), _matches(map.columns, pattern.key)
    result = rows[:, None] & (_placed(pattern.place, map) if pattern.place else columns)
    if _is_same(map) and pattern.query and pattern.key:
        result.fill_diagonal_(False)  # a word's own cell is the place “itself”
    return result


def _drawn(pattern: Pattern, map: AttentionMap) -> Tensor:
    """The cells that are asked for one by one: bool [R, C]; none where one is beyond the map."""
    result = torch.zeros(len(map.rows), len(map.columns), dtype=torch.bool)
    if all(row < len(map.rows) and column < len(map.columns) for row, column in pattern.cells):
        for row, column in pattern.cells:
            result[row, column] = True
    return result


def cells_at(spot: Spot, recording: Recording) -> dict[str, Cells]:
    """The same of a spot."""
    map = read_words(recording, spot.kind)
    rows, columns = (
        torch.tensor([not of.isdisjoint(group) for group in groups])
        for of, groups in (
            (set(spot.queries), map.row_groups),
            (set(spot.keys), map.column_groups),
        )
    )
    rows = rows if spot.queries else _matches(map.rows, "")
    if layers := _open(map, rows[:, None] & columns):
        return {spot.kind: Cells(map, layers, is_one=False)}
    raise InputError(CLOSED)


def read_words(recording: Recording, kind: str) -> AttentionMap:
    """The map of a kind of attention that questions are about: by words."""
    return read(recording, kind, Reading(words=True))


def open_cells(map: AttentionMap) -> Tensor:
    """The cells that can be asked for: bool [R, C]."""
    every = torch.ones(len(map.rows), len(map.columns), dtype=torch.bool)
    layers = [layer.any(0) for layer in _open(map, every)]
    return torch.stack(layers).any(0) if layers else ~every


def countable(pattern: Pattern, recording: Recording) -> Pattern | None:
    """The pattern that `over` can count on other sentences; None: cells that are none there.

    Cells are one where they are a diagonal, the first column or the end's, all of one word, or a
    single one, which is that of its two words. Raises InputError where the text has no such cells.
    """
    if not pattern.cells:
        return pattern
    kind, map = next((kind, each.map) for kind, each in cells_of(pattern, recording).items())
    rows, columns = ({*side} for side in zip(*pattern.cells, strict=True))
    keys, is_same = ({map.columns[column].piece for column in columns}, _is_same(map))
    offsets = {column - row for row, column in pattern.cells}
    if len(pattern.cells) == 1 and not (is_same and rows == columns):
        return Pattern(map.rows[min(rows)].piece, min(keys), kind=kind)
    if is_same and len(offsets) == 1:
        return Pattern(place=place_at(min(offsets)), kind=kind)
    if columns == {0}:
        return Pattern(place="first", kind=kind)
    last = n_words(map.columns) - 1
    if columns == {last} and map.columns[last].special:
        return Pattern(place="end", kind=kind)
    return Pattern(key=min(keys), kind=kind) if len(keys) == 1 else None


def _is_same(map: AttentionMap) -> bool:
    """Rows and columns are of one text."""
    return map.attention.is_same


def _open(map: AttentionMap, are: Tensor) -> tuple[Tensor, ...]:
    """These cells [R, C] in each layer, without what a mask closes; () where none is left."""
    allowed = [map.allowed(layer) for layer in range(map.n_layers)]
    layers = tuple(are & each & (each.sum(-1, keepdim=True) > 1) for each in allowed)
    return layers if any(each.any() for each in layers) else ()


def _matches(words: Sequence[Token], word: str) -> Tensor:
    """The words that are one of these, in any case; any that is not special, where it is empty."""
    if not word:
        return torch.tensor([not each.special for each in words])
    of = {bare(each) for each in words_of(word)}
    return torch.tensor([bare(each.piece) in of for each in words])


def bare(word: str) -> str:
    """A word without the sign of its space, in lower case."""
    return normalize("NFKC", word).strip(" ▁Ġ").casefold()


def _placed(place: str, map: AttentionMap) -> Tensor:
    """The cells of a place: bool [R, C]."""
    n_rows, n_columns = len(map.rows), n_words(map.columns)
    result = torch.zeros(n_rows, n_columns, dtype=torch.bool)
    if place == "first":
        result[:, 0] = True
    elif place == "end":
        result[:, -1] = map.columns[n_columns - 1].special
    elif _is_same(map) and abs(offset := offset_of(place) or 0) < len(result):
        result.diagonal(offset).fill_(True)
    return F.pad(result, (0, len(map.columns) - n_columns))
