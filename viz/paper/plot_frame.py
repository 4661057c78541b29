"""What stands around the data of a figure of Plotly's: axes, notes, lines, legend and scale."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from viz.paper.axes import Axis, plain
from viz.paper.lettering import MIDDLE, SMALL, broken, fitted, width_of
from viz.paper.plot import SAID, Plot, axis_name, colour_of, dashes_of, lines_of, scale_of, title_of
from viz.paper.shades import N_LEVELS
from viz.paper.sheet import Box, Cells, Line, Mark, Words

POINTS_PER_PIXEL = 0.75


def frames(plot: Plot) -> Iterator[Mark]:
    """Lines of the grid, ticks and titles of all axes."""
    if plot.layout.get("xaxis", {}).get("visible") is False:
        return
    across = [a for n, a in plot.axes.items() if n.startswith("x")]
    down = [a for n, a in plot.axes.items() if n.startswith("y")]
    y = plot.axes["yaxis"]
    left, right = min(a.start for a in across), max(a.end for a in across)
    top = min(min(a.start, a.end) for a in down)
    bottom = max(max(a.start, a.end) for a in down)
    for axis in down:
        ticks = axis.ticks()
        every = max(1, math.ceil(len(ticks) * (SMALL + 0.2) / max(1.0, abs(axis.end - axis.start))))
        for place, text in ticks[::every]:
            if axis.said.get("showgrid"):
                yield Line((((left, place), (right, place)),), plot.grid, 0.3)
            said = fitted(text, max(8.0, left - 5), SMALL)
            yield Words(left - 3, place + MIDDLE * SMALL, said, SMALL, plot.ink, "end")
    for axis in across:
        ticks = axis.ticks()
        upright = _is_upright(axis)
        room = SMALL + 1 if upright else 4 + max((width_of(t, SMALL) for _, t in ticks), default=0)
        most = max(1, int((axis.end - axis.start) // room) + 1)
        before = (-math.inf, 0.0)  # the label before: its middle, and half its width
        for place, text in ticks[:: max(1, -(-len(ticks) // most))]:
            if axis.said.get("showgrid"):
                yield Line((((place, top), (place, bottom)),), plot.grid, 0.3)
            if upright:
                at = (place + MIDDLE * SMALL, bottom + 3)
                yield Words(*at, fitted(text, 50, SMALL), SMALL, plot.ink, "end", is_upward=True)
            else:
                half = width_of(text, SMALL) / 2
                kept = _kept(place, 2 * half, "middle", plot.width)
                if abs(kept - before[0]) > half + before[1] + 2:  # the last is moved to be whole
                    before = (kept, half)
                    yield Words(kept, bottom + SMALL + 3, text, SMALL, plot.ink, "middle")
    yield Line((((left, top), (left, bottom), (right, bottom)),), plot.dim, 0.4)
    lines = _title_under(plot)
    for i, said in enumerate(reversed(lines)):
        low = bottom + room_under(plot) - 2 - i * (SMALL + 2)
        yield Words(_middle(plot), low, said, SMALL, plot.dim, "middle")
    if title_of(y):
        said = fitted(title_of(y), bottom - top, SMALL)
        yield Words(SMALL, (top + bottom) / 2, said, SMALL, plot.dim, "middle", is_upward=True)


def _is_upright(axis: Axis) -> bool:
    """Whether labels run upwards: as it is said, or words that would not fit beside each other."""
    if axis.said.get("tickangle") in (-90, 90):
        return True
    texts = [text for _, text in axis.ticks()]
    if not texts or all(text.replace(",", "").lstrip("−").isdecimal() for text in texts):
        return False
    is_of_words = axis.said.get("ticktext") is not None or bool(axis.names)
    wide = max(width_of(text, SMALL) for text in texts) + 4
    return is_of_words and wide * len(texts) > abs(axis.end - axis.start) + wide


def _kept(x: float, wide: float, anchor: str, width: float) -> float:
    """Where a text stands that would reach beyond the figure's sides."""
    before = {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
    return max(before, min(x, width - wide + before))


def _middle(plot: Plot) -> float:
    across = [axis for name, axis in plot.axes.items() if name.startswith("x")]
    return (min(axis.start for axis in across) + max(axis.end for axis in across)) / 2


def _title_under(plot: Plot) -> list[str]:
    """What stands under the axis of x, in lines that fit the figure."""
    middle, said = _middle(plot), lines_of(plot.axes["xaxis"])
    room = 2 * min(plot.width - middle, middle)
    return [line for each in said for line in broken(each, room, SMALL)]


def room_under(plot: Plot) -> float:
    """Points below the plotted area for the labels of x and its title."""
    x = plot.axes["xaxis"]
    texts = [width_of(text, SMALL) for _, text in x.ticks()]
    upright = _is_upright(x)
    labels = min(50.0, max(texts, default=0)) + 3 if upright else SMALL + 3
    return labels + 4 + (SMALL + 2) * len(_title_under(plot))


def shapes(plot: Plot) -> Iterator[Mark]:
    """Lines and frames that are no data."""
    for shape in plot.layout.get("shapes") or ():
        if shape.get("type", "line") not in ("line", "rect"):
            continue
        xs, ys = (_placed(plot, shape, c, [shape[f"{c}0"], shape[f"{c}1"]]) for c in "xy")
        colour = colour_of(shape, "line", plot.dim)
        if shape.get("type") == "rect":
            size = (abs(xs[1] - xs[0]), abs(ys[1] - ys[0]))
            fill = str(shape.get("fillcolor") or "")
            frame = None if (shape.get("line") or {}).get("width") == 0 else colour
            yield Box(min(xs), min(ys), *size, fill if fill.startswith("#") else None, frame, 0.8)
        else:
            said = (shape.get("line") or {}).get("dash")
            ends = ((xs[0], ys[0]), (xs[1], ys[1]))
            yield Line((ends,), colour, 0.5, dashes=SAID.get(str(said), ()))


def _placed(plot: Plot, said: Mapping[str, Any], letter: str, values: list[Any]) -> list[float]:
    """Points of what stands on an axis, or on the whole plot ("paper")."""
    reference = str(said.get(f"{letter}ref") or letter)
    axis = plot.axes.get(axis_name(reference.split(" ")[0]))
    if axis is None or reference.endswith("domain") or reference == "paper":
        whole = plot.axes[f"{letter}axis"]
        return [whole.start + float(each) * (whole.end - whole.start) for each in values]
    return [float(each) for each in axis.at(values)]


def _value(plot: Plot, note: Mapping[str, Any], letter: str) -> float:
    """Of a logarithmic axis Plotly takes values of lines, but exponents of notes."""
    found = note.get(letter, 0.5)
    axis = plot.axes.get(axis_name(str(note.get(f"{letter}ref") or letter)))
    return float(10**found if axis is not None and axis.said.get("type") == "log" else found)


def is_title(note: Mapping[str, Any]) -> bool:
    """Whether a note stands above the whole plot, as viz/figures/heatmap.py puts titles there."""
    said = [note.get(name) for name in ("xref", "yref", "y", "yanchor")]
    return said == ["paper", "paper", 1, "bottom"]


def notes(plot: Plot) -> Iterator[Mark]:
    """Texts within the plot."""
    for note in plot.layout.get("annotations") or ():
        if is_title(note):
            continue
        lines = [plain(part) for part in str(note.get("text") or "").split("<br>")]
        (x,), (y,) = (_placed(plot, note, c, [_value(plot, note, c)]) for c in "xy")
        anchors: Any = {"left": "start", "right": "end"}
        anchor = anchors.get(note.get("xanchor"), "middle")
        colour = colour_of(note, "font", plot.ink)
        x += POINTS_PER_PIXEL * float(note.get("xshift") or 0)
        high = (len(lines) - 1) * (SMALL + 2)
        first = y + MIDDLE * SMALL - high / 2
        if note.get("yanchor") == "bottom" and note.get("yref") != "paper":
            first = y - 2.5 - high
        elif note.get("yanchor") in ("top", "bottom"):
            first = y + SMALL + 1 if y < plot.axes["yaxis"].start - SMALL else y - 2.5 - high
        for i, line in enumerate(filter(None, lines)):
            said = fitted(line, plot.width, SMALL)
            at = _kept(x, width_of(said, SMALL), anchor, plot.width)
            yield Words(at, first + i * (SMALL + 2), said, SMALL, colour, anchor)


def below(plot: Plot, width: float, top: float) -> tuple[list[Mark], float]:
    """The legend and the scale of a map."""
    marks: list[Mark] = []
    x, y = 0.0, top + 4
    named = [
        each for each in plot.traces if each.get("name") and each.get("showlegend") is not False
    ]
    order = {id(each): i for i, each in enumerate(e for e in plot.traces if e["type"] != "bar")}
    if plot.layout.get("showlegend") is False or (
        len(named) < 2 and not plot.layout.get("showlegend")
    ):
        named = []
    for trace in named:
        name = fitted(plain(trace["name"]), width - 18, SMALL)
        if x and x + 16 + width_of(name, SMALL) > width:
            x, y = 0.0, y + SMALL + 4
        colour = colour_of(trace, "line", colour_of(trace, "marker", plot.ink))
        if trace["type"] == "heatmap":
            marks.append(Box(x + 4, y + 1, 8, 5, scale_of(trace)[-1], plot.dim, 0.3))
        elif trace["type"] == "bar":
            marks.append(Box(x + 3, y + 1, 6, 5, colour_of(trace, "marker", plot.dim)))
        elif "lines" not in (trace.get("mode") or "lines"):
            marks.append(Box(x + 5.5, y + 3, 2, 2, colour_of(trace, "marker", plot.ink)))
        else:
            dashes = dashes_of(trace, order[id(trace)])
            marks.append(Line((((x, y + 4), (x + 13, y + 4)),), colour, 1.1, dashes=dashes))
        marks.append(Words(x + 16, y + SMALL, name, SMALL, plot.ink))
        x += 26 + width_of(name, SMALL)
    if named:
        y += SMALL + 5
    maps = [each for each in plot.traces if each["type"] == "heatmap" and each.get("colorbar")]
    for trace in maps[:1]:
        steps = np.arange(0, N_LEVELS, 4, dtype=np.int16)[None]
        marks.append(Cells(0, y, 110, 5, steps, scale_of(trace)))
        low, high = float(trace["zmin"]), float(trace["zmax"])
        for share, anchor in ((0.0, "start"), (1.0, "end")):
            said = f"{low + share * (high - low):.3g}".replace("-", "−")
            at = (110 * share, y + 6 + SMALL)
            marks.append(Words(*at, said, SMALL, plot.dim, anchor))  # type: ignore[arg-type]
        title = plain((trace["colorbar"].get("title") or {}).get("text"))
        marks.append(Words(116, y + 5, fitted(title, width - 116, SMALL), SMALL, plot.ink))
        y += SMALL + 9
    return marks, y
