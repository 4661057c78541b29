"""Inside one cell: from q and k to this key's share of the head's output, with real numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.cell import Cell, inside
from transformer.analysis.reading import AttentionMap, Reading, Selection, strongest_weight
from transformer.decoding import Decoding
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.token import Token
from viz.components.kit.browser import Component, envelope, pack, pieces
from viz.components.kit.picture import known_map
from viz.components.kit.sync import mountable
from viz.labels import kind_name, number, percent, worded
from viz.map_words import capitalised
from viz.sentence import Wording, sentence, wording
from viz.theme import Theme

N_COMPETITORS = 20
"""The strongest keys of a longer row that are shown each by itself, with this one; the rest are one
bar."""
READABLE = (0.0, 10.0)
"""The range of the largest score of a row; outside, scores are taken as their distance from it:
e^s would have too many digits, or none, before the point."""

SAYS: Mapping[str, str] = {
    "open": "{cell} Inside: {dot}, {place}, {share} of the head's output",
    "masked": "{cell} Inside: {dot}, but the mask forbids this key: weight 0",
    "dot": "q·k {dot} × {scale}{bias} = {score}",
    "bias": " + bias {bias}",
    "place": "{rank} of {n} scores",
    "only": "the only score",
    "largest": "the largest",
    "rank": "rank {rank}",
    "scale": "1/√{d_key}",
}
"""All that is said of a cell beside its sentence, with the places of its numbers."""

CELL_STEPS = Component("cell_steps")
cell_steps = mountable(CELL_STEPS)
"""on_cell: query and key of the competitor that was clicked; on_turn: 1 for the next head, -1 for
the one before.
"""


@dataclass(frozen=True)
class CellSteps:
    """One cell of a head from inside: the plain weight, whatever is chosen to read maps by."""

    selection: Selection
    cell: tuple[int, int] | None = None
    """Positions of query and key; None: the head's largest weight."""
    rows: Literal["produced", "read"] = "produced"
    """The name of a row of cross-attention, as a Reading has it."""
    words: bool = False
    """The names of tokens are those that stand beside pictures of words."""
    component: ClassVar[Component] = CELL_STEPS

    def title(self, recording: Recording) -> str:
        name = f"{capitalised(kind_name(self.selection.kind))}, {self.selection.name(recording)}"
        where = "strongest cell" if self.cell is None else "query {} and key {}".format(*self.cell)
        return f"{name}, {where}"

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        cell, map = self._inside(recording)
        query_token, key_token = map.rows[cell.query], map.columns[cell.key]
        names = worded if self.words else _itself
        keys = [names(token) for token in map.columns]
        return pack_cell(cell, names(query_token), names(key_token), keys, wording(map))

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        """The map that the cell is of."""
        kind, layer, head = astuple(self.selection)
        return {kind: known_map(recording, kind, Reading(rows=self.rows), layer, head)}

    def data(self, payload: bytes, theme: Theme) -> bytes:
        """With the colours of what is above and below 0."""
        return envelope(payload, theme, signs={"positive": theme.ink, "negative": theme.contrast})

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        cell, map = self._inside(recording)
        return describe(cell, map.rows[cell.query], map.columns[cell.key], wording(map))

    def in_row(self, recording: Recording) -> list["CellSteps"]:
        """The cells of the same row that a click in this picture opens."""
        cell, _ = self._inside(recording)
        return [replace(self, cell=(cell.query, key)) for key in shown_keys(cell)]

    def _inside(self, recording: Recording) -> tuple[Cell, AttentionMap]:
        kind, layer, head = astuple(self.selection)
        map = self.maps(recording)[kind]
        query, key = self.cell or strongest_weight(map.attention, layer, head)
        check_position("query", query, len(map.rows), kind)
        check_position("key", key, len(map.columns), kind)
        result = inside(recording, kind, layer, head, query, key)
        return replace(result, layer=map.attention.number(layer)), map


def check_position(what: str, number: int, n: int, kind: str) -> None:
    """Raises InputError where a number is not one of 0 .. n-1."""
    if number not in range(n):
        there = "only 0" if n == 1 else f"0 to {n - 1}"
        raise InputError(f"There is no {what} {number!r}: {kind} has {there}.")


def _itself(token: Token) -> Token:
    return token


def pack_cell(
    cell: Cell,
    query_token: Token,
    key_token: Token,
    keys: Sequence[Token],
    words: Wording,
) -> bytes:
    """All stages, as float32.

    keys: the tokens of the row's K keys. words: what is said of its cells.
    Arrays: q, k, products, running f4 [d_key]; value, part, output f4 [d_value]; scores, weights
    f4 [K]; allowed u1 [K]; shown i4: the keys that stand by themselves in the softmax.
    """
    indices = shown_keys(cell)
    shift = _shift(cell)
    header = {
        "layer": cell.layer,
        "head": cell.head,
        "cell": [cell.query, cell.key],
        "query_token": pieces([query_token])[0],
        "sentence": asdict(words),
        "labels": pieces(keys[i] for i in indices),
        "rest": _rest(cell, indices),
        "dot": cell.dot,
        "scale": cell.scale,
        "scale_name": _scale_name(cell),
        "bias": cell.bias,
        "score": cell.score,
        "is_masked": cell.is_masked,
        "n_allowed": cell.n_allowed,
        "shift": shift,
        "exp": 0.0 if cell.is_masked else math.exp(cell.score - shift),
        "exp_sum": float((cell.scores[cell.allowed].double() - shift).exp().sum()),
        "weight": cell.weight,
        "share": cell.share,
        "percent": percent(cell.share, 0),
        "share_sum": float(cell.shares.double().sum()),
        "norms": cell.norms,
        "says": describe(cell, query_token, key_token, words),
    }
    vectors = (cell.q, cell.k, cell.products, cell.running, cell.value, cell.part, cell.output)
    return pack(
        header,
        *map(_array, (*vectors, cell.scores, cell.weights)),
        cell.allowed.numpy().astype("|u1"),
        np.array(indices, "<i4"),
    )


def describe(cell: Cell, query_token: Token, key_token: Token, words: Wording) -> str:
    """Describe the picture for those who do not see it."""
    weight = math.nan if cell.is_masked else cell.weight
    start = sentence(words, query_token, key_token, cell.layer, cell.head, weight, is_quoted=True)
    dot = SAYS["dot"].format(
        dot=number(cell.dot),
        scale=number(cell.scale, 4),
        bias=SAYS["bias"].format(bias=number(cell.bias)) if cell.bias else "",
        score=number(cell.score),
    )
    if cell.is_masked:
        return SAYS["masked"].format(cell=start, dot=dot)
    rank = SAYS["largest"] if cell.rank == 1 else SAYS["rank"].format(rank=cell.rank)
    place = SAYS["place" if cell.n_allowed > 1 else "only"].format(rank=rank, n=cell.n_allowed)
    return SAYS["open"].format(cell=start, dot=dot, place=place, share=percent(cell.share, 0))


def shown_keys(cell: Cell) -> list[int]:
    """The keys that the softmax names, in their order: allowed ones, and this one in any case."""
    competitors = cell.allowed.nonzero().flatten().tolist()
    if len(competitors) > N_COMPETITORS + 1:
        by_weight = sorted(competitors, key=lambda i: -float(cell.weights[i]))
        competitors = by_weight[:N_COMPETITORS]
    return sorted({*competitors, cell.key})


def _rest(cell: Cell, keys: list[int]) -> tuple[int, float]:
    """Count the allowed keys that are not shown, and add their weights together."""
    others = cell.allowed.clone()
    others[keys] = False
    return int(others.sum()), float(cell.weights[others].double().sum())


def _shift(cell: Cell) -> float:
    """Return the number that every score loses before e^s; the softmax stays the same."""
    if cell.n_allowed == 0:
        return 0.0
    largest = float(cell.scores[cell.allowed].max())
    return 0.0 if READABLE[0] <= largest <= READABLE[1] else largest


def _scale_name(cell: Cell) -> str:
    """1/√d where the scale is that; empty otherwise."""
    d_key = len(cell.q)
    is_root = math.isclose(cell.scale, d_key**-0.5, rel_tol=1e-6)
    return SAYS["scale"].format(d_key=d_key) if is_root else ""


def _array(tensor: Tensor) -> NDArray[np.float32]:
    array: NDArray[np.float32] = tensor.numpy()
    return array
