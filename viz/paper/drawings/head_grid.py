"""All heads of several kinds of attention, as small maps or as numbers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.components.kit.picture import FULL, MASKED, MIDDLE
from viz.exhibits.chart import POWER, root_law
from viz.painters.shades import N_LEVELS, colour_at, ink_on, palette_of
from viz.paper.sheet import MIDDLE as HALF
from viz.paper.sheet import (
    NORMAL,
    SMALL,
    Box,
    Cells,
    Data,
    Drawing,
    Mark,
    Sheet,
    Words,
    fitted,
    moved,
    opened,
    scale_bar,
)

GAP, BETWEEN = 2.0, 10.0
"""Points between heads, and between kinds of attention."""
SIDE = 16.0
"""Points of the names of layers."""
BESIDE = 420.0
"""Points of width from which kinds stand beside each other."""
FEW, FEW_COLUMNS = 20, 5
"""So many ranked heads stand five in a row."""
LARGEST = 44.0
"""Points of a head's side."""


@dataclass(frozen=True, eq=False)
class Section:
    """One kind of attention, and which of its heads are drawn."""

    header: dict[str, Any]
    thumbnails: NDArray[np.uint8]
    strongest: NDArray[np.int32]
    values: NDArray[np.float32]
    metrics: NDArray[np.float32]
    show: str
    sort: str
    order: list[int]
    top_heads: set[int]

    @property
    def n_heads(self) -> int:
        return int(self.thumbnails.shape[1])

    @property
    def columns(self) -> int:
        """Heads of a row: those of a layer, or as many ranked ones as on the screen."""
        if self.sort == "layer":
            return self.n_heads
        most = FEW_COLUMNS if len(self.order) <= FEW else max(self.n_heads, FEW_COLUMNS)
        return max(1, min(len(self.order), most))

    def metric(self, name: str) -> tuple[dict[str, Any], NDArray[np.float32]]:
        """Return the words about a metric, and its number for each head [L * H]."""
        names = [each["name"] for each in self.header["metrics"]]
        place = names.index(name)
        return self.header["metrics"][place], self.metrics[place].ravel()


def draw(data: Data, width: float) -> Sheet:
    """Every kind that the screen shows, in the same order, with the same heads."""
    sections = [_section(array, data.state["view"]) for array in data.arrays]
    beside = width >= BESIDE and len(sections) > 1
    room = (width - BETWEEN * (len(sections) - 1)) / len(sections) if beside else width
    marks: list[Mark] = []
    x = y = lowest = 0.0
    for section in sections:
        made, height = _drawn(section, data, room)
        marks += moved(made, x, y)
        lowest = max(lowest, y + height)
        x, y = (x + room + BETWEEN, 0.0) if beside else (0.0, y + height + BETWEEN)
    if any(section.show == "maps" for section in sections):
        lens = sections[0].header["lens"]
        bound = max(section.header["lens"]["bound"] for section in sections)
        low = -bound if lens["scale"] == "signed" else 0.0
        if data.state["own_scale"]:
            lens = lens | {"title": f"{lens['title']}, up to each head's largest"}
        bar, height = scale_bar(data, width - SIDE, (low, bound), lens)
        marks += moved(bar, SIDE, lowest + 8)
        lowest += 8 + height
    else:
        about, _ = sections[0].metric(sections[0].show)
        unit = "%" if about["unit"] == "share" else about["unit"]
        text = f"{about['title']}, {unit}" if unit else about["title"]
        at = (0, lowest + 8 + SMALL)
        marks.append(Words(*at, fitted(text, width, SMALL), SMALL, data.colours["text"]))
        lowest += 10 + SMALL
    return Sheet(width, lowest + 1, data.colours["background"], tuple(marks))


def law(data: Data) -> str:
    """The law of maps; numbers of heads become colours evenly."""
    section = _section(data.arrays[0], data.state["view"])
    lens = section.header["lens"]
    return root_law(lens["title"]) if section.show == "maps" and data.is_rooted(lens) else ""


def _section(array: NDArray[np.uint8], view: dict[str, Any]) -> Section:
    """Choose and order the heads by the rules of viz/components/head_grid/order.js."""
    header, (thumbnails, strongest, values, metrics) = opened(array)
    place_of = {each["name"]: i for i, each in enumerate(header["metrics"])}
    show = view["show"] if view["show"] in place_of else "maps"
    sort = view["sort"] if view["sort"] in place_of else "layer"
    by = sort if sort != "layer" else show if show != "maps" else None
    every = list(range(thumbnails.shape[0] * thumbnails.shape[1]))
    ranked = every
    if by is not None:
        sizes = np.nan_to_num(metrics[place_of[by]].ravel(), nan=-np.inf)
        ranked = [int(each) for each in np.argsort(-sizes, kind="stable")]
    first = ranked[: view["top"]] if by is not None and view["top"] else ranked
    order = first if sort != "layer" else every
    return Section(header, thumbnails, strongest, values, metrics, show, sort, order, set(first))


def _drawn(section: Section, data: Data, width: float) -> tuple[list[Mark], float]:
    """A kind's title, the names of heads and layers, and its heads; and how high all of it is."""
    colours, header, n = data.colours, section.header, section.columns
    is_ranked = section.sort != "layer"
    side = 0.0 if is_ranked else SIDE
    step = min(LARGEST + GAP, (width - side + GAP) / n)
    rows, columns = max(1, len(header["rows"])), max(1, len(header["columns"]))
    shape = min(1.5, max(0.6, columns / rows))
    across = step - GAP
    down = across / shape if section.show == "maps" else min(across, 16.0)
    name = SMALL + 2 if is_ranked else 0.0
    marks: list[Mark] = [Words(0, NORMAL, header["title"], NORMAL, colours["text"], is_bold=True)]
    top = NORMAL + 4
    if not is_ranked:
        marks += _names(section, data, (side, top, step), down)
        top += SMALL + 3
    for place, index in enumerate(section.order):
        row, column = divmod(place, n)
        at = (side + column * step, top + row * (down + GAP + name), across, down)
        marks += _head(section, data, index, at)
        if is_ranked:
            text = fitted(_name(section, index), across, SMALL)
            marks.append(
                Words(
                    at[0] + across / 2, at[1] + down + SMALL, text, SMALL, colours["dim"], "middle"
                )
            )
    n_rows = -(-len(section.order) // n)
    return marks, top + n_rows * (down + GAP + name)


def _name(section: Section, index: int) -> str:
    layer, head = divmod(index, section.n_heads)
    number = section.header["layers"][layer]
    return f"L{number} H{head}" if section.header["lens"]["per_head"] else f"L{number}"


def _names(
    section: Section, data: Data, start: tuple[float, float, float], down: float
) -> Iterator[Mark]:
    left, top, step = start
    dim, per_head = data.colours["dim"], section.header["lens"]["per_head"]
    for head in range(section.n_heads):
        text = f"H{head}" if per_head else "all heads"
        x = left + head * step + (step - GAP) / 2
        yield Words(x, top + SMALL, text, SMALL, dim, "middle")
    for row, number in enumerate(section.header["layers"]):
        y = top + SMALL + 3 + row * (down + GAP) + down / 2 + HALF * SMALL
        yield Words(left - 4, y, f"L{number}", SMALL, dim, "end")


def _head(
    section: Section, data: Data, index: int, place: tuple[float, float, float, float]
) -> Iterator[Mark]:
    colours, header = data.colours, section.header
    layer, head = divmod(index, section.n_heads)
    facts = {"kind": header["kind"], "layer": header["layers"][layer], "head": head}
    if section.show == "maps":
        levels, scale = _levels(section, data, layer, head)
        row, column = (int(each) for each in section.strongest[layer, head])
        value = float(section.values[layer, head])
        facts |= {"strongest-row": row, "strongest-column": column, header["lens"]["name"]: value}
        yield Cells(*place, levels, palette_of(scale, colours["masked"]), facts)
    else:
        yield from _number(section, data, index, place, facts)
    chosen = data.state["selected"]
    is_chosen = chosen == [header["kind"], layer, head]
    frame, thick = (colours["accent"], 1.2) if is_chosen else (colours["grid"], 0.4)
    yield Box(*place, None, frame, thick)
    if section.show == "maps" and index not in section.top_heads:
        yield Box(*place, colours["background"], opacity=0.75)


def _levels(
    section: Section, data: Data, layer: int, head: int
) -> tuple[NDArray[np.int16], list[str]]:
    """Bytes of a thumbnail as numbers of colours, on the scale that the screen has."""
    is_signed = section.header["lens"]["scale"] == "signed"
    scale = data.state["difference"] if is_signed else data.colours["scale"]
    pixels = section.thumbnails[layer, head].astype(np.float64)
    is_masked, middle = pixels == MASKED, MIDDLE if is_signed else 0
    apart = np.where(is_masked, 0, pixels - middle)
    most = np.abs(apart).max(initial=0)
    if data.state["own_scale"] and most:
        apart *= (FULL - middle) / most
    if data.is_linear and not is_signed:  # a thumbnail holds roots
        apart = apart**POWER / FULL
    levels = np.rint((apart + middle) / FULL * (N_LEVELS - 1))
    return np.where(is_masked, N_LEVELS, levels).astype(np.int16), scale


def _number(
    section: Section,
    data: Data,
    index: int,
    place: tuple[float, float, float, float],
    facts: dict[str, Any],
) -> Iterator[Mark]:
    about, values = section.metric(section.show)
    value, bound = float(values[index]), about.get("bound")
    most = bound or float(np.nanmax(values, initial=0)) or 1.0
    is_known = value == value and index in section.top_heads
    scale, share = data.colours["scale"], value / most
    if bound:  # they have a sign
        scale, share = data.state["difference"], (1 + share) / 2
    fill = colour_at(scale, share) if is_known else None
    left, top, width, height = place
    yield Box(*place, fill, facts=facts | {about["name"]: value})
    ink = ink_on(fill) if fill else data.colours["dim"]
    text = about["texts"][index]
    if about["unit"] != "share":
        text = text.split(" ")[0]
    text = text.replace(" %", "") if width < 24 else text
    size = min(SMALL, width / 3.2)
    words = fitted(text, width, size)
    yield Words(left + width / 2, top + height / 2 + HALF * size, words, size, ink, "middle")


DRAWING = Drawing("head_grid", draw, 3.3, law)
