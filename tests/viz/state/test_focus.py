"""Pins of two texts beside each other: the words that both have, and those that one has alone."""

from dataclasses import replace
from typing import Any

import pytest

from viz.figure_at import page_of
from viz.page_fields import CompareFields
from viz.pages.compare.second import with_second
from viz.screen import choose, parse, put
from viz.state import focus
from viz.state.page import Pane

TEXT = "The bank raised its interest rates by 0.75 percent, the largest increase since 1994."
AT = {"page": "compare", "checkpoint": "en-de-1", "text": TEXT, "kind": "cross", "layer": "2"}


@pytest.fixture(scope="module")
def first() -> Pane:
    """A writes two words more than B, by beam search, and others in their places."""
    pane, _ = page_of(parse({**AT, "head": "3", "method_b": "greedy", "same_head": "yes"}))
    return pane


def shown(first: Pane, **choices: Any) -> tuple[Pane, Pane]:
    """A and B where these are chosen."""
    a = with_second(replace(first, screen=put(first.screen, **choices), second=None))
    assert a.second is not None
    return a, a.second


def rows(first: Pane) -> tuple[str, str]:
    """A row that A has alone, and one that both have."""
    b = first.second
    assert b is not None
    n = len(focus.rows_of_written(first))
    names = {f"q{row}": focus.moved(focus.pinning(first, row), b) for row in range(n)}
    return next(row for row in names if not names[row]), next(row for row in names if names[row])


def test_a_click_in_b_keeps_what_is_pinned_in_a_alone(
    first: Pane, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, both = rows(first)
    a, b = shown(first, pins=(alone,))
    assert b.screen.pins == ()
    (clicked,) = focus.moved(replace(a, screen=replace(a.screen, pins=(both,))), b)

    def pinned(pins: tuple[str, ...]) -> tuple[str, ...]:
        changes: dict[str, Any] = {}
        monkeypatch.setattr(focus, "change", changes.update)
        focus.pin(b, pins)
        screen = choose(a.screen, **changes)
        assert screen.of(CompareFields).pins_b == ()
        return screen.pins

    assert pinned((clicked,)) == (alone, both)
    assert pinned(()) == (), "both give their pins up together"
    a, b = shown(first, pins=(both, alone))
    assert b.screen.pins == (clicked,)
    assert pinned((clicked,)) == (alone, both), "what was clicked is the last one"
