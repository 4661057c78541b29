"""The picture of the first screen without a script, for those who wait on a slow line."""

import html
from contextlib import suppress

from transformer.analysis.reading import AttentionMap, Reading, read
from transformer.refusal import Refusal
from viz.causes.needs import Causes, is_quick
from viz.components.kit.picture import NothingLeft
from viz.exhibits.chart import rooted
from viz.labels import bare_label
from viz.map_words import cell_sentence
from viz.run.request import make_answer
from viz.run.work import finish
from viz.screen import Screen
from viz.server.shell import filled
from viz.state.checkpoints import at_start, shipped_names
from viz.state.page import chosen_head, first_head
from viz.state.requests import first_example, request_of

PITCH, WIDTH, MARGIN = 28, 820, 170
"""Pixels: from token to token, of the whole, and of a column of tokens."""
LINES = 5
"""The number of lines that a row has: its strongest."""


def first_picture() -> str:
    """HTML, with the colours of both themes; empty where no checkpoint answers."""
    names = shipped_names()
    if not names or at_start() != ((), None):
        return ""  # another checkpoint is seen first
    try:
        answer = make_answer(request_of(names[0], first_example(names[0]), Screen()))
    except Refusal:
        return ""
    with suppress(Refusal, NothingLeft):  # so that the first screen says which words need another
        if answer.recording.target and is_quick(answer):
            finish(Causes(answer.request))
    usual = first_head(answer.checkpoint.about, answer.checkpoint.family)
    head = chosen_head(Screen(), answer.recording, usual)
    map = read(
        answer.recording, head.kind, Reading(words=True, special=answer.checkpoint.about.special)
    )
    cell = map.strongest(head.layer, head.head)
    if cell is None:
        return ""
    value = float(map.values(head.layer, head.head)[cell])
    output = answer.decoding.text if answer.decoding else ""
    text = cell_sentence(map, head.layer, head.head, cell, value)
    return filled(answer.request.text, output, text, arrows(map, head.layer, head.head))


def arrows(map: AttentionMap, layer: int, head: int) -> str:
    """One head as SVG: rows, columns, and the strongest lines of each row."""
    n = max(len(map.rows), len(map.columns))
    parts = [f'<svg viewBox="0 0 {WIDTH} {n * PITCH}" role="img" aria-label="Attention">']
    sides = ((map.rows, MARGIN - 8, "end"), (map.columns, WIDTH - MARGIN + 8, "start"))
    for tokens, x, anchor in sides:
        for place, token in enumerate(tokens):
            y, text = _middle(place) + 5, html.escape(bare_label(token))
            parts.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>')
    values = map.values(layer, head)
    for row, weights in enumerate(values):
        strongest = weights.topk(min(LINES, len(weights)))
        for weight, column in zip(*(each.tolist() for each in strongest), strict=True):
            parts.append(_line(row, column, weight))
    return "".join([*parts, "</svg>"])


def _line(row: int, column: int, weight: float) -> str:
    left, right, middle = MARGIN, WIDTH - MARGIN, WIDTH // 2
    y, to = _middle(row), _middle(column)
    curve = f"M{left} {y}C{middle} {y} {middle} {to} {right} {to}"
    look = f'stroke-width="{0.7 + 1.5 * weight:.2f}" opacity="{rooted(max(0.0, weight)):.2f}"'
    return f'<path d="{curve}" {look}/>'


def _middle(place: int) -> int:
    return place * PITCH + PITCH // 2
