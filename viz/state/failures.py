"""Failures: a sentence with a way back, and a traceback in the log; never Streamlit's box.

Streamlit stops and repeats a run by raising what is not an `Exception`: that passes.
"""

import html
from dataclasses import dataclass
from logging import getLogger

from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.kit.guarded import take_failure
from viz.run.cpu_instead import relieved
from viz.run.operating.logs import failure
from viz.run.operating.metrics import COUNTS
from viz.screen import Screen, link
from viz.state.note import fail
from viz.state.state import current_theme, session

_LOG = getLogger(__name__)


@dataclass
class Drawing:
    """The last pages of a session, as they were drawn."""

    theme: str = ""
    """The name of the theme of the last one, with its style and its sidebar."""
    failed: str | None = None
    """The reason why the last run could not draw its page; the run that follows says it."""
    good: tuple[str, Screen] | None = None
    """The last screen that was drawn whole, after the title of its page."""


def report(error: Exception, failed: str) -> str:
    """Log where, without what people typed. What a screen says of it; failed: its beginning.

    A refusal is an answer, and no failure: it is neither logged nor counted.
    """
    trouble = relieved(error)
    if trouble is None and isinstance(error, Refusal):
        return str(error)
    _LOG.error("%s: %s", failed, failure(error))
    COUNTS.add("headscope_failures_total")
    if trouble is not None:
        return str(trouble)
    if isinstance(error, MemoryError):
        why = "there is not enough memory; a shorter text or a smaller checkpoint needs less"
    elif isinstance(error, OSError) and error.strerror:
        why = f"a file cannot be read or written ({error.strerror})"
    else:
        why = f"the program has a fault there ({type(error).__name__}), which its log describes"
    return f"{failed}: {why}."


def say_failure(sentence: str) -> None:
    """Draw the sentence, with a link to the last screen that was drawn whole."""
    fail(f"{sentence} Choose another page, text or checkpoint, or go back to what worked.")
    title, screen = _last_good()
    style = f"color: {current_theme().accent}; text-underline-offset: 3px"
    st.html(f'<a data-state style="{style}" href="{html.escape(link(screen))}">{title}</a>')


def say_failed_choice() -> None:
    """Draw a sentence where the callback before this run failed; the page stays as it was."""
    if (error := take_failure()) is not None:
        fail(report(error, "What you chose last did not work"))


def _last_good() -> tuple[str, Screen]:
    """A link's words, and where it leads: to the start, where nothing was drawn whole before."""
    good, screen = session().of(Drawing).good, session().screen
    if good is not None and good[1] != screen:
        return f"Back to {html.escape(good[0])}", good[1]
    is_start = screen == Screen()
    return "Try again" if is_start else "Back to the start", Screen()
