"""The card of a written word that is pinned in its parts, which a page draws below each other."""

import html
from collections.abc import Iterator
from contextlib import contextmanager

from viz.app_packages import st
from viz.causes.card import TITLE, PlaceOf, why_word, word_exhibits
from viz.causes.of_word import of_word, of_word_exhibits
from viz.causes.right_word import TITLE as RIGHT_WORD
from viz.causes.right_word import right_word_exhibits, type_right_word
from viz.screen import link, put
from viz.state.page import Pane
from viz.talks.stage import on_stage
from viz.ui.parts import Part


def card_parts(place_of: PlaceOf) -> tuple[Part, ...]:
    """place_of: what is pinned there. The card itself is the first one."""
    return (
        Part(
            TITLE,
            lambda pane: word_exhibits(pane, place_of(pane)),
            draw=lambda pane: why_word(pane, place_of),
        ),
        Part(
            RIGHT_WORD,
            lambda pane: right_word_exhibits(pane, place_of(pane)),
            draw=lambda pane: type_right_word(pane, place_of(pane)),
        ),
        Part(
            "Further studies",
            lambda pane: of_word_exhibits(pane, place_of(pane)),
            draw=lambda pane: of_word(pane, place_of(pane)),
        ),
    )


@contextmanager
def drawer(pane: Pane, place_of: PlaceOf) -> Iterator[None]:
    """Draw what follows where it is in sight whatever the page is scrolled to: at the foot of the
    window, unless its own place is higher. It scrolls by itself, and can be made larger.

    place_of: what is pinned there: without it the drawer is closed.
    """
    with st.container(key="drawer", gap="xsmall"):
        yield
        if not on_stage() and pane.recording.target and place_of(pane) is not None:
            # Last, though it is seen first: so the card is mounted once, and keeps what it knows.
            st.html(_tools(link(put(pane.screen, pins=()))))


def _tools(closed: str) -> str:
    """The button that makes the drawer larger, and the link to the page without the pin."""
    return (
        '<div class="drawer-tools"><button type="button" data-keeps="drawer">'
        '<span class="open">Larger</span><span class="close">Smaller</span></button>'
        f'<a data-state href="{html.escape(closed)}" aria-label="Close the card">×</a></div>'
    )
