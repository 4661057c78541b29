"""Sentences beside what a page shows: why something is not there, or is not what was asked for."""

from viz.app_packages import st
from viz.labels import literal

_ICON = ":material/info:"


def note(reason: object) -> None:
    """Draw a sentence, or that of a refusal, as it stands: nothing in it is Markdown."""
    st.info(literal(str(reason)), icon=_ICON)


def warn(reason: object) -> None:
    """Draw the same where something that was asked for could not be done."""
    st.warning(literal(str(reason)), icon=_ICON)


def fail(reason: object) -> None:
    """Draw the same where something is wrong."""
    st.error(literal(str(reason)), icon=":material/error:")
