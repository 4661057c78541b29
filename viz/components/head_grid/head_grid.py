"""All layers and heads of several kinds of attention at once, as small pictures or as numbers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from transformer.analysis.metrics.metric import Metric
from transformer.analysis.reading import PLAIN, AttentionMap, Reading
from transformer.decoding import Decoding
from transformer.recording import Recording
from viz.components.kit.browser import Component, envelope, pack, pieces
from viz.components.kit.picture import MASKED, known_map, metrics_of_map, pictures, sides
from viz.components.kit.sync import mountable
from viz.labels import kind_name, kind_title, number
from viz.map_words import capitalised, describe_heads, list_of
from viz.sentence import wording
from viz.theme import Theme

NAMED = {True: ("alignment", "entropy", "confidence"), False: ("previous", "entropy", "confidence")}
"""The metrics that are named with each head, in this order: of cross-attention, and of the others.

They are the same whatever the sentence: numbers are compared from one sentence to the next.
"""

HEAD_GRID = Component("head_grid")
head_grid = mountable(HEAD_GRID)
"""on_open: the kind, layer and head that were clicked; on_view: show, sort and top by name.

on_off: the heads that are off now, by kind, layer and head.
"""


WORTH = "worth"
"""The name of the number that is of a written word, among those of the weights."""


@dataclass(frozen=True)
class Worth:
    """The nats that a written word loses with each head off."""

    word: str
    numbers: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Kind and its heads, layer by layer; a kind is left out as long as nothing is known."""

    @property
    def bound(self) -> float:
        """The end of the colour scale, on both sides of 0 and the same for all kinds."""
        sizes = [abs(each) for _, heads in self.numbers for each in heads if each == each]
        return max(sizes, default=0.0) or 1.0

    def of(self, map: AttentionMap) -> NDArray[np.float32]:
        """The numbers of a kind [L, H]; NaN while they are not known."""
        unknown = (float("nan"),) * (map.n_layers * map.n_heads)
        numbers = dict(self.numbers).get(map.kind, unknown)
        return np.array(numbers, np.float32).reshape(map.n_layers, map.n_heads)


@dataclass(frozen=True)
class HeadGrid:
    """Every layer and head of these kinds of attention."""

    kinds: tuple[str, ...]
    reading: Reading = PLAIN
    worth: Worth | None = None
    """Offered beside the metrics; None: no written word is pinned."""
    component: ClassVar[Component] = HEAD_GRID

    def title(self, recording: Recording) -> str:
        return f"{capitalised(list_of([*map(kind_name, self.kinds)]))}, all heads"

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        return pack_kinds(self.maps(recording).values(), self.worth)

    def data(
        self,
        payload: bytes,
        theme: Theme,
        *,
        selected: tuple[str, int, int] | None = None,
        show: str = "maps",
        sort: str = "layer",
        top: int = 0,
        pinned: Sequence[tuple[str, int]] = (),
        own_scale: bool = False,
        speaks: bool = True,
        tool: str = "look",
        off: Sequence[tuple[str, int, int]] = (),
        edited: Sequence[tuple[str, int, int]] = (),
        edits: Sequence[str] = (),
    ) -> bytes:
        """selected: (kind, layer, head); None: the first head.

        show: "maps" or a metric's name; sort: "layer" or a metric's; top: how many heads (5, 10,
        20) of a kind are kept by the metric that sorts, else by the one shown; 0: all. A metric
        that a kind lacks counts as "maps" or "layer". pinned: tokens whose rows and columns are
        marked, by side and position. own_scale: whether the darkest shade of each head is its
        largest value. speaks: whether the sentence stands above the grid, and not above a picture
        beside it. tool: with "heads" a click switches a head off. off, edited: heads that are, and
        those that are changed in another way, by kind, layer and head. edits: all that is changed.
        """
        view = {"show": show, "sort": sort, "top": top}
        state = {"selected": None if selected is None else list(selected), "view": view}
        state |= {"pinned": [list(each) for each in pinned]}
        changed = {"tool": tool, "off": list(map(list, off)), "edited": list(map(list, edited))}
        changed |= {"edits": list(edits)}
        look = {"difference": theme.difference_scale, "speaks": speaks, "own_scale": own_scale}
        return envelope(payload, theme, **look, **state, **changed)

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        maps = self.maps(recording).values()
        return " ".join(_sentence(map, worth=self.worth, **state) for map in maps)

    def mapped(self, recording: Recording, show: str = "maps", **state: Any) -> tuple[str, ...]:
        """The kinds that are drawn as maps: a metric is of tokens, whatever the reading."""
        worth = (WORTH,) if self.worth else ()
        return tuple(
            kind
            for kind, map in self.maps(recording).items()
            if not map.lens.per_head or show not in (*metrics_of_map(map), *worth)
        )

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        return {kind: known_map(recording, kind, self.reading) for kind in self.kinds}


def _sentence(
    map: AttentionMap,
    *,
    show: str = "maps",
    sort: str = "layer",
    top: int = 0,
    worth: Worth | None = None,
    **state: Any,
) -> str:
    """Say which heads of one kind are shown, in which order, as what."""
    if worth is not None and show == WORTH and map.lens.per_head:
        text = f"the number of a head is what “{worth.word}” loses with it off, in nats"
        return f"{capitalised(kind_name(map.kind))}: {text}."
    metrics = metrics_of_map(map)
    metric, sorted_by = metrics.get(show), metrics.get(sort)
    sentence = describe_heads(map, range(map.n_layers))
    if metric is not None:
        unit = "in per cent" if metric.unit == "share" else metric.unit and f"in {metric.unit}"
        what = ", ".join(filter(None, [f"“{metric.title}”", unit]))
        sentence = f"{capitalised(kind_name(map.kind))}: the number of a head is the metric {what}."
    by = sorted_by or metric
    if by is not None and top:
        sentence += f" Kept are the {top} heads with the largest “{by.title}”."
    if sorted_by is not None:
        sentence += f" The heads stand in the order of “{sorted_by.title}”, the largest first."
    return sentence


def pack_kinds(maps: Iterable[AttentionMap], worth: Worth | None = None) -> bytes:
    """Several kinds: one array each, of what `pack_head_grid` packs."""
    return pack({}, *(np.frombuffer(pack_head_grid(map, worth), np.uint8) for map in maps))


def pack_head_grid(map: AttentionMap, worth: Worth | None = None) -> bytes:
    """Thumbnails of every head, where each is strongest, and its metrics.

    Arrays: thumbnails u1 [L, H, R', C'] with R', C' at most 64; strongest cell i4 [L, H, 2] (row,
    column) and its value f4 [L, H]; metrics f4 [M, L, H], of the weights whatever the lens, and
    the heads' worth where a lens has heads.
    """
    metrics = metrics_of_map(map)
    made = pictures(map, metrics)
    header: dict[str, Any] = {
        "kind": map.kind,
        "title": kind_title(map.kind),
        "layers": [map.attention.number(layer) for layer in range(map.n_layers)],
        "name": capitalised(kind_name(map.kind)),
        "rows": pieces(map.rows),
        "columns": pieces(map.columns),
        "sentence": asdict(wording(map)),
        "sides": sides(map),
        "lens": {
            "name": map.lens.name,
            "title": map.lens.title,
            "scale": map.lens.scale,
            "bound": made.bound,
            "per_head": map.lens.per_head,
        },
        "notes": list(map.notes),
        "block": made.block,
        "masked": bool((made.thumbnails == MASKED).any()),
        "metrics": _metrics(metrics, made.metrics),
        "named": [it for it in NAMED[map.attention.is_cross] if it in metrics],
    }
    numbers = made.metrics
    if worth is not None and map.lens.per_head:
        own = worth.of(map)
        numbers = np.concatenate([numbers, own[None]])
        header["metrics"] += [_worth(worth, own)]
    arrays = (made.thumbnails, made.strongest, made.value, numbers)
    return pack(header, *arrays)


def _worth(worth: Worth, numbers: NDArray[np.float32]) -> dict[str, Any]:
    """Return the words about the heads' worth, as of a metric."""
    return {
        "name": WORTH,
        "title": "Cost of each head",
        "unit": "nats",
        "bound": worth.bound,
        "explain": f"what “{worth.word}” loses of its log-probability with that head off",
        "texts": ["…" if value != value else number(value) for value in numbers.ravel().tolist()],
    }


def _metrics(metrics: Mapping[str, Metric], values: NDArray[np.float32]) -> list[dict[str, Any]]:
    """Return the words about each metric; its texts, one per head, are formatted only here."""
    return [
        {
            "name": metric.name,
            "title": metric.title,
            "unit": metric.unit,
            "explain": metric.cited,
            "texts": [metric.text(value) for value in of_heads.ravel().tolist()],
        }
        for metric, of_heads in zip(metrics.values(), values, strict=True)
    ]
