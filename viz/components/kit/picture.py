"""The picture as one frozen value that the page, the preview, the notebook and figures make."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.cell import parts
from transformer.analysis.metrics.metric import Metric
from transformer.analysis.metrics.metrics import computed, metrics_of
from transformer.analysis.reading import (
    AttentionMap,
    Group,
    Reading,
    Selection,
    block_of_sides,
    farthest,
    largest_size,
    lenses,
    maxima,
    read,
    rows_with_choice,
    strongest_cell,
    strongest_cells,
)
from transformer.decoding import Decoding
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.data import place_of
from transformer.refusal import quoted
from transformer.token import second_at
from transformer.two_models.head_changes import counterparts
from viz.components.kit.browser import Component, digest, pieces
from viz.labels import kind_name
from viz.map_words import column_title, row_title
from viz.sentence import wording

# The picture as one frozen value that the page, the preview, the notebook and files share.
#
# It says what is shown, not of which text and not where; so (request, picture) names a payload.

Twin = Mapping[str, Sequence[int]] | None
"""The tokens of a picture that stand for those of the one beside it, as `sides.twin` gives them;
None: the picture stands alone."""

NOTHING_LEFT = "Nothing to show: all rows or columns are special tokens, and those are hidden."


class Picture(Protocol):
    """A hashable dataclass whose fields decide the payload."""

    @property
    def component(self) -> Component:
        """The component that draws it in the browser."""

    def title(self, recording: Recording) -> str:
        """The heading on a page of its own."""

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        """The packed numbers, the same in every theme. Raises ValueError, in one sentence."""

    @property
    def data(self) -> Callable[..., bytes]:
        """(payload, theme, **state) -> the component's data; state: what moves over a payload."""

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        """One true sentence about it, for those who do not see it. state: as of `data`."""


@runtime_checkable
class OfMaps(Protocol):
    """A picture whose cells are those of maps."""

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        """Each kind of attention -> its map. Raises as `known_map`."""


class NothingLeft(ValueError):
    """There is nothing to see: a reading leaves no row, or a study came to too little."""


def shown_map(
    recording: Recording, kind: str, reading: Reading, layer: int = 0, head: int = 0
) -> AttentionMap:
    """The map of a picture, with something to draw. Raises as `known_map`, and NothingLeft."""
    map = known_map(recording, kind, reading, layer, head)
    if not (map.rows and map.columns):
        raise NothingLeft(NOTHING_LEFT)
    return map


def known_map(
    recording: Recording, kind: str, reading: Reading, layer: int = 0, head: int = 0
) -> AttentionMap:
    """Raises InputError where a recording has no such kind or lens, and NoSuchHead."""
    check_kind(recording, kind)
    check_name("lens", reading.lens, list(lenses()))
    place_in(recording, kind, layer, head)
    return read(recording, kind, reading)


def check_kind(recording: Recording, kind: str) -> None:
    """Raises InputError where a recording has no such kind of attention, or none at all."""
    if not recording.attentions:
        raise InputError("This recording holds no attention: there is nothing to draw.")
    check_name("kind of attention", kind, list(recording.attentions))


def kind_in(recording: Recording, kind: str | None) -> str:
    """The kind that is asked for, or the first that there is. Raises as `check_kind`."""
    kind = next(iter(recording.attentions), "") if kind is None else kind
    check_kind(recording, kind)
    return kind


def head_in(recording: Recording, kind: str | None, layer: int, head: int) -> Selection:
    """The head that is asked for, by its place from 0. Raises InputError and NoSuchHead."""
    kind = kind_in(recording, kind)
    return Selection(kind, *place_in(recording, kind, layer, head))


def place_in(recording: Recording, kind: str, layer: int, head: int) -> tuple[int, int]:
    """Layer and head of a kind that there is, as places from 0. Raises NoSuchHead."""
    of = recording.attentions[kind]
    return place_of("layer", layer, of.n_layers, kind), place_of("head", head, of.n_heads, kind)


def check_name(what: str, name: str, names: Sequence[str]) -> None:
    """Raises InputError where a name is not known."""
    if name not in names:
        raise InputError(f"There is no {what} {quoted(name)} here: there is {', '.join(names)}.")


def strongest(values: Tensor, allowed: Tensor) -> dict[str, Any] | None:
    """The strongest cell of a map [R, C]; None where all are masked."""
    cell = strongest_cell(values, allowed)
    if cell is None:
        return None
    return {"row": cell[0], "column": cell[1], "value": float(values[cell])}


# The tokens of a map's rows and columns in the page's two lines, and where a pair's texts meet.

Side = Mapping[str, int]
"""Side, "source" or "target" -> the position in the model's text of that side's first token."""


def sides(map: AttentionMap) -> dict[str, Any]:
    """{"rows", "columns"} -> side -> for each position of that side its row or column; -1: none.

    "writes": whether the rows of the target wrote its tokens, from a source that stands apart. A
    token's row is the one that bears its name: the row that wrote it where rows are named by what
    they wrote, else the row that read it. A row of several pieces belongs to each of them.
    """
    rows, columns = starts(map)
    return {
        "rows": _places(rows, map.row_groups),
        "columns": _places(columns, map.column_groups),
        "writes": map.is_produced and not map.recording.n_prompt,
    }


def second(map: AttentionMap) -> dict[str, list[int]]:
    """{"second": the row and the column that a pair's second text begins at}; 0: the first one, or
    none. Empty where neither has a line before it.
    """
    places = [second_at(map.rows) or 0, second_at(map.columns) or 0]
    return {"second": places} if any(places) else {}


def twin(page: Recording, own: Recording) -> dict[str, list[int]]:
    """Return side -> for each token of the page its counterpart in a picture's text; -1: none.

    A side whose tokens are the same is left out.
    """
    texts = {"source": (page.source, own.source), "target": (page.target, own.target)}
    return {side: counterparts(*both) for side, both in texts.items() if both[0] != both[1]}


def starts(map: AttentionMap) -> tuple[Side, Side]:
    """Return the starts of rows and columns. A target is read one further than it is written."""
    if map.attention.produced is None:
        return {"source": 0}, {"source": 0}
    if n_prompt := map.recording.n_prompt:
        text = {"source": 0, "target": n_prompt}
        return text, text
    target = {"target": 0 if map.is_produced else 1}
    return target, {"source": 0} if map.attention.is_cross else target


def _places(starts: Side, groups: Sequence[Group]) -> dict[str, list[int]]:
    place = {i: number for number, group in enumerate(groups) for i in group}
    ends = dict(zip(starts, [*list(starts.values())[1:], max(place, default=-1) + 1], strict=True))
    return {side: [place.get(i, -1) for i in range(starts[side], ends[side])] for side in starts}


# The header of one head's map, as the scripts that draw it read it: now, and in a training.


def map_header(map: AttentionMap) -> dict[str, Any]:
    """Its tokens and their places in the page, its words and its lens."""
    rows, columns = pieces(map.rows), pieces(map.columns)
    return {
        "kind": map.kind,
        "title": kind_name(map.kind),
        "rows": rows,
        "columns": columns,
        "tokens": digest(json.dumps([rows, columns]).encode()),
        "titles": [row_title(map.is_produced), column_title(map)],
        "sentence": asdict(wording(map)),
        "lens": {
            "name": map.lens.name,
            "title": map.lens.title,
            "scale": map.lens.scale,
            "per_head": map.lens.per_head,
        },
        "sides": sides(map),
    }


# Every head of a map as a small picture, with its strongest cell and its metrics.

MAX_PIXELS = 64
"""Pixels of a thumbnail's side: longer sentences are pooled."""
MASKED, FULL = 255, 254
"""The byte of a masked cell, and of the top of the scale."""
MIDDLE = FULL // 2
"""The byte of 0 on a scale with two sides."""


@dataclass(frozen=True, eq=False)
class Pictures:
    """All heads of a map."""

    thumbnails: NDArray[np.uint8]
    """[L, H, R', C'], at most 64 a side; MASKED where every cell of a pixel is."""
    strongest: NDArray[np.int32]
    """[L, H, 2]: row and column of the largest value; of the farthest from 0 on two sides."""
    value: NDArray[np.float32]
    """[L, H]: what stands there; NaN in a map without cells, or with masked ones only."""
    metrics: NDArray[np.float32]
    """[M, L, H], of the weights."""
    bound: float
    """The top of the scale, as `AttentionMap.bounds` has it."""
    block: tuple[int, int]
    """The cells that a pixel covers, of each axis."""


def pictures(map: AttentionMap, metrics: Mapping[str, Metric]) -> Pictures:
    """Thumbnails, strongest cells and metrics, each weight computed once."""
    shape = (map.n_layers, map.n_heads)
    n = map.n_layers * map.n_heads
    block = block_of_sides(len(map.rows), len(map.columns), MAX_PIXELS)
    size = -(-len(map.rows) // block[0]), -(-len(map.columns) // block[1])
    signed = map.lens.scale == "signed"
    # Made first: small tensors made between large ones would keep the memory of these in pieces.
    single = torch.float32
    levels, masked = torch.empty(n, *size, dtype=single), None
    cells, peaks = torch.empty(n, 2, dtype=torch.int32), torch.empty(n, dtype=single)
    numbers = torch.empty(len(metrics), n, dtype=single)
    first, mask, closed, rows = 0, None, None, None
    for part in parts(map, bool(metrics)):
        some = slice(first, first + len(part.values))
        # Masked cells are 0 and so never win over a finding.
        levels[some] = (farthest if signed else maxima)(part.values, block)
        if part.allowed is not mask:  # most heads share one
            mask = part.allowed
            closed = None if mask is None else ~maxima(mask, block)
            rows = None if mask is None else rows_with_choice(mask)
        if closed is not None:
            masked = torch.zeros(levels.shape, dtype=torch.bool) if masked is None else masked
            masked[some] = closed
        cells[some], peaks[some] = _strongest(part.values, rows, signed)
        if mask is not None:
            peaks[some].masked_fill_(~mask.flatten(1).any(1), torch.nan)
        if metrics:
            numbers[:, some] = computed(metrics, part.weights)
        first = some.stop
        del part  # before the next is made
    bound = 1.0 if map.lens.scale == "share" else largest_size(levels) or 1.0
    is_number = ~levels.isnan()
    levels = _shaded(levels, bound, signed).where(is_number, MASKED)
    if masked is not None:
        levels.masked_fill_(masked, MASKED)
    return Pictures(
        levels.to(torch.uint8).view(*shape, *size).numpy(),
        cells.view(*shape, 2).numpy(),
        peaks.view(shape).numpy(),
        numbers.view(-1, *shape).numpy() if metrics else np.zeros((0, *shape), np.float32),
        bound,
        block,
    )


def metrics_of_map(map: AttentionMap) -> dict[str, Metric]:
    """The metrics that apply; none where a map shows a whole layer, for they describe a head."""
    return metrics_of(map.attention) if map.lens.per_head else {}


def _shaded(levels: Tensor, bound: float, signed: bool) -> Tensor:
    """Values -> 0 to FULL: their square root, or evenly to both sides of the middle."""
    if signed:
        return (levels / bound * MIDDLE + MIDDLE).round_()
    return (levels / bound).clamp_(0, 1).sqrt_().mul_(FULL).round_()


def _strongest(values: Tensor, rows: Tensor | None, signed: bool) -> tuple[Tensor, Tensor]:
    """Each head's strongest cell [N, 2] as (row, column), and its value [N]; values: [N, R, C]."""
    n_heads = len(values)
    if not values[0].numel():
        return torch.zeros(n_heads, 2, dtype=torch.long), torch.full((n_heads,), torch.nan)
    cells = strongest_cells(values.abs() if signed else values, rows)
    return cells, values[torch.arange(n_heads), cells[:, 0], cells[:, 1]]
