"""A callback that fails does not end the run: the page that is drawn after it says so."""

from collections.abc import Callable
from typing import Any

from viz.app_packages import st
from viz.session_keys import FAILED


def guarded(callback: Callable[[], Any]) -> Callable[[], None]:
    """The same callback, for Streamlit; the session keeps what it raises."""

    def call() -> None:
        try:
            callback()
        except Exception as error:
            st.session_state[FAILED] = error

    return call


def take_failure() -> Exception | None:
    """Take the error that a callback of this session raised since the last call."""
    error: Exception | None = st.session_state.pop(FAILED, None)
    return error
