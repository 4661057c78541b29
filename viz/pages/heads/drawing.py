"""Cells that are drawn on the map of a sentence: a question like those that are typed."""

from contextlib import suppress
from functools import partial

from transformer.corpus.questions import Pattern, ask
from transformer.corpus.questions.cells import cells_of, countable, read_words
from transformer.corpus.questions.grammar import MOST_CELLS
from transformer.recording import Recording
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.cell_drawing.cell_drawing import cell_drawing, cell_drawing_data
from viz.fields.heads import HeadsFields
from viz.labels import bare_label, counted, kind_name, kind_title, literal
from viz.state.page import Pane
from viz.state.state import change, current_theme, widget

MOST_ON_MAP = 3600
"""Cells of a map that can be drawn on; a larger one would be slow, and nothing in it be hit."""
MOST_NAMED = 4
"""Words of a side that are named."""


def draw_cells(pane: Pane) -> None:
    """Draw the map; the cells on it are those of the question."""
    pattern = pattern_of(pane)
    kind, kinds = kind_here(pane, pattern), list(pane.recording.attentions)
    if len(kinds) > 1:
        look = {"label_visibility": "collapsed", **widget("kind", kind, partial(_turn, pattern))}
        look["format_func"] = lambda each: literal(kind_title(each))
        st.segmented_control("Attention", kinds, default=kind, required=True, **look)
    map = read_words(pane.recording, kind)
    n_rows, n_columns = len(map.rows), len(map.columns)
    if n_rows * n_columns > MOST_ON_MAP:
        st.caption(f"Cells are drawn in shorter texts: this map has {n_rows:d} × {n_columns:d}.")
        return
    inside = [(row, column) for row, column in pattern.cells if row < n_rows and column < n_columns]
    data = cell_drawing_data(map, inside, MOST_CELLS, current_theme())
    cell_drawing(data, "cell_drawing", on_cells=partial(_choose, kind))


def pattern_of(pane: Pane) -> Pattern:
    """The pattern of the question; of none that is understood, one of nothing."""
    try:
        return ask(pane.screen.of(HeadsFields).heads_ask)
    except Refusal:
        return Pattern()


def kind_here(pane: Pane, pattern: Pattern) -> str:
    """The kind of attention whose map is drawn on: that of the cells, else that of the Screen."""
    is_there = bool(pattern.cells) and pattern.kind in pane.recording.attentions
    return pattern.kind if is_there else pane.selection.kind


def _turn(pattern: Pattern, kind: str) -> None:
    """Choose the kind; cells are of one kind and stay with it."""
    change(kind=kind, **({"heads_ask": ""} if pattern.cells else {}))


def _choose(kind: str, cells: list[list[int]]) -> None:
    places = tuple(sorted((row, column) for row, column in cells))
    change(heads_ask=str(Pattern(kind=kind, cells=places)) if places else "")


def in_words(pattern: Pattern, recording: Recording) -> str:
    """A question as a title has it: of cells how many they are, and of which words.

    Raises InputError where the text has no such cells.
    """
    if not pattern.cells:
        return str(pattern)
    kind, map = next((kind, each.map) for kind, each in cells_of(pattern, recording).items())
    rows, columns = ({*side} for side in zip(*pattern.cells, strict=True))
    sides = (
        _side("row", [bare_label(map.rows[at]) for at in sorted(rows)]),
        _side("column", [bare_label(map.columns[at]) for at in sorted(columns)]),
    )
    n = counted(len(pattern.cells), "cell", "cells")
    return f"{n} of {kind_name(kind)}: {', '.join(sides)}"


def understood(pattern: Pattern, recording: Recording) -> str:
    """Say in one line which cells are asked for, and what of them is counted on other sentences.

    Raises InputError where the text has no such cells.
    """
    other = countable(pattern, recording)
    over = "not a pattern that is measured there" if other is None else str(other)
    return f"{in_words(pattern, recording)}; over the corpus: {over}"


def say_understood(pane: Pane) -> None:
    """Say it of cells; words say themselves what is asked."""
    pattern = pattern_of(pane)
    if not pattern.cells:
        return
    with suppress(Refusal):  # the answers say that of it
        st.caption(literal(understood(pattern, pane.recording)))


def _side(name: str, words: list[str]) -> str:
    named = list(dict.fromkeys(words))
    more = len(named) - MOST_NAMED
    rest = f" and {more} more" if more > 0 else ""
    plural = "s" if len(words) > 1 else ""
    return f"{name}{plural} {', '.join(f'“{each}”' for each in named[:MOST_NAMED])}{rest}"
