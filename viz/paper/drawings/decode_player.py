"""A step of decoding with its candidates, and what every step attended to."""

from itertools import accumulate
from typing import Any

import numpy as np

from viz.exhibits.chart import root_law
from viz.painters.shades import levels_of, palette_of
from viz.paper.sheet import (
    MIDDLE,
    NORMAL,
    SMALL,
    Box,
    Cells,
    Data,
    Drawing,
    Mark,
    Sheet,
    Words,
    broken,
    fitted,
    moved,
    scale_bar,
    width_of,
)

PITCH, ROW = 9.5, 9.0
"""Points from one candidate, and from one step, to the next."""
BESIDE = 420.0
"""Points of width from which candidates stand beside the steps."""
BETWEEN = 14.0
TALLEST, TALLEST_BELOW = 560.0, 380.0
"""Points of the map of all steps at most: beside the candidates, and below them."""
Drawn = tuple[list[Mark], float]
LENS = {"name": "weight", "title": "Weight", "scale": "share"}


def draw(data: Data, width: float) -> Sheet:
    """The step that is shown, and the map of all of them."""
    step = min(data.state["step"], len(data.header["steps"]) - 1)
    beside = width >= BESIDE
    left = 0.36 * width if beside else width
    right = width - left - BETWEEN if beside else width
    written, top = _written(data, step, width)
    candidates, height = _candidates(data, step, left)
    steps, tall = _steps(data, step, right, TALLEST if beside else TALLEST_BELOW)
    marks = [*written, *moved(candidates, 0, top + 6)]
    if beside:
        marks += moved(steps, left + BETWEEN, top + 6)
        bottom = top + 6 + max(height, tall)
    else:
        marks += moved(steps, 0, top + height + 16)
        bottom = top + height + 16 + tall
    return Sheet(width, bottom, data.colours["background"], tuple(marks))


def _written(data: Data, step: int, width: float) -> Drawn:
    """Draw the output up to this step, which is marked; what follows is pale."""
    colours, x, y = data.colours, 0.0, NORMAL + 1
    marks: list[Mark] = []
    for i, (label, _, begins) in enumerate(data.header["target"]):
        word = "" if begins == 2 and i != step else label.replace("▁", "")
        if x and begins:
            x += 3
        size = width_of(word, NORMAL, i == step)
        if x + size > width:
            x, y = 0.0, y + NORMAL + 4
        ink = colours["accent"] if i == step else colours["text" if i < step else "dim"]
        marks.append(Words(x, y, fitted(word, width, NORMAL), NORMAL, ink, is_bold=i == step))
        x += size
    return marks, y + 3


def _candidates(data: Data, step: int, width: float) -> Drawn:
    colours, now = data.colours, data.header["steps"][step]
    rows = [(*each, i == now["chosen"]) for i, each in enumerate(now["candidates"])]
    if now["n_rest"]:
        rows.append((f"all other {now['n_rest']:,}", 1, now["rest"], now["rest_text"], False))
    name = min(0.4 * width, max(width_of(label, SMALL, True) for label, *_ in rows))
    percent = max(width_of(share, SMALL, True) for *_, share, _ in rows)
    track = width - name - percent - 10
    title = f"Candidates of step {step + 1}, entropy {now['entropy']:.2f} bits"
    marks: list[Mark] = [Words(0, SMALL, fitted(title, width, SMALL), SMALL, colours["dim"])]
    for i, (label, special, prob, share, is_chosen) in enumerate(rows):
        top = SMALL + 4 + i * PITCH
        y = top + PITCH / 2 + MIDDLE * SMALL
        ink = colours["accent"] if is_chosen else colours["dim" if special else "text"]
        words = fitted(label, name, SMALL, is_chosen)
        marks.append(Words(name, y, words, SMALL, ink, "end", is_chosen))
        marks.append(Box(name + 4, top + 1.5, track, PITCH - 3, colours["surface"]))
        facts = {"row": step, "candidate": label, "prob": prob}
        fill = colours["accent"] if is_chosen else colours["dim"]
        marks.append(Box(name + 4, top + 1.5, track * prob, PITCH - 3, fill, facts=facts))
        marks.append(Words(width, y, share, SMALL, ink, "end", is_chosen))
    return marks, SMALL + 4 + len(rows) * PITCH


def _steps(data: Data, step: int, width: float, tallest: float) -> Drawn:
    """A row per step: what it attended to, the token that it wrote, and its entropy."""
    header, colours = data.header, data.colours
    weights, keys = data.arrays[0], header["source"] or header["read"]
    n_rows, n_columns = weights.shape
    written = [each["candidates"][each["chosen"]][:2] for each in header["steps"]]
    name = min(0.25 * width, max(width_of(text, SMALL, True) for text, _ in written))
    entropy = 0.1 * width
    wide = width - name - entropy - 10
    down, across = min(ROW, tallest / n_rows), wide / n_columns
    labels = min(60.0, max(width_of(text, SMALL) for text, _ in keys))
    whose = "mean of heads" if header["head"] is None else f"H{header['head']}"
    title = f"Attention of every step, L{header['layer']} {whose}; token written; entropy"
    lines = broken(title, width, SMALL)
    ends = list(accumulate([SMALL, *[SMALL + 2] * (len(lines) - 1)]))
    marks: list[Mark] = [
        Words(0, y, line, SMALL, colours["dim"]) for line, y in zip(lines, ends, strict=True)
    ]
    top = ends[-1] + 5 + labels
    marks += _upward(keys, across, top - 2, labels, colours)
    scale = palette_of(colours["scale"], colours["masked"])
    levels = levels_of(np.asarray(weights), (0.0, 1.0), not data.is_linear)
    facts = {"rows": n_rows, "columns": n_columns, "weight": weights}
    high = n_rows * down
    marks.append(Cells(0, top, wide, high, levels, scale, facts))
    marks.append(Box(0, top, wide, high, None, colours["grid"], 0.4))
    most = max(1.0, *(each["entropy"] for each in header["steps"]))
    every = max(1, round(SMALL / down + 0.49)) if down < SMALL else 1
    for i, ((label, special), each) in enumerate(zip(written, header["steps"], strict=True)):
        is_now, y = i == step, top + i * down
        ink = colours["accent"] if is_now else colours["dim" if special else "text"]
        if is_now or (i % every == 0 and (every == 1 or abs(i - step) >= every)):
            words = fitted(label, name, SMALL, is_now)
            low = y + down / 2 + MIDDLE * SMALL
            marks.append(Words(wide + 4, low, words, SMALL, ink, is_bold=is_now))
        bar = entropy * each["entropy"] / most
        fill = colours["accent"] if is_now else colours["dim"]
        facts = {"row": i, "entropy": each["entropy"]}
        place = (wide + name + 10, y + 0.2 * down, bar, 0.6 * down)
        marks.append(Box(*place, fill, facts=facts))
    marks.append(Box(0, top + step * down, wide, down, None, colours["accent"], 1.0))
    bar_marks, height = scale_bar(data, wide, (0.0, 1.0), LENS)
    return [*marks, *moved(bar_marks, 0, top + high + 5)], top + high + 5 + height


def _upward(
    keys: list[Any], across: float, y: float, room: float, colours: dict[str, Any]
) -> list[Mark]:
    every = max(1, round(SMALL / across + 0.49)) if across < SMALL else 1
    marks: list[Mark] = []
    for i in range(0, len(keys), every):
        label, special = keys[i]
        x = (i + 0.5) * across + MIDDLE * SMALL
        ink = colours["dim" if special else "text"]
        marks.append(Words(x, y, fitted(label, room, SMALL), SMALL, ink, is_upward=True))
    return marks


DRAWING = Drawing(
    "decode_player", draw, 6.9, lambda data: "" if data.is_linear else root_law(LENS["title"])
)
