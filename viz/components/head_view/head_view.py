"""One layer's heads as lines between two columns of tokens: a line is a weight."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.reading import PLAIN, AttentionMap, Group, Reading, largest_size, lenses
from transformer.decoding import Decoding
from transformer.recording import Recording
from transformer.token import Token
from viz.components.kit.browser import Component, digest, envelope, pack, pieces
from viz.components.kit.picture import Twin, known_map, second, shown_map, sides
from viz.components.kit.sync import mountable
from viz.labels import bare_label, kind_name, kind_title
from viz.map_words import (
    capitalised,
    column_title,
    describe_heads,
    hidden_texts,
    hides,
    list_of,
    row_title,
)
from viz.sentence import wording
from viz.theme import Theme

MAX_DENSE = 800_000
"""Bytes up to which every value is sent: 12 heads of 128 x 128 tokens are."""
MAX_RANKED = 2_400_000
"""Bytes up to which the strongest keys of each row are sent, beyond that ..."""
KEYS = (4, 32)
"""... but never fewer keys per row than the first of these, nor more than the second."""
BYTES_A_KEY = 6

HEAD_VIEW = Component("head_view")
head_view = mountable(HEAD_VIEW)
"""on_view: {"heads", "pins", "lines"}: heads that are shown, none being a choice too; tokens that
are held; of each row the strongest lines, 0 being all.

on_cut: [head, row, column] of each line that was clicked. A pin is "q5" for row 5, "k3" for
column 3. on_turn: 1 for the next head, -1 for the one before.
"""


@dataclass(frozen=True)
class HeadView:
    """The heads of a layer as lines."""

    kind: str
    layer: int
    reading: Reading = PLAIN
    component: ClassVar[Component] = HEAD_VIEW

    def title(self, recording: Recording) -> str:
        name = f"L{recording.attentions[self.kind].number(self.layer)}"
        if lenses()[self.reading.lens].of_output:
            name = "the whole model"
        return f"{capitalised(kind_name(self.kind))}, {name}"

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        map = shown_map(recording, self.kind, self.reading, self.layer)
        return {map.kind: map}

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        (map,) = self.maps(recording).values()
        return pack_head_view(map, self.layer)

    def data(
        self,
        payload: bytes,
        theme: Theme,
        *,
        head: int,
        heads: tuple[int, ...] | None = None,
        pins: tuple[str, ...] = (),
        lines: int = 5,
        tool: str = "look",
        cuts: str = "",
        edits: Sequence[str] = (),
        off: Sequence[int] = (),
        changes: str = "edits",
        twin: Twin = None,
    ) -> bytes:
        """head: the chosen one; heads: those shown, `head` alone when left out; pins: held.

        lines: of each row the strongest so many, 0 being all. tool: with "arrows" a click on a
        line cuts it. cuts: what the edit that cuts a cell begins with, before its head, query and
        key. edits: all that is changed in the model. off: the heads of this layer that were off.
        changes: what a preview calls them: those of the page's answer, or of the one beside it.
        twin: how its tokens stand for those of the picture beside it.
        """
        return envelope(
            payload,
            theme,
            head=head,
            heads=[head] if heads is None else list(heads),
            pins=list(pins),
            lines=lines,
            tool=tool,
            cuts=cuts,
            edits=list(edits),
            off=list(off),
            changes=changes,
            **({} if twin is None else {"twin": twin}),
            ink=theme.ink,
            colours=theme.head_colours,
        )

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        """Say which heads are shown, how many of their lines, and which of them stand out."""
        map = known_map(recording, self.kind, self.reading, self.layer)
        heads, lines = state.get("heads"), state.get("lines", 0)
        if heads is None and "head" in state:
            heads = (state["head"],)
        text = describe_heads(map, [self.layer], heads)
        hidden = hidden_texts(map, self.layer)
        if hidden and heads is not None and len(heads) == 1:
            of_head = hidden[heads[0] if map.lens.per_head else 0]
            text = f"{text.rstrip('.')}. {capitalised(of_head)}."
        if 0 < lines < len(map.columns):
            text = f"{text.rstrip('.')}. The {lines} largest of each query are drawn."
        pinned = [f"“{bare_label(token)}”" for token in _pinned(map, state.get("pins", ()))]
        if pinned:
            text = f"{text.rstrip('.')}. The lines of {list_of(pinned)} stand out."
        return text


def _pinned(map: AttentionMap, pins: Sequence[str]) -> Iterator[Token]:
    for pin in pins:
        tokens = map.rows if pin[:1] == "q" else map.columns
        if pin[1:].isdecimal() and int(pin[1:]) < len(tokens):
            yield tokens[int(pin[1:])]


def pack_head_view(map: AttentionMap, layer: int) -> bytes:
    """All heads of a layer, with the exact values; a masked cell is not a number (NaN).

    Arrays: values f4 [H, R, C]. Where these would be more than MAX_DENSE bytes: of each row the
    n largest sizes only, largest first: columns u2 [H, R, n], their values f4 [H, R, n], and the
    sum of the sizes that are left out f4 [H, R].
    """
    n_values = map.n_heads * len(map.rows) * len(map.columns)
    arrays, largest = (_dense if 4 * n_values <= MAX_DENSE else _ranked)(map, layer)
    rows, columns = pieces(map.rows), pieces(map.columns)
    header = {
        "kind": kind_title(map.kind),
        "layer": map.attention.number(layer),
        "n_heads": map.n_heads,
        "per_head": map.lens.per_head,
        "unit": "word" if map.reading.words else "token",
        "titles": [row_title(map.is_produced), column_title(map)],
        "sentence": asdict(wording(map)),
        "rows": rows,
        "columns": columns,
        "text": digest(repr((map.kind, rows, columns)).encode()),
        "bound": (largest or 1.0) if map.lens.scale == "signed" else map.bounds[1],
        "lens": {"name": map.lens.name, "title": map.lens.title, "scale": map.lens.scale},
        "notes": list(map.notes),
        "sides": sides(map),
        **second(map),
        "rows_of": map.row_groups,
        "columns_of": map.column_groups,
        "closed": _closed(map, layer),
    }
    if texts := hidden_texts(map, layer):
        header |= {"hidden": texts, "hides": hides(map)}
    return pack(header, *arrays)


def _closed(map: AttentionMap, layer: int) -> list[tuple[int, int]]:
    """Query and key of each masked cell that is part of a row and column with open ones."""
    is_open = map.attention.allowed(layer).any(0)
    if is_open.all():
        return []
    merged, in_open = map.allowed(layer).any(0), torch.zeros_like(is_open)
    shown_queries, rows = _members(map.row_groups)
    shown_keys, columns = _members(map.column_groups)
    in_open[shown_queries[:, None], shown_keys] = merged[rows[:, None], columns]
    return [(query, key) for query, key in (in_open & ~is_open).nonzero().tolist()]


def _members(groups: Sequence[Group]) -> tuple[Tensor, Tensor]:
    """The positions of all groups, and the number of the group of each."""
    pairs = [(position, number) for number, group in enumerate(groups) for position in group]
    positions, numbers = torch.tensor(pairs).view(-1, 2).unbind(1)
    return positions, numbers


def _dense(map: AttentionMap, layer: int) -> tuple[list[NDArray[Any]], float]:
    """All values, and the largest size among them: the strongest line of scores."""
    plain = map.values(layer)
    values = plain.masked_fill(~map.allowed(layer), torch.nan)
    return [values.numpy().astype("<f4")], largest_size(plain)


def _ranked(map: AttentionMap, layer: int) -> tuple[list[NDArray[Any]], float]:
    """Pack the largest sizes of each row; head by head, as the layers of a long text are large."""
    few, many = KEYS
    n = max(few, MAX_RANKED // (BYTES_A_KEY * map.n_heads * len(map.rows)))
    heads, largest = [], 0.0
    for head in range(map.n_heads):
        values = map.values(layer, head)
        heads.append(_strongest(values, map.allowed(layer, head), min(n, many)))
        largest = max(largest, largest_size(values))
    return [np.stack(parts) for parts in zip(*heads, strict=True)], largest


def _strongest(values: Tensor, allowed: Tensor, n: int) -> tuple[NDArray[Any], ...]:
    """Return n columns of each row of a head [R, C], their values, and the sum of other sizes."""
    sizes = values.abs().masked_fill_(~allowed, -1.0)  # so that masked cells come last
    columns = sizes.topk(min(n, values.size(-1))).indices
    strongest = values.gather(-1, columns).masked_fill_(~allowed.gather(-1, columns), torch.nan)
    rest = sizes.clamp_min_(0).scatter_(-1, columns, 0.0).sum(-1)
    return (
        columns.numpy().astype("<u2"),
        strongest.numpy().astype("<f4"),
        rest.numpy().astype("<f4"),
    )
