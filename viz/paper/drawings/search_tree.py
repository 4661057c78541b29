"""The search of a decoding as a tree, in bands below each other where it is wider than the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from viz.labels import number, percent
from viz.paper.sheet import (
    MIDDLE,
    SMALL,
    Box,
    Data,
    Drawing,
    Line,
    Mark,
    Sheet,
    Words,
    broken,
    fitted,
    width_of,
)

ROW, GAP, WIDEST = 9.5, 11.0, 80.0
"""Points from one row to the next, between columns, and of a label at most."""
BETWEEN = 12.0
"""Points between bands."""
TALLEST = 600.0
"""Points of all bands together, as long as something can be left out that was dropped."""
EACH = (1000, 4, 2, 1, 0)
"""Dropped nodes that are drawn after each node: as many as there is room for."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A node as it is drawn."""

    place: int
    id: int
    parent: int
    column: int
    row: int
    hypothesis: int
    ranks: str
    is_living: bool
    is_written: bool
    log_prob: float
    score: float
    label: str
    share: str
    reason: str
    width: float
    is_fold: bool = False


LARGE, LEAST = log(0.1), log(0.001)
"""Log-probabilities from which on a share has no decimals, and is written at all."""
Bands = list[list[_Node]]


def draw(data: Data, width: float) -> Sheet:
    """The tree with what all hypotheses share folded, as the screen opens it."""
    nodes = _nodes(data)
    for most in EACH:
        drawn = _drawn(nodes, data.header["fold"], most)
        bands = _bands(drawn, width)
        height = sum(_height(band) for band in bands) + BETWEEN * (len(bands) - 1)
        if height <= TALLEST:
            break
    marks: list[Mark] = []
    top = 0.0
    for band in bands:
        marks += _band(band, nodes, drawn, width, top, data.colours)
        top += _height(band) + BETWEEN
    n_left = data.header["n_left_out"] + len(nodes) - len(drawn)
    foot = "Before each word its probability, given what is before it; at the end of a hypothesis "
    foot += "its rank and score; grey: dropped."
    if n_left:
        foot += f" {n_left:,} nodes are not drawn."
    for line in broken(foot, width, SMALL):
        marks.append(Words(0, top, line, SMALL, data.colours["dim"]))
        top += SMALL + 2
    return Sheet(width, top, data.colours["background"], tuple(marks))


def _nodes(data: Data) -> list[_Node]:
    whole, marks, numbers = (array.tolist() for array in data.arrays)
    parents = [row[1] for row in whole]
    best = next((place for place, row in enumerate(whole) if row[4] == 0), 0)
    ids = {row[0]: place for place, row in enumerate(whole)} | dict(data.header["inner"])
    written, at = set(), ids.get(data.state["end"], best)
    while at >= 0:
        written.add(at)
        at = parents[at]
    header, nodes = data.header, []
    for place, (id, parent, column, row, hypothesis, _, reason) in enumerate(whole):
        label, log_prob = header["labels"][place][0], numbers[place][0]
        share = percent(exp(log_prob), 0 if log_prob > LARGE else 1)
        share = share if place and log_prob > LEAST else ""
        size = width_of(fitted(label, WIDEST, SMALL, True), SMALL, True)
        size += (width_of(f"{share} ", SMALL) if share else 0.0) if place else 3.0
        ranks = ", ".join(map(str, header["ranks"].get(str(place), [hypothesis + 1])))
        if hypothesis >= 0:
            size += 3 + width_of(_end(ranks, numbers[place][1]), SMALL, True)
        node = _Node(
            place,
            id,
            parent,
            column,
            row,
            hypothesis,
            ranks,
            bool(marks[place][0]),
            place in written,
            log_prob,
            numbers[place][1],
            label,
            share,
            header["reasons"][reason],
            size,
        )
        nodes.append(node)
    return nodes


def _end(ranks: str, score: float) -> str:
    return f"({ranks}) {number(score)}"


def _drawn(nodes: Sequence[_Node], fold: Sequence[int], most: int) -> list[_Node]:
    """Living nodes, and after each so many others; of what is folded a node that says so."""
    folded, columns = set(fold), {nodes[place].column for place in fold}
    drawn, n_after, result = {0}, dict[int, int](), []
    for node in nodes:
        is_begun = node.parent in drawn or (node.parent in folded and node.is_living)
        if node.place == 0:
            result.append(node)
        elif fold and node.place == fold[0]:
            text = f"… {len(fold)} more …"
            result.append(_fold(node, text))
        elif node.place in folded or not is_begun:
            continue
        elif not node.is_living:
            n_after[node.parent] = n_after.get(node.parent, 0) + 1
            if n_after[node.parent] > most or node.column in columns:
                continue
            result.append(node)
        else:
            result.append(node)
        drawn.add(node.place)
    return result


def _fold(node: _Node, text: str) -> _Node:
    return _Node(
        node.place,
        node.id,
        node.parent,
        node.column,
        node.row,
        -1,
        "",
        True,
        True,
        0.0,
        node.score,
        text,
        "",
        "",
        width_of(text, SMALL, True),
        True,
    )


def _bands(drawn: Sequence[_Node], width: float) -> Bands:
    """Whole columns next to each other, as many as a line has room for."""
    sizes: dict[int, float] = {}
    for node in drawn:
        sizes[node.column] = max(sizes.get(node.column, 0.0), node.width)
    bands: Bands = [[]]
    room = width
    for column in sorted(sizes):
        if room < sizes[column] and bands[-1]:
            bands.append([])
            room = width - GAP
        room -= sizes[column] + GAP
        bands[-1] += [node for node in drawn if node.column == column]
    return bands


def _height(band: Sequence[_Node]) -> float:
    return ROW * len({node.row for node in band})


def _band(
    band: Sequence[_Node],
    nodes: Sequence[_Node],
    drawn: Sequence[_Node],
    width: float,
    top: float,
    colours: dict[str, Any],
) -> list[Mark]:
    lines = {row: i for i, row in enumerate(sorted({node.row for node in band}))}
    here, others = {node.place for node in band}, {node.place: node for node in drawn}
    lefts, x = dict[int, float](), 0.0 if nodes[0].place in here else GAP
    for column in sorted({node.column for node in band}):
        lefts[column] = x
        x += max(node.width for node in band if node.column == column) + GAP
    edges: list[Line] = []
    words: list[Mark] = []
    for node in band:
        left, y = lefts[node.column], top + (lines[node.row] + 0.5) * ROW
        ink = _ink(node, colours)
        words += _label(node, left, y, colours)
        if node.parent < 0:
            continue
        parent = others.get(node.parent) or nodes[node.parent]
        edge = colours["grid"] if ink == colours["dim"] else ink
        thick = 0.9 if node.is_written else 0.6 if node.is_living else 0.4
        if parent.place in here:
            start = lefts[parent.column] + parent.width + 1.5
            from_y = top + (lines[parent.row] + 0.5) * ROW
        else:  # which stands in a band above, or is folded
            before = [
                lefts[each.column] + each.width
                for each in band
                if each.column < node.column and each.is_written
            ]
            start = before[-1] + 1.5 if before and node.is_written else left - GAP
            from_y = top + (lines.get(parent.row, lines[node.row]) + 0.5) * ROW
        edges.append(Line((((start, from_y), (left - GAP + 2, from_y)),), edge, thick))
        bend = ((left - GAP + 2, from_y), (left - 1.5, y))
        edges.append(Line((bend,), edge, thick, is_curve=from_y != y))
    edges.sort(key=lambda it: it.thick)
    return [*edges, *words]


def _ink(node: _Node, colours: dict[str, Any]) -> str:
    if node.is_written:
        return str(colours["accent"])
    return str(colours["text"] if node.is_living else colours["dim"])


def _label(node: _Node, left: float, y: float, colours: dict[str, Any]) -> list[Mark]:
    if node.place == 0:
        return [Box(left, y - 1.5, 3, 3, colours["accent"])]
    low, x = y + MIDDLE * SMALL, left
    marks: list[Mark] = []
    if node.share:
        marks.append(Words(x, low, node.share, SMALL, colours["dim"]))
        x += width_of(f"{node.share} ", SMALL)
    label = fitted(node.label, WIDEST, SMALL, node.is_written)
    facts = {
        "node": node.id,
        "token": node.label,
        "prob": exp(node.log_prob),
        "score": node.score,
        "hypothesis": "" if node.hypothesis < 0 else node.ranks,
        "dropped": node.reason,
    }
    is_fold = node.is_fold
    ink = colours["dim"] if is_fold else _ink(node, colours)
    bold = node.is_written and not is_fold
    marks.append(Words(x, low, label, SMALL, ink, is_bold=bold, facts={} if is_fold else facts))
    if node.hypothesis >= 0:
        x += width_of(label, SMALL, bold) + 3
        end = _end(node.ranks, node.score)
        marks.append(Words(x, low, end, SMALL, _ink(node, colours), is_bold=node.is_written))
    return marks


DRAWING = Drawing("search_tree", draw, 6.9)
