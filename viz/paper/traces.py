"""What a figure of Plotly's shows: maps, bars and curves, from their data."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from viz.paper.axes import plain
from viz.paper.plot import Plot, along, colour_of, dashes_of, scale_of
from viz.paper.scale import minus_marks
from viz.paper.shades import N_LEVELS
from viz.paper.sheet import Box, Cells, Line, Mark


def maps(plot: Plot) -> Iterator[Mark]:
    """Cells, and a bar in each below 0."""
    for trace in plot.traces:
        if trace["type"] != "heatmap":
            continue
        z = np.array(trace["z"], np.float64)
        x, y = plot.of(trace, "x"), plot.of(trace, "y")
        low, high = float(trace.get("zmin", np.nanmin(z))), float(trace.get("zmax", np.nanmax(z)))
        shares = np.clip((z - low) / ((high - low) or 1), 0, 1)
        levels = np.where(np.isnan(z), -1, np.rint(np.nan_to_num(shares) * (N_LEVELS - 1)))
        n_rows, n_columns = z.shape
        xs = x.at(along(trace, "x"))
        ys = y.at(along(trace, "y"))
        across = (xs[-1] - xs[0]) / (n_columns - 1) if n_columns > 1 else abs(x.end - x.start)
        down = (ys[-1] - ys[0]) / (n_rows - 1) if n_rows > 1 else abs(y.end - y.start)
        shown = levels if down > 0 else levels[::-1]
        place = (xs[0] - across / 2, min(ys[0], ys[-1]) - abs(down) / 2)
        size = (across * n_columns, abs(down) * n_rows)
        facts = {"rows": n_rows, "columns": n_columns, "z": z}
        yield Cells(*place, *size, shown.astype(np.int16), scale_of(trace), facts)
        if low < 0 < high:
            cell = (place[0], place[1], across, abs(down))
            upright = z if down > 0 else z[::-1]
            yield from minus_marks(upright, cell, {"text": plot.ink}, -low)


def bars(plot: Plot) -> Iterator[Mark]:
    """Upright or level, beside each other or on top."""
    found = [each for each in plot.traces if each["type"] == "bar"]
    is_grouped = plot.layout.get("barmode", "group") == "group"
    for order, trace in enumerate(found):
        level = trace.get("orientation") == "h"
        of_names, of_values = ("y", "x") if level else ("x", "y")
        at, values = plot.of(trace, of_names), plot.of(trace, of_values)
        places = at.at(along(trace, of_names))
        gaps = np.abs(np.diff(np.sort(places[np.isfinite(places)])))
        room = 0.8 * float(gaps[gaps > 0].min(initial=abs(at.end - at.start) / max(1, len(places))))
        n = len(found) if is_grouped else 1
        lengths = along(trace, of_values)
        bases = trace.get("base")
        starts = values.at([0.0] * len(lengths) if bases is None else list(bases))
        whole = lengths if bases is None else [b + v for b, v in zip(bases, lengths, strict=True)]
        colours = (trace.get("marker") or {}).get("color")
        for i, (place, start, end) in enumerate(zip(places, starts, values.at(whole), strict=True)):
            if not np.isfinite([place, start, end]).all():
                continue
            each = room / n
            first = place - room / 2 + (order * each if is_grouped else 0)
            fill = colours if isinstance(colours, str) else None
            if isinstance(colours, (list, tuple, np.ndarray)):
                fill = str(colours[i])
            low, size = min(start, end), abs(end - start)
            facts = {"trace": plain(trace.get("name")), "value": float(lengths[i])}
            box = (low, first, size, each) if level else (first, low, each, size)
            left, top, width, height = map(float, box)
            yield Box(left, top, width, height, fill or plot.dim, facts=facts)


def curves(plot: Plot) -> Iterator[Mark]:
    """Lines and markers; a gap where a value is missing."""
    found = [each for each in plot.traces if each["type"] in ("scatter", "scattergl")]
    for order, trace in enumerate(found):
        x, y = plot.of(trace, "x"), plot.of(trace, "y")
        xs, ys = along(trace, "x"), along(trace, "y")
        points = np.stack([x.at(xs), y.at(ys)], -1)
        mode = trace.get("mode") or "lines"
        facts = {"trace": plain(trace.get("name")), "x": x.places(xs), "y": y.places(ys)}
        colour = colour_of(trace, "line", colour_of(trace, "marker", plot.ink))
        if "lines" in mode:
            parts = tuple(part for part in _pieces(points) if len(part) > 1)
            thick = min(1.2, float((trace.get("line") or {}).get("width", 1.2)))
            opacity = float(trace.get("opacity", 1.0))
            if parts:
                yield Line(parts, colour, thick, opacity, dashes_of(trace, order), facts=facts)
        if "markers" in mode:
            ink, size = colour_of(trace, "marker", colour), 1.8
            facts = facts if "lines" not in mode else {}
            for a, b in points[np.isfinite(points).all(-1)].tolist():
                yield Box(a - size / 2, b - size / 2, size, size, ink, facts=facts)
                facts = {}


def _pieces(points: Any) -> Iterator[tuple[tuple[float, float], ...]]:
    """A curve without its gaps."""
    part: list[tuple[float, float]] = []
    for a, b in points.tolist():
        if np.isfinite([a, b]).all():
            part.append((a, b))
        else:
            yield tuple(part)
            part = []
    yield tuple(part)
