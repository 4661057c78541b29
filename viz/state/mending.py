"""Names in an address that do not exist are removed from it: the default is shown instead."""

from dataclasses import replace
from typing import Any

from transformer.analysis.selection import Selection
from viz.app_packages import st
from viz.screen import Screen, locked, put, query, value_of
from viz.state.state import session


def mend_head(selection: Selection, suffix: str = "") -> None:
    """Begin the run again where the Screen names another head than the one that is shown.

    suffix: of the fields that name it.
    """
    screen = session().screen
    chosen = {name: value_of(screen, f"{name}{suffix}") for name in ("kind", "layer", "head")}
    wrong = [
        name for name, value in chosen.items() if value not in (None, getattr(selection, name))
    ]
    left: dict[str, Any] = {f"{name}{suffix}": None for name in wrong}
    if left:
        mend(put(screen, **left))
        st.rerun()


def mend(screen: Screen) -> None:
    """Show this screen. The address of the one before is written over: Back does not lead to it."""
    state, screen = session(), locked(screen)
    if screen != state.screen:
        state.landing = screen if state.landing == state.screen else state.landing
        state.screen, number = screen, state.address.number + 1
        state.address = replace(state.address, query=query(screen), number=number)
