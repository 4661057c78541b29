"""Word alignments read from attention and from files, and how far the one is from the other.

From pieces to words: what a word of the target gives a word of the source is the sum over the
source word's pieces and the mean over the rows of the target word's pieces; a piece belongs to the
word that holds its first character; special tokens belong to no word. Every target word is linked
to the source word that it gives most; where the special tokens together get more, to none.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count
from unicodedata import normalize

import torch
from torch import Tensor

from transformer.analysis.reading import Reading, read
from transformer.field_docs import fields_in_help
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.refusal import items_of, quoted
from transformer.token import Token
from transformer.tokenizer import plain
from transformer.words import characters, text_words

Link = tuple[int, int]
"""A source word and a target word, counted from 0."""
Links = frozenset[Link]


@dataclass(frozen=True)
class AlignedPair:
    """An English sentence, its German translation, and which words people linked."""

    source: str
    target: str
    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    sure: frozenset[Link]
    possible: frozenset[Link]
    """The sure ones among them."""


ROWS = {"produced": "row of the word it writes", "read": "row of the word it has read"}


@fields_in_help
@dataclass(frozen=True)
class Reader:
    """One way to read an alignment from cross-attention."""

    rows: str
    """A row belongs to the word it "produced" or to the one it "read", as in `Reading.rows`."""
    layer: int
    head: int | None
    """None: the mean over heads, or the one map of a lens that makes one per layer."""
    lens: str = "weight"
    """The name of what is read of a map, as in `Reading.lens`: as a rule its weights."""

    @property
    def name(self) -> str:
        return f"L{self.layer}" if self.head is None else f"L{self.layer} H{self.head}"


ReaderPlace = Reader | tuple[str, int, int | None]
"""A reader, or its rows, layer and head."""


def reader_of(place: ReaderPlace) -> Reader:
    """The reader that is asked for. Raises InputError for what is none.

    >>> reader_of(("read", 0, 6)).name
    'L0 H6'
    """
    parts = items_of(place) or []
    reader = Reader(*parts) if len(parts) == 3 else place
    if not isinstance(reader, Reader) or reader.rows not in [*ROWS]:
        raise InputError(
            'A reader is rows, layer and head, as ("read", 0, 6) or ("produced", 2, None), or one '
            f"of an alignment's scores; {quoted(place)} is none."
        )
    return reader


def error_rate(alignments: Iterable[Iterable[Link]], gold: Iterable[AlignedPair]) -> float:
    """Alignment error rate in percent over all pairs together, 0 is best (Och and Ney 2003):
    1 - (|A and S| + |A and P|) / (|A| + |S|), found A, sure S, possible P with S among them.
    """
    right = total = 0
    for links, pair in zip(alignments, gold, strict=True):
        unique = set(links)
        right += len(unique & pair.sure) + len(unique & pair.possible)
        total += len(unique) + len(pair.sure)
    return 100 * (1 - right / total) if total else 0.0


def diagonal(pair: AlignedPair) -> Links:
    """Every target word linked to the source word at the same share of its sentence."""
    n_source, n_target = len(pair.source_words), len(pair.target_words)
    return frozenset(((2 * j + 1) * n_source // (2 * n_target), j) for j in range(n_target))


def anchored(source: str, target: str) -> AlignedPair:
    """Link the words and signs that occur once in each of two texts: names, numbers, commas.

    The sign that ends both is left out: many heads that align nothing rest on it.
    """
    sides = tuple(text_words(source)), tuple(text_words(target))
    once = {word for word in sides[0] if sides[0].count(word) == sides[1].count(word) == 1}
    links = frozenset((sides[0].index(word), sides[1].index(word)) for word in once)
    links -= {(len(sides[0]) - 1, len(sides[1]) - 1)}
    return AlignedPair(source, target, *sides, links, links)


def words_of_pieces(tokens: Sequence[Token], words: Sequence[str]) -> list[int | None]:
    """Find the word of each token, by number; None for special and unknown tokens.

    Raises ValueError where the pieces do not spell the words.
    """
    lengths = [len(_spelled(word)) for word in words]
    ends = list(accumulate(lengths))
    places: list[int | None] = []
    start = 0
    for token, added in zip(tokens, characters(tokens), strict=True):
        is_in_text = not token.special and not token.unknown
        places.append(bisect_right(ends, start) if is_in_text else None)
        start += len(_spelled(added)) if is_in_text else 0
    if start != ends[-1] or not all(lengths):
        raise ValueError(f"the pieces do not spell the words “{' '.join(words)}”.")
    return [None if place is None else min(place, len(words) - 1) for place in places]


def _spelled(text: str) -> str:
    """Spell a text's characters as our tokenizers do, without spaces."""
    return normalize("NFKC", plain(text)).replace("▁", "").replace(" ", "")


def word_links(recording: Recording, layer: int, head: int) -> Links:
    """Return what one head of cross-attention links, by the words that the pieces make.

    Signs are words; special tokens are none. Raises InputError where there is no cross-attention.
    """
    if "cross" not in recording.attentions:
        raise InputError("Words are aligned by cross-attention only.")
    map = read(recording, "cross", Reading(words=True))
    rows, columns = _numbered(map.rows), _numbered(map.columns)
    if all(word is None for word in rows) or all(word is None for word in columns):
        return frozenset()
    return links_of(map.values(layer, head)[None], rows, columns)[0]


def _numbered(words: Iterable[Token]) -> list[int | None]:
    counter = count()
    return [None if word.special else next(counter) for word in words]


def links_of(
    values: Tensor, rows: Sequence[int | None], columns: Sequence[int | None]
) -> list[Links]:
    """values [N, Q, K] -> N alignments.

    rows, columns: the target word of each row and the source word of each column, None for none.
    """
    n_target, n_source = (1 + max(w for w in side if w is not None) for side in (rows, columns))
    most, _ = largest_shares(values, rows, columns, n_target, n_source)
    return [
        frozenset((i, j) for j, i in enumerate(chosen) if i < n_source) for chosen in most.tolist()
    ]


def largest_shares(
    values: Tensor,
    rows: Sequence[int | None],
    columns: Sequence[int | None],
    n_target: int,
    n_source: int,
) -> tuple[Tensor, Tensor]:
    """values [N, Q, K] -> the source word that each of the target's words gives most, and what it
    gives: [N, n_target] each. n_source: the special tokens, or the word has no row.

    rows, columns: as `links_of` has them.
    """
    shares = values.double() @ _members(columns, n_source + 1)  # [N, Q, words and none]
    of_row = _members(rows, n_target + 1)[:, :-1]
    n_rows = of_row.sum(0)
    means = (of_row / n_rows.clamp_min(1)).mT @ shares  # [N, target words, source words and none]
    share, most = means.max(-1)
    return most.masked_fill(n_rows == 0, n_source), share


def _members(words: Sequence[int | None], n: int) -> Tensor:
    """[tokens, n]: 1 where a token belongs to a word; those of no word belong to the last."""
    places = torch.tensor([n - 1 if word is None else word for word in words])
    return torch.nn.functional.one_hot(places, n).double()


# Alignments that people made, as files of the field have them.

Gold = tuple[Links, Links]
"""The sure links of a pair, and the possible ones, the sure ones among them."""
_PHARAOH = re.compile(r"([0-9]{1,6})([-?pP])([0-9]{1,6})")
_NAACL = re.compile(r"([0-9]{1,9}) ([0-9]{1,6}) ([0-9]{1,6})( [SP])?( [0-9.]+)?")


def read_gold(
    lines: Sequence[str], n: int, base: int | None = None, is_turned: bool = False
) -> list[Gold]:
    """Read the links of n pairs, in the form of either kind of file. Raises InputError.

    Pharaoh's has a line for each pair: "0-0 1-2" are sure, "3?4" and "3p4" possible, and words are
    counted from 0. That of NAACL 2003 (Mihalcea and Pedersen) has one for each link: the number of
    a pair, a word of its source, one of its target, S or P; all are counted from 1, and 0 is no
    word. base: what words are counted from, where it is another; is_turned: the target's word
    stands first.
    """
    whole = [" ".join(line.split()) for line in lines]
    is_naacl = any(map(_NAACL.fullmatch, whole))
    base = (1 if is_naacl else 0) if base is None else base
    sure: list[set[Link]] = [set() for _ in range(n)]
    possible: list[set[Link]] = [set() for _ in range(n)]
    of_links = _naacl(whole) if is_naacl else _pharaoh(whole, n)
    for number, a, b, is_sure in of_links:
        if not 1 <= number <= n:
            raise InputError(
                f"The gold alignment has a link of pair {number:,}, and there are {n:,}."
            )
        if is_naacl and base and 0 in (a, b):
            continue
        link = (b - base, a - base) if is_turned else (a - base, b - base)
        possible[number - 1].add(link)
        if is_sure:
            sure[number - 1].add(link)
    return [(frozenset(a), frozenset(b)) for a, b in zip(sure, possible, strict=True)]


def _pharaoh(lines: Sequence[str], n: int) -> Iterator[tuple[int, int, int, bool]]:
    lines = lines[: max(n, len(lines) - (not lines[-1]))] if lines else lines
    if len(lines) != n:
        raise InputError(f"The gold alignment has {len(lines):,} lines for {n:,} pairs.")
    for number, line in enumerate(lines, 1):
        for link in line.split():
            match = _PHARAOH.fullmatch(link)
            if match is None:
                raise InputError(
                    f"Line {number:,} of the gold alignment has {quoted(link)}: write "
                    "sure links as 0-1 and possible ones as 0?1 or 0p1."
                )
            yield number, int(match[1]), int(match[3]), match[2] == "-"


def _naacl(lines: Sequence[str]) -> Iterator[tuple[int, int, int, bool]]:
    for at, line in enumerate(lines, 1):
        match = _NAACL.fullmatch(line)
        if match is None and line:
            raise InputError(
                f"Line {at:,} of the gold alignment is {quoted(line)}, and the others are a pair, "
                "a word of its source, one of its target, and S or P."
            )
        if match is not None:
            yield int(match[1]), int(match[2]), int(match[3]), match[4] != " P"


def check_gold(gold: Gold, source: Sequence[str], target: Sequence[str], number: int) -> None:
    """Raise InputError where a link leads to no word of a pair."""
    for i, j in gold[1]:
        if not (0 <= i < len(source) and 0 <= j < len(target)):
            raise InputError(
                f"The gold alignment of pair {number:,} links words {i} and {j}, from 0, of "
                f"{len(source)} and {len(target)}: say what its words are counted from, or that "
                "the target's stand first."
            )
