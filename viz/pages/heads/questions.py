"""Questions about heads: in words, by cells that are drawn or words that are pinned, and their
answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import torch

from transformer.analysis.reading import AttentionMap, Group, Reading, read, row_tokens
from transformer.corpus.ask import Answer, Frequency, answers, over
from transformer.corpus.questions import (
    GRAMMAR,
    MOST_CELLS,
    Pattern,
    Spot,
    ask,
    cells_of,
    countable,
    read_words,
)
from transformer.corpus.shipped import Place
from transformer.corpus.shipping import sentences_for
from transformer.corpus.survey import source_of
from transformer.recording import Recording
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.cell_drawing.cell_drawing import cell_drawing, cell_drawing_data
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads.all_heads import AnswerRow, Others, answers_table, head_name, sentences
from viz.labels import bare_label, counted, kind_name, kind_title, literal, word_label
from viz.page_fields import ExploreFields, HeadsFields
from viz.pages.heads.every import atlas_of
from viz.run.line import Runner
from viz.run.request import Request, answer, open_checkpoint
from viz.run.work import Growth, Study
from viz.screen import link, put
from viz.state.focus import at_head, at_question, on_explore
from viz.state.page import Exhibits, Pane
from viz.state.requests import first_example
from viz.state.state import bound, change, current_theme, widget
from viz.ui.controls import draw_link
from viz.ui.progress import paid
from viz.ui.showing import below, columns, show_declared

# Cells that are drawn on the map of a sentence: a question like those that are typed.

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


# The heads that answer a question on a sentence, counted on others while somebody looks.

MOST_ROWS = 12
"""Heads that are listed."""
NAME = "answers"


@dataclass(frozen=True, eq=False)
class Counted:
    """The rows in which each head does it, of the sentences that were read."""

    n_done: int = 0
    n_all: int = 0
    counts: Mapping[Place, Frequency] = field(default_factory=dict)
    of: str = ""
    """The name of their file: those that come with us, whichever a survey beside the checkpoint
    was made of, since that one keeps only some of its own."""


@dataclass(frozen=True)
class HeadsAsked(Study[Counted]):
    """A question to a checkpoint, over the sentences that come with us and fit it."""

    checkpoint: str
    version: int
    question: str
    """A pattern, spelled: one question has one spelling."""

    def run(self, before: Counted | None, runner: Runner) -> Iterator[Counted]:
        checkpoint = open_checkpoint(Request(self.checkpoint, self.version, "", "none"))
        pattern = ask(self.question)
        corpus = sentences_for(checkpoint)
        texts = [source_of(line) for line in corpus.lines.values()]
        so_far = before or Counted(0, len(texts), {}, corpus.name)
        yield so_far
        steps = runner.steps(checkpoint.model)
        counting = over(pattern, checkpoint, texts[so_far.n_done :], so_far.counts)
        for n_done, counts in enumerate(steps.of(counting), so_far.n_done + 1):
            so_far = Counted(n_done, len(texts), counts, corpus.name)
            yield so_far

    def progress(self, value: Counted) -> tuple[int, int]:
        return value.n_done, value.n_all

    def n_read(self, value: Counted) -> int:
        return value.n_done


def answers_to(
    pane: Pane, pattern: Pattern, spot: Spot | None = None, pins: tuple[str, ...] | None = None
) -> Exhibit | Growth[Counted]:
    """The heads that do it on the pane's sentence, with how often they do on others.

    They grow with these, where the pattern can be counted there. spot: where it is meant. pins:
    those of each head's link; None: the query and the key that it is about. Raises Refusal.
    """
    every = answers(pattern, pane.recording, spot)
    there = [each for each in every if each.looks_there]
    rows = [_row(pane, each, pins) for each in there[:MOST_ROWS]]
    rest = [each for each in every if each not in there[:MOST_ROWS]]
    exhibit = partial(_exhibit, pane, in_words(pattern, pane.recording), rows, rest)
    other, request = countable(pattern, pane.recording), pane.request
    if other is None:
        return exhibit(None)
    study = HeadsAsked(request.checkpoint, request.version, str(other))
    return Growth("Answers", study, exhibit)


def _exhibit(
    pane: Pane,
    question: str,
    rows: list[AnswerRow],
    rest: Sequence[Answer],
    counted_: Counted | None,
) -> Exhibit:
    """counted_: None where other sentences have none of it."""
    says, others = f"{question} The heads that do it most in “{pane.request.text}”", None
    if counted_ is not None:
        n = sentences(counted_.n_done)
        name = f"{n} of {counted_.of}" if counted_.of else n
        says = f"{says}, and over {name}"
        others = Others(counted_.counts, name, counted_.n_done == counted_.n_all)
    atlas = None
    with suppress(Refusal):  # the page says it of its other parts
        atlas = atlas_of(pane.request, pane.recording.numbering)
    table, is_main = answers_table(rows, rest, others, atlas), pane.screen.page == "heads"
    return Exhibit(question, table, f"{says}.", is_main=is_main)


def _row(pane: Pane, of: Answer, pins: tuple[str, ...] | None) -> AnswerRow:
    place = of.kind, of.layer, of.head
    attention = pane.recording.attentions[of.kind]
    words = (
        "".join(word_label(tokens[at]).strip("·") for at in positions)
        for tokens, positions in (
            (row_tokens(attention, pane.reading), of.query),
            (attention.keys, of.key),
        )
    )
    if pins is None:  # both words, as Explore shows them
        map = read(pane.recording, of.kind, pane.reading)
        row, column = map.row_of(of.query[0]), map.column_of(of.key[0])
        pins = *[f"q{row}"] * (row is not None), *[f"k{column}"] * (column is not None)
    asks = pane.screen.of(ExploreFields).asks and "there"  # what was asked goes by the pins now
    screen = put(on_explore(pane.screen, place), pins=pins, asks=asks)
    name = head_name(place, pane.recording)
    return AnswerRow(of, name, " → ".join(words), link(screen), link(at_head(pane.screen, place)))


# A question about heads: in words, as who links “it” to “animal”?, or by cells that are drawn.

EXAMPLE = "who looks at the previous word?"


def ask_heads(pane: Pane) -> None:
    """Draw the question and the sentence, and the heads that answer it."""
    question = pane.screen.of(HeadsFields).heads_ask
    text, first = pane.request.text, first_example(pane.request.checkpoint)
    left, right = st.columns(2)
    with left:
        st.text_input("Question", question, placeholder=EXAMPLE, **bound("heads_ask", question))
    with right:
        st.text_input("Sentence", text, **bound("text", text, first))
    result = paid(pane.request, st.empty())  # a page of a checkpoint comes with a token only
    if result is None:
        return
    pane = replace(pane, result=result)
    map, answers = columns([4, 8], wall=[0.01, 1], gap="large")  # nobody draws on a wall
    with map:
        below(draw_cells, pane)
    with answers:
        if not question.strip():
            st.caption(literal(f"Draw cells on the map, or ask in words: {GRAMMAR}."))
        below(say_understood, pane)
        show_declared(pane, exhibits_of_question)


def exhibits_of_question(pane: Pane) -> Exhibits:
    """The heads that do it on the sentence, with how often they do on others. Raises Refusal."""
    question = pane.screen.of(HeadsFields).heads_ask
    if not question.strip():
        return {}
    pane = replace(pane, result=answer(pane.request))
    return {NAME: answers_to(pane, ask(question))}


# The heads that link words which are pinned on Explore, below the picture.

NONE = "Pin two words, or a cell, to ask which heads link them."


@dataclass(frozen=True)
class Offer:
    """A question that the pins ask."""

    pattern: Pattern
    spot: Spot


def offers(pane: Pane) -> dict[str, Offer]:
    """Name of a direction, as `ExploreFields.asks` has it -> its question.

    Rows and columns that are pinned are one question. In a text that looks at itself either of two
    words may look at the other: of the two rows that were pinned last, or of a row and a column.
    """
    map = read(pane.recording, pane.selection.kind, Reading(words=True))
    rows = _positions(pane.pinned_rows, pane.map.row_groups)
    columns = _positions(pane.pinned_columns, pane.map.column_groups)
    if rows and columns:
        pairs = {"there": (rows, columns)}
        if len(rows) == len(columns) == 1 and not map.attention.is_cross:
            turned = _across(pane, "columns", columns[0])
            if turned and turned != rows:
                pairs["back"] = turned, _across(pane, "rows", rows[0])
    elif len(rows) > 1 and not map.attention.is_cross:
        first, second = rows[-2:]
        keys = {row: _across(pane, "rows", row) for row in (first, second)}
        pairs = {"there": ([first], keys[second]), "back": ([second], keys[first])}
    elif columns:
        pairs = {"there": ([], columns)}
    else:
        return {}
    return {name: _offer(map, *pair) for name, pair in pairs.items() if _is_open(map, *pair)}


def _positions(places: Sequence[int], groups: Sequence[Group]) -> list[int]:
    """The first position of each row or column that is pinned, in the order of the pins."""
    return [groups[place][0] for place in places if place < len(groups)]


def _across(pane: Pane, axis: str, position: int) -> list[int]:
    """The position on the other axis of the token of a row or a column; none where it has none."""
    is_row, map, of = axis == "rows", pane.map, pane.sides
    place = map.row_of(position) if is_row else map.column_of(position)
    other, groups = ("columns", map.column_groups) if is_row else ("rows", map.row_groups)
    for side, places in of[axis].items():
        if place in places:
            there = of[other].get(side, [])[places.index(place)]
            return [groups[there][0]] if there >= 0 else []
    return []


def _is_open(map: AttentionMap, queries: list[int], keys: list[int]) -> bool:
    """No mask closes all of it."""
    allowed = map.attention.allowed(0).any(0)
    rows = allowed[queries] if queries else allowed
    return bool(torch.any(rows[:, keys]))


def _offer(map: AttentionMap, queries: list[int], keys: list[int]) -> Offer:
    rows, columns = ([map.row_of(each) for each in queries], [map.column_of(each) for each in keys])
    words = (
        " or ".join(dict.fromkeys(bare_label(of[at]) for at in places if at is not None))
        for of, places in ((map.rows, rows), (map.columns, columns))
    )
    query, key = words
    return Offer(Pattern(query, key, kind=map.kind), Spot(map.kind, tuple(queries), tuple(keys)))


def exhibits_of_pins(pane: Pane) -> Exhibits:
    """The heads that do what the pins ask, where they are asked for."""
    asks, pins = pane.screen.of(ExploreFields).asks, pane.screen.pins
    offer = offers(pane).get(asks or "")
    if offer is None:
        return {}
    # Pins of rows alone do not say which of them looks at the other.
    is_said = asks == "there" and any(pin[0] == "k" for pin in pins)
    return {NAME: answers_to(pane, offer.pattern, offer.spot, pins if is_said else None)}


def ask_of_pins(pane: Pane) -> None:
    """Draw a button for each question that the pins ask."""
    open_, every = pane.screen.of(ExploreFields).asks, offers(pane)
    if not every:
        st.caption(NONE)
    for name, offer in every.items():
        words = [f"“{each}”" for each in (offer.pattern.query, offer.pattern.key) if each]
        does = f"link {' to '.join(words)}" if len(words) > 1 else f"look at {words[0]}"
        st.button(
            literal(f"Which heads {does}?"),
            on_click=change,
            kwargs={"asks": None if name == open_ else name},
            icon=f":material/{'expand_less' if name == open_ else 'expand_more'}:",
            key=f"asks {name}",
        )
    if open_ in every:
        draw_link("Ask in words", at_question(pane.screen, str(every[open_].pattern)))
