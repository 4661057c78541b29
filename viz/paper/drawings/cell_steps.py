"""One cell of a head from inside: from q and k to this key's share of the output."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from viz.labels import number
from viz.paper.sheet import (
    MIDDLE,
    NORMAL,
    SMALL,
    Box,
    Data,
    Drawing,
    Line,
    Mark,
    Point,
    Sheet,
    Words,
    fitted,
    moved,
    width_of,
)

GAP = 4.0
"""Points above and below a stage."""
BARS, LENGTHS = 20.0, 12.0
"""Points that a stage of bars, and one of two lengths, is high."""
PITCH = 9.0
"""Points from one key of the softmax to the next."""
PALE = 0.38
Drawn = tuple[list[Mark], float]
"""Marks from the top left of their place, and how high they are."""


def draw(data: Data, width: float) -> Sheet:
    """The stages of the screen: a name, a drawing and the numbers of each."""
    colours = data.colours
    left, right = 0.27 * width, 0.23 * width
    room = width - left - right - 8
    marks: list[Mark] = []
    y = 0.0
    for place, (name, formula, drawn, numbers) in enumerate(_stages(data, room), start=1):
        body, height = drawn
        marks.append(Line((((0, y), (width, y)),), colours["grid"], 0.4))
        top = y + GAP
        title = f"{place} {name}"
        marks.append(Words(0, top + NORMAL, fitted(title, left, NORMAL), NORMAL, colours["text"]))
        if formula:
            words = fitted(formula, left - 4, SMALL)
            marks.append(Words(0, top + NORMAL + SMALL + 2, words, SMALL, colours["dim"]))
        marks += moved(body, left + 4, top)
        marks += _numbers(numbers, (left + room + 10, top, right - 2), colours)
        n_lines = sum(1 if _fits(*each, right - 2) else 2 for each in numbers)
        y = top + max(height, NORMAL + SMALL + 3, 9.0 * n_lines) + GAP
    cell = dict(zip(("row", "column"), data.header["cell"], strict=True))
    of_cell = [replace(it, facts={**cell, **it.facts}) if it.facts else it for it in marks]
    return Sheet(width, y, colours["background"], tuple(of_cell))


Numbers = Sequence[tuple[str, float | str]]


def _stages(data: Data, room: float) -> Iterator[tuple[str, str, Drawn, Numbers]]:
    header = data.header
    q, k, products, running, value, part, output, *_ = data.arrays
    d = int(np.argmax(np.abs(products)))
    bias = [("+ bias", header["bias"])] if header["bias"] else []
    yield (
        "query, key",
        f"{len(q)} dimensions",
        _below(_bars(data, "q", q, room), _bars(data, "k", k, room)),
        [("‖q‖", _norm(q)), ("‖k‖", _norm(k))],
    )
    most = [(f"largest, d = {d}", float(products[d]))]
    yield "product", "q[d] k[d]", _bars(data, "products", products, room), most
    yield "running sum", "q·k = Σ q[d] k[d]", _steps(data, running, room), [("q·k", header["dot"])]
    scale = header["scale_name"] or "scale"
    lengths = [("q·k", header["dot"]), ("score", header["score"])]
    scaled: Numbers = [(f"× {scale}", header["scale"]), *bias, ("score", header["score"])]
    formula = f"s = q·k × {scale}{' + b' if bias else ''}"
    yield "scale", formula, _lengths(data, lengths, room), scaled
    allowed = data.arrays[9]
    words = "forbidden: weight 0" if header["is_masked"] else "allowed"
    of = f"{header['n_allowed']} of {len(allowed)} keys"
    yield "mask", "s, or −∞", _mask(data, allowed, room), [(words, ""), (of, "")]
    weight: Numbers = [("weight", header["weight"])]
    yield "softmax", "a = exp s / Σ exp s", _softmax(data, room), weight
    parts = [("v", value, True), ("part", part, False)]
    norms: Numbers = [("‖v‖", _norm(value)), ("‖a v‖", _norm(part))]
    yield "weight × value", "a v, within v", _bars_within(data, parts, room), norms
    parts = [("output", output, True), ("part", part, False)]
    shares: Numbers = [(f"share, {header['percent']}", header["share"]), ("‖o‖", _norm(output))]
    yield "share of output", "a v·o / ‖o‖²", _bars_within(data, parts, room), shares
    if header["norms"]:
        of_part, of_output = header["norms"]
        both = [("this key", of_part), ("head", of_output)]
        yield "effect on layer", "‖a v W‖ in ‖o W‖", _lengths(data, both, room), both


def _norm(vector: NDArray[np.float32]) -> float:
    return float(np.sqrt((vector.astype(np.float64) ** 2).sum()))


def text(value: float | str) -> str:
    """Write a number with four decimals, as the screen has it."""
    return value if isinstance(value, str) else number(value, 4)


def _numbers(
    rows: Numbers, place: tuple[float, float, float], colours: dict[str, Any]
) -> Iterator[Mark]:
    left, top, width = place
    y = top + NORMAL
    for name, value in rows:
        words = text(value)
        yield Words(left, y, fitted(name, width, SMALL), SMALL, colours["dim"])
        y += 0 if _fits(name, value, width) else 9
        facts = {"name": name, "value": value}
        yield Words(left + width, y, words, SMALL, colours["text"], "end", facts=facts)
        y += 9


def _fits(name: str, number: float | str, width: float) -> bool:
    """Say whether a number has room beside its name."""
    return width_of(name, SMALL) + width_of(text(number), SMALL) + 2 <= width


def _below(first: Drawn, second: Drawn) -> Drawn:
    return [*first[0], *moved(second[0], 0, first[1] + 2)], first[1] + 2 + second[1]


def _bars(data: Data, name: str, values: NDArray[np.float32], width: float) -> Drawn:
    return _bars_within(data, [(name, values, False)], width)


def _bars_within(
    data: Data, layers: list[tuple[str, NDArray[np.float32], bool]], width: float
) -> Drawn:
    """One bar per dimension, up from 0 or down; a part stands narrow within its pale whole."""
    low = min(0.0, *(float(values.min()) for _, values, _ in layers))
    high = max(0.0, *(float(values.max()) for _, values, _ in layers))
    unit = BARS / ((high - low) or 1)
    zero, n = high * unit, len(layers[0][1])
    step = width / n
    marks: list[Mark] = []
    for name, values, is_pale in layers:
        thin = 0.8 * step if is_pale or len(layers) == 1 else 0.45 * step
        for d, value in enumerate(values.tolist()):
            height = abs(value) * unit
            fill = _sign(data, value, is_pale)
            place = (d * step + (0.8 * step - thin) / 2, zero - height if value > 0 else zero)
            facts = {"vector": name, "dimension": d, "value": value}
            opacity = PALE if is_pale else 1.0
            marks.append(Box(*place, thin, height, fill, opacity=opacity, facts=facts))
    marks.append(Line((((0, zero), (width, zero)),), data.colours["dim"], 0.3))
    return marks, BARS


def _sign(data: Data, value: float, is_pale: bool = False) -> str:
    signs = data.state["signs"]
    if is_pale:
        return str(data.colours["dim"])
    return str(signs["positive"] if value >= 0 else signs["negative"])


def _steps(data: Data, values: NDArray[np.float32], width: float) -> Drawn:
    """A line that rises and falls with each dimension, from 0 to a dot at its end."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    unit, step = BARS / ((high - low) or 1), width / len(values)
    y = [(high - value) * unit for value in (0.0, *values.tolist())]
    points: list[Point] = [(0.0, y[0])]
    for d in range(len(values)):
        points += [(d * step, y[d + 1]), ((d + 1) * step, y[d + 1])]
    colour = data.state["signs"]["positive"]
    facts = {"vector": "running", "value": values}
    end = Box(width - 2, y[-1] - 1, 2, 2, colour)
    zero = Line((((0, y[0]), (width, y[0])),), data.colours["dim"], 0.3)
    return [zero, Line((tuple(points),), colour, 0.9, facts=facts), end], BARS


def _lengths(data: Data, lengths: Numbers, width: float) -> Drawn:
    """Lengths below each other on one axis, the last one in ink."""
    values = [float(value) for _, value in lengths]
    low, high = min(0.0, *values), max(0.0, *values)
    unit, each = width / ((high - low) or 1), LENGTHS / len(values)
    marks: list[Mark] = []
    for i, ((name, _), value) in enumerate(zip(lengths, values, strict=True)):
        is_last = i == len(values) - 1
        left = (min(0.0, value) - low) * unit
        place = (left, i * each + 0.15 * each, abs(value) * unit, 0.7 * each)
        fill, opacity = _sign(data, value, not is_last), 1.0 if is_last else PALE
        facts = {"name": name, "value": value}
        marks.append(Box(*place, fill, opacity=opacity, facts=facts))
    return marks, LENGTHS


def _mask(data: Data, allowed: NDArray[np.uint8], width: float) -> Drawn:
    """A strip of keys: those that are open, forbidden ones with a stroke, and this one framed."""
    colours, step = data.colours, width / len(allowed)
    marks: list[Mark] = []
    for key, is_open in enumerate(allowed.tolist()):
        gap = 0.5 if step > 3 else 0.0
        fill = data.state["signs"]["positive"] if is_open else colours["masked"]
        opacity = PALE if is_open else 1.0
        marks.append(Box(key * step, 2, step - gap, 8, fill, opacity=opacity))
        if not is_open and step > 3:
            ends = ((key * step + 1, 9.0), ((key + 1) * step - gap - 1, 3.0))
            marks.append(Line((ends,), colours["dim"], 0.3))
    chosen = data.header["cell"][1]
    return [*marks, Box(chosen * step, 1, step, 10, None, colours["accent"], 1.0)], LENGTHS


def _softmax(data: Data, width: float) -> Drawn:
    """Each key with its score, its weight and a bar of it."""
    header, colours = data.header, data.colours
    scores, weights, allowed, keys = data.arrays[7:11]
    n_rest, rest = header["rest"]
    largest = max(float(weights.max(initial=0)), rest) or 1.0
    rows: list[tuple[int | None, str, int, str, float]] = [
        (
            key,
            label,
            special,
            number(scores[key]) if allowed[key] else "masked",
            float(weights[key]),
        )
        for (label, special), key in zip(header["labels"], keys.tolist(), strict=True)
    ]
    if n_rest:
        rows.append((None, f"{n_rest:,} others", 1, "", rest))
    marks: list[Mark] = []
    name = 0.3 * width
    of_scores, of_weights = name + 28, name + 54
    for i, (key, label, special, score, weight) in enumerate(rows):
        is_chosen = key == header["cell"][1]
        y = i * PITCH + PITCH / 2 + MIDDLE * SMALL
        ink = colours["accent"] if is_chosen else colours["dim" if special else "text"]
        words = fitted(label, name, SMALL, is_chosen)
        marks.append(Words(0, y, words, SMALL, ink, is_bold=is_chosen))
        marks.append(Words(of_scores, y, score, SMALL, colours["dim"], "end"))
        facts = {"key": label, "column": key, "weight": weight}
        marks.append(Words(of_weights, y, text(weight), SMALL, ink, "end", is_chosen, facts=facts))
        room = width - of_weights - 4
        fill = colours["accent"] if is_chosen else data.state["signs"]["positive"]
        marks.append(Box(of_weights + 4, i * PITCH + 2, room * weight / largest, PITCH - 4, fill))
    return marks, len(rows) * PITCH


DRAWING = Drawing("cell_steps", draw, 3.3)
