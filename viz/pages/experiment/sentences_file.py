"""Sentences from a file of one's own, one per line, into the field where they may be changed."""

from dataclasses import dataclass
from unicodedata import category

from transformer.files.foreign_text import clean
from transformer.inputs import InputError
from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.state.note import warn
from viz.state.state import change, session

MOST_CHARACTERS = 3000
"""The length of all sentences: they are part of the address."""
_KEY = "sentences file"
_LIMIT = (
    f"up to {MOST_CHARACTERS:,} characters are swept here; python -m transformer sweep takes any "
    "file."
)


@dataclass
class SentencesFile:
    """The file that was given last."""

    refused: str = ""
    """The reason why it was not taken; empty: it was."""


def choose_file() -> None:
    """Draw what opens the picker."""
    with st.popover("From a file", icon=":material/upload_file:"):
        st.file_uploader(
            "A text file in UTF-8, one sentence per line",
            ["txt"],
            key=_KEY,
            on_change=guarded(_take),
            max_upload_size=1,
        )
    if why := session().of(SentencesFile).refused:
        warn(why)


def _take() -> None:
    file, own = st.session_state[_KEY], session().of(SentencesFile)
    own.refused = ""
    if file is not None:
        try:
            change(sweep_sentences=lines_of(file.name, file.getvalue()))
        except InputError as error:  # said until another one is given: the page grows meanwhile
            own.refused = str(error)


def lines_of(name: str, content: bytes) -> str:
    """The lines of a file that are not empty. Raises InputError for what is no such text."""
    if len(content) > 4 * MOST_CHARACTERS:
        raise InputError(f"{clean(name)} is too long: {_LIMIT}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{clean(name)} is not a text in UTF-8: save it as one.") from None
    lines = list(filter(None, map(str.strip, text.splitlines())))
    if not lines:
        raise InputError(f"{clean(name)} has no sentence: write one per line.")
    if any(category(character) == "Cc" for line in lines for character in line.replace("\t", "")):
        raise InputError(f"{clean(name)} holds more than text: save it as plain text.")
    joined = "\n".join(lines)
    if len(joined) > MOST_CHARACTERS:
        raise InputError(f"{clean(name)} is too long: {_LIMIT}")
    return joined
