"""The heads that link words which are pinned on Explore, below the picture."""

from dataclasses import dataclass, replace

import torch

from transformer.analysis.reading import PLAIN, AttentionMap, Reading, read
from transformer.corpus.questions import Pattern
from transformer.corpus.questions.cells import Spot
from viz.app_packages import st
from viz.components.kit.sides import sides
from viz.fields.explore import ExploreFields
from viz.labels import bare_label, literal
from viz.pages.heads.answers import NAME, answers_to
from viz.state.head_links import at_question
from viz.state.page import Exhibits, Pane
from viz.state.state import change
from viz.ui.controls import draw_link
from viz.ui.showing import show_declared

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
    # Which words are pinned does not depend on what is read of them, and some lenses refuse.
    on_screen = read(pane.recording, map.kind, replace(pane.reading, lens=PLAIN.lens))
    rows = _positions(pane, "q", on_screen.row_groups)
    columns = _positions(pane, "k", on_screen.column_groups)
    if rows and columns:
        pairs = {"there": (rows, columns)}
        if len(rows) == len(columns) == 1 and not map.attention.is_cross:
            turned = _across(on_screen, "columns", columns[0])
            if turned and turned != rows:
                pairs["back"] = turned, _across(on_screen, "rows", rows[0])
    elif len(rows) > 1 and not map.attention.is_cross:
        first, second = rows[-2:]
        keys = {row: _across(on_screen, "rows", row) for row in (first, second)}
        pairs = {"there": ([first], keys[second]), "back": ([second], keys[first])}
    elif columns:
        pairs = {"there": ([], columns)}
    else:
        return {}
    return {name: _offer(map, *pair) for name, pair in pairs.items() if _is_open(map, *pair)}


def _positions(pane: Pane, letter: str, groups: tuple[tuple[int, ...], ...]) -> list[int]:
    """The first position of each row or column that is pinned, in the order of the pins."""
    places = [int(pin[1:]) for pin in pane.screen.pins if pin[0] == letter]
    return [groups[place][0] for place in places if place < len(groups)]


def _across(map: AttentionMap, axis: str, position: int) -> list[int]:
    """The position on the other axis of the token of a row or a column; none where it has none."""
    is_row = axis == "rows"
    place = map.row_of(position) if is_row else map.column_of(position)
    other, groups = ("columns", map.column_groups) if is_row else ("rows", map.row_groups)
    of = sides(map)
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
        st.button(
            literal(_title(offer.pattern)),
            on_click=change,
            kwargs={"asks": None if name == open_ else name},
            icon=f":material/{'expand_less' if name == open_ else 'expand_more'}:",
            key=f"asks {name}",
        )
    if open_ in every:
        draw_link("Ask in words", at_question(pane.screen, str(every[open_].pattern)))


def answer_pins(pane: Pane) -> None:
    """Draw the heads that answer the question that is open."""
    show_declared(pane, exhibits_of_pins)


def _title(pattern: Pattern) -> str:
    words = [f"“{each}”" for each in (pattern.query, pattern.key) if each]
    return (
        f"Which heads link {' to '.join(words)}?"
        if len(words) > 1
        else (f"Which heads look at {words[0]}?")
    )
