"""The reading of an attention on screen: through which lens, and what its rows and columns are."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.analysis.lenses.lens import Lens
from transformer.checkpoint import About
from transformer.discover import discover
from transformer.field_docs import fields_in_help
from transformer.inputs import InputError
from transformer.models.family import Rows
from transformer.recording import Attention, Recording
from transformer.token import Token
from transformer.words import word_groups, word_piece

# Rows and columns that stand for several positions: their values, merged.

Group = tuple[int, ...]
"""Positions that one row or column stands for."""


def merge_largest(
    values: Tensor, is_open: Tensor, rows: tuple[Group, ...], columns: tuple[Group, ...]
) -> Tensor:
    """Keys by maximum, queries by mean, masked cells left out of both; 0 where all are masked."""
    values = values.masked_fill(~is_open, -torch.inf)  # else a masked 0 would beat what is below 0
    values = merge(values, columns, -1, "max")
    counted = merge(values.isfinite().float(), rows, -2, "mean")
    summed = merge(values.masked_fill(values.isinf(), 0.0), rows, -2, "mean")
    return torch.where(counted > 0, summed / counted, 0.0)


def merge(
    values: Tensor, groups: tuple[Group, ...], axis: int, how: Literal["sum", "max", "mean"]
) -> Tensor:
    """One slice for each group of slices along an axis: first members, then second ones, ..."""
    if groups == tuple((i,) for i in range(values.size(axis))):
        return values
    merged = _picked(values, (group[0] for group in groups), axis)
    for place in range(1, max(map(len, groups), default=0)):
        longer = [n for n, group in enumerate(groups) if len(group) > place]
        further = _picked(values, (groups[n][place] for n in longer), axis)
        so_far = _picked(merged, longer, axis)
        both = so_far.maximum(further) if how == "max" else so_far + further
        merged.index_copy_(axis, torch.tensor(longer), both)
    if how != "mean":
        return merged
    along = [1] * values.dim()
    along[axis] = -1
    return merged / torch.tensor([len(group) for group in groups]).view(along)


def _picked(values: Tensor, positions: Iterable[int], axis: int) -> Tensor:
    """Slices along an axis, in a new tensor: NumPy is ten times as fast at it along the last."""
    return torch.from_numpy(values.numpy().take(np.array(list(positions), dtype=np.intp), axis))


# The strongest cell of a head: the value farthest from 0, in a row that had a choice.


def rows_with_choice(allowed: Tensor) -> Tensor:
    """Rows among which the strongest cell is looked for: [..., R, C] -> [..., R].

    Rows that may attend to one key only are left out: their 1.0 is not a finding. Where every row
    is such a row, all count.
    """
    free = allowed.sum(-1) > 1
    return free | ~free.any(-1, keepdim=True)


def strongest_cells(sizes: Tensor, rows: Tensor | None) -> Tensor:
    """Row and column of each head's largest size: [N, R, C] -> [N, 2].

    sizes: none below 0. rows: as `rows_with_choice` gives them [N or 1, R]; None: all.
    """
    peaks = sizes.amax(-1)  # [N, R]
    if rows is not None:
        peaks = torch.where(rows, peaks, -1.0)
    row = peaks.argmax(-1)
    column = sizes[torch.arange(len(sizes)), row].argmax(-1)
    return torch.stack([row, column], -1)


def strongest_cell(values: Tensor, allowed: Tensor) -> tuple[int, int] | None:
    """Row and column of the value [R, C] farthest from 0; None where no open one is finite."""
    allowed = allowed & values.isfinite()  # some models compute NaN
    if not bool(allowed.any()):
        return None
    sizes = values.abs().masked_fill(~allowed, -1.0)
    row, column = strongest_cells(sizes[None], rows_with_choice(allowed)[None])[0].tolist()
    return row, column


def strongest_weight(
    attention: Attention,
    layer: int,
    head: int,
    queries: Sequence[int] | None = None,
    keys: Sequence[int] | None = None,
) -> tuple[int, int]:
    """Query and key of a head's largest weight.

    queries, keys: the positions looked at, such as those of two words; all when left out.
    """
    rows = list(range(len(attention.queries)) if queries is None else queries)
    columns = list(range(len(attention.keys)) if keys is None else keys)
    weights = attention.weights(layer, head)[rows][:, columns]
    free = rows_with_choice(attention.allowed(layer, head)[rows])
    row, column = strongest_cells(weights[None], free[None])[0].tolist()
    return rows[row], columns[column]


def largest_size(values: Tensor) -> float:
    """The largest absolute value that is finite; 0 where there is none."""
    finite = values[values.isfinite()]
    return float(finite.abs().max()) if finite.numel() else 0.0


# read(): how an attention is put on screen: through which lens, and what its rows and columns
# are.
#
# Every picture of heads takes the AttentionMap that this gives, and never asks how it was made.

Between = Literal["all", "a-b", "b-a", "a-a", "b-b"]
BETWEEN: dict[Between, str] = {
    "all": "all",
    "a-b": "A to B",
    "b-a": "B to A",
    "a-a": "within A",
    "b-b": "within B",
}
"""Cells of a sentence pair, by the texts of their query and of their key -> title."""


@fields_in_help
@dataclass(frozen=True)
class Reading:
    """A reader's choice: small and frozen, part of a cache's key."""

    lens: str = "weight"
    """The name of what is shown of a map: "weight", or another lens."""
    rows: Literal["produced", "read"] = "produced"
    """The name of a row of cross-attention: the token it was about to write, or had just read."""
    words: bool = False
    """True: pieces are merged to words."""
    special: Literal["shown", "hidden", "renormalised"] = "shown"
    """Special tokens: shown; left out; or left out and each row divided by what remains of it."""
    between: Between = "all"
    """The queries of one text of a sentence pair, and the keys of one; "all": both."""


OF_OUTPUT = ("the same in every layer and head: it is of the whole model",)
"""The note on a lens that says what written words depend on."""

PLAIN = Reading()
"""The weights as they are."""


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """One kind of attention, as it is read: values [H, R, C] for each layer."""

    recording: Recording
    kind: str
    reading: Reading
    lens: Lens
    rows: tuple[Token, ...]
    """R labels; a word is a Token with the id of its first piece."""
    columns: tuple[Token, ...]
    row_groups: tuple[Group, ...]
    """The query positions that each row stands for."""
    column_groups: tuple[Group, ...]
    """The key positions that each column stands for."""
    is_produced: bool
    """True: rows are named by the token that they wrote, instead of the one they read."""
    notes: tuple[str, ...] = field(default=())
    """Notes on what was merged, left out or renormalised: said beside every picture."""

    @property
    def attention(self) -> Attention:
        return self.recording.attentions[self.kind]

    @property
    def n_layers(self) -> int:
        return self.attention.n_layers

    @property
    def n_heads(self) -> int:
        """1 where a lens makes one map of a whole layer."""
        return self.attention.n_heads if self.lens.per_head else 1

    @property
    def is_plain(self) -> bool:
        """Tell whether values are the weights as they are, with a row and a column per token."""
        return self.lens.is_weights and self.reading == Reading(rows=self.reading.rows)

    def row_of(self, query: int) -> int | None:
        """The row that this query position belongs to; None where it is hidden."""
        return _place(self.row_groups, query)

    def column_of(self, key: int) -> int | None:
        """The column that this key position belongs to; None where it is hidden."""
        return _place(self.column_groups, key)

    def values(self, layer: int, head: int | None = None) -> Tensor:
        """[H, R, C], or one head's [R, C], at the cost of one; float32 on the CPU."""
        if head is not None:
            return self.only(head).values(layer)[0]
        return self._arranged(self.lens.compute(self.recording, self.kind, layer), layer)

    def only(self, head: int) -> "AttentionMap":
        """The map of one head, H = 1; a lens with one map per layer gives it for every head."""
        if not self.lens.per_head:
            return self
        attentions = {**self.recording.attentions, self.kind: self.attention.only(head)}
        return replace(self, recording=replace(self.recording, attentions=attentions))

    def allowed(self, layer: int, head: int | None = None) -> Tensor:
        """bool [H, R, C], or one head's [R, C], at the cost of one.

        A cell is masked only where every cell that it stands for is.
        """
        if head is not None:
            return self.only(head).allowed(layer)[0]
        merged = merge(self._open(layer).float(), self.column_groups, -1, "max")
        return merge(merged, self.row_groups, -2, "max") > 0

    def hidden_shares(self, layer: int) -> Tensor | None:
        """[H]: the share of each head's weight, in the rows that are shown, that is on the special
        tokens left out of its columns; None where no column is, or values are no shares.
        """
        places = {key for group in self.column_groups for key in group}
        keys = enumerate(self.attention.keys)
        left_out = [i for i, key in keys if key.special and i not in places]
        if self.reading.special == "shown" or self.lens.scale != "share" or not left_out:
            return None
        of_keys = self.lens.compute(self.recording, self.kind, layer)[..., left_out].sum(-1)
        rows = merge(of_keys[..., None], self.row_groups, -2, "mean")
        return rows.flatten(1).mean(-1) if self.row_groups else None

    def strongest(self, layer: int, head: int) -> tuple[int, int] | None:
        """Row and column of one head's strongest cell; None where every cell is masked."""
        return strongest_cell(self.values(layer, head), self.allowed(layer, head))

    @property
    def bounds(self) -> tuple[float, float]:
        """The two ends of the colour scale, the same for all layers and heads of this kind."""
        if self.lens.scale == "share":
            return 0.0, 1.0
        cache, name = _bounds.setdefault(self.recording, {}), (self.kind, self.reading, self.lens)
        if name not in cache:
            cache[name] = self._measured_bounds()
        return cache[name]

    def _measured_bounds(self) -> tuple[float, float]:
        layers = map(self.values, range(self.n_layers))
        bound = max(map(largest_size, layers), default=0.0) or 1.0
        return (-bound if self.lens.scale == "signed" else 0.0), bound

    def _open(self, layer: int) -> Tensor:
        """Mark the cells of the lens's own map that the masks leave open: bool [H, Q, K]."""
        allowed = self.attention.allowed(layer)
        return allowed if self.lens.per_head else allowed.any(0, keepdim=True)

    def _arranged(self, values: Tensor, layer: int) -> Tensor:
        """[H, Q, K] -> [H, R, C]: keys merged, queries averaged, then rows renormalised."""
        if self.lens.merge == "max" and self.reading.words:
            return merge_largest(values, self._open(layer), self.row_groups, self.column_groups)
        values = merge(values, self.column_groups, -1, "sum")
        values = merge(values, self.row_groups, -2, "mean")
        if self.reading.special != "renormalised" or self.lens.scale != "share":
            return values
        sums = values.sum(-1, keepdim=True)
        return torch.where(sums > 0, values / sums, values)


_bounds: WeakKeyDictionary[Recording, dict[tuple[str, Reading, Lens], tuple[float, float]]] = (
    WeakKeyDictionary()
)
"""All layers are computed for them, so they are kept as long as their recording is."""


def read(recording: Recording, kind: str, reading: Reading = PLAIN) -> AttentionMap:
    """The map of one kind of attention. Raises InputError, in a sentence, where a lens refuses."""
    lens = lenses()[reading.lens]
    refusal = lens.why_not(recording, kind)
    if refusal:
        raise InputError(refusal)
    attention = recording.attentions[kind]
    if reading.between != "all" and not is_pair(attention):
        reading = replace(reading, between="all")
    if lens.of_output:
        reading = replace(reading, rows="produced")
    is_produced = writes(attention) and reading.rows == "produced"
    queries = row_tokens(attention, reading)
    rows, columns = _groups(queries, reading), _groups(attention.keys, reading)
    hidden = (
        sum(map(len, groups)) < len(tokens)
        for groups, tokens in ((rows, queries), (columns, attention.keys))
    )
    notes = notes_on_hiding(reading, lens, *hidden)
    if reading.between != "all":
        of_query, of_key = reading.between.upper().split("-")
        rows = tuple(group for group in rows if attention.queries[group[0]].segment == of_query)
        columns = tuple(group for group in columns if attention.keys[group[0]].segment == of_key)
        notes = (*notes, _part(reading, lens))
    is_merged = any(len(group) > 1 for group in (*rows, *columns))
    return AttentionMap(
        recording=recording,
        kind=kind,
        reading=reading,
        lens=lens,
        rows=_names(tuple(queries), rows, reading.words),
        columns=_names(tuple(attention.keys), columns, reading.words),
        row_groups=rows,
        column_groups=columns,
        is_produced=is_produced,
        notes=(*(OF_OUTPUT if lens.of_output else notes_on_merging(lens, is_merged)), *notes),
    )


def lenses() -> dict[str, Lens]:
    """name -> lens, for all that there are: the plain weights first, then by name."""
    result: dict[str, Lens] = discover("transformer.analysis.lenses", "LENS")
    return {
        name: result[name] for name in sorted(result, key=lambda name: not result[name].is_weights)
    }


def merges_unasked(about: About) -> bool:
    """Tell whether words are shown unasked: not where single characters are all that it knows."""
    return about.tokenizer != "characters"


def is_pair(attention: Attention) -> bool:
    """Tell whether each row and each column is of one of two texts."""
    return all(token.segment for token in (*attention.queries, *attention.keys))


def writes(of: Attention | Rows) -> bool:
    """Tell whether a row may be named by what it wrote: in cross-attention, whose sides differ."""
    return of.produced is not None and of.queries != of.keys


def row_tokens(attention: Attention, reading: Reading = PLAIN) -> tuple[Token, ...]:
    """The tokens that rows are named by in every picture: read, or in cross-attention written."""
    is_produced = writes(attention) and reading.rows == "produced"
    return attention.produced if is_produced and attention.produced else attention.queries


def _place(groups: Sequence[Group], position: int) -> int | None:
    return next((place for place, group in enumerate(groups) if position in group), None)


def _groups(tokens: Sequence[Token], reading: Reading) -> tuple[Group, ...]:
    """Group positions that stand together; special tokens, which no word holds, may be left out."""
    groups = word_groups(tokens) if reading.words else tuple((i,) for i in range(len(tokens)))
    if reading.special == "shown":
        return groups
    return tuple(group for group in groups if not tokens[group[0]].special)


@lru_cache(maxsize=512)
def _names(
    tokens: tuple[Token, ...], groups: tuple[Group, ...], are_words: bool
) -> tuple[Token, ...]:
    """A token for each group; maps of one text are read many times for a page."""
    return tuple(_name(tokens, group, are_words) for group in groups)


def _name(tokens: Sequence[Token], group: Group, is_word: bool) -> Token:
    """A word needs no mark of the space before it."""
    members = [tokens[i] for i in group]
    piece = word_piece(members)
    bare = (is_word and piece.lstrip(" ▁")) or piece
    return Token(members[0].id, bare, members[0].special, segment=members[0].segment)


def notes_on_merging(lens: Lens, is_merged: bool) -> Iterator[str]:
    """Say how the pieces of words are merged; nothing where none are."""
    if is_merged:
        keys = "sum" if lens.merge == "sum" else "maximum"
        yield f"words: {keys} over key pieces, mean over query pieces"


def notes_on_hiding(
    reading: Reading, lens: Lens, hides_rows: bool, hides_keys: bool
) -> tuple[str, ...]:
    """Say what leaving special tokens out does to rows, if any are."""
    if reading.special == "shown":
        return ()
    if not hides_rows and not hides_keys:
        return ("no special tokens here to hide",)
    if not hides_keys:
        return ("special tokens hidden: no key among them, so rows are whole",)
    if lens.scale != "share":
        return ("special tokens hidden, values unchanged: only shares are renormalised",)
    if reading.special == "hidden":
        return ("special tokens hidden: rows sum to less than 1",)
    return ("special tokens hidden, rows renormalised",)


def _part(reading: Reading, lens: Lens) -> str:
    """Say which part of a pair's cells is read."""
    title = f"{BETWEEN[reading.between]} only"
    if lens.scale != "share":
        return title
    is_whole = reading.special == "renormalised"
    return f"{title}, rows renormalised" if is_whole else f"{title}: rows sum to less than 1"


# A large map as blocks of cells: the largest value of each block, or the one farthest from 0.

Block = tuple[int, int]
"""The numbers of rows and columns of cells in one block."""


def maxima(values: Tensor, block: Block) -> Tensor:
    """[N, R, C] -> [N, R', C'], each block's maximum; the last of a row or column may be smaller.

    Of booleans: whether any cell of a block is true.
    """
    for axis, size in ((1, block[0]), (2, block[1])):
        n = values.size(axis)
        if size == 1:
            continue
        whole = n - n % size
        largest = values.narrow(axis, 0, whole).unflatten(axis, (-1, size)).amax(axis + 1)
        if whole < n:
            rest = values.narrow(axis, whole, n - whole).amax(axis, keepdim=True)
            largest = torch.cat([largest, rest], axis)
        values = largest
    return values


def farthest(values: Tensor, block: Block) -> Tensor:
    """[N, R, C] -> [N, R', C']: each block's value that is farthest from 0, with its sign."""
    high, low = maxima(values, block), -maxima(-values, block)
    return torch.where(-low > high, low, high)


def located(
    values: Tensor, allowed: Tensor, block: Block, *, signed: bool = False
) -> tuple[Tensor, Tensor]:
    """Each block's largest allowed value [N, R', C'], NaN where none is, and which cell it is.

    values, allowed: [N, R, C]. signed: the value farthest from 0 instead. A block's cells are
    counted row by row.
    """
    sizes = (values.abs() if signed else values).masked_fill(~allowed, -torch.inf)
    largest, at = F.max_pool2d(sizes, block, ceil_mode=True, return_indices=True)
    row, column = at // values.size(2), at % values.size(2)
    result = values.flatten(1).gather(1, at.flatten(1)).view_as(largest)
    places = row % block[0] * block[1] + column % block[1]
    return result.masked_fill(largest == -torch.inf, torch.nan), places


def block_within(n_rows: int, n_columns: int, most: int, side: int | None = None) -> Block:
    """The block that makes a map small enough: one cell up to most x most cells.

    side: the rows and columns, at most, of what a larger map becomes; `most` when left out.
    """
    if n_rows * n_columns <= most**2:
        return 1, 1
    return block_of_sides(n_rows, n_columns, side or most)


def block_of_sides(n_rows: int, n_columns: int, side: int) -> Block:
    """The block with which neither axis keeps more than `side` blocks."""
    return max(1, -(-n_rows // side)), max(1, -(-n_columns // side))


# A head of a recording, by its place.


@dataclass(frozen=True)
class Selection:
    """One head of a recording."""

    kind: str
    layer: int
    head: int

    def attention(self, recording: Recording) -> Attention:
        return recording.attentions[self.kind]

    def __str__(self) -> str:
        return f"L{self.layer} H{self.head}"  # in the ids of figures; people read the name

    def name(self, recording: Recording) -> str:
        """Name it as the model itself counts its layers: "L2 H3"."""
        return f"L{self.attention(recording).number(self.layer)} H{self.head}"
