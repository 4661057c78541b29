"""A story's file, uploaded, or by its path where paths may be opened."""

from collections.abc import Callable
from pathlib import Path

from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.kit.guarded import guarded
from viz.state.note import fail
from viz.state.opening import can_open
from viz.state.state import session
from viz.stories.story import Story
from viz.talks.collecting import begin
from viz.talks.dropped_files import Dropped
from viz.talks.stories import of_content, open_story

_FILE, _PATH, _BOX = "story file", "story path", "open a story"


def open_box() -> None:
    """Draw the button and what it opens: it closes once a story was opened."""
    key = f"{_BOX} {session().turns.get(_BOX, 0)}"  # another one is closed, and holds no file
    with st.popover("Open a story", icon=":material/upload_file:", key=key):
        if why := session().of(Dropped).refused_story:
            fail(why)
        st.file_uploader(
            "A story, as it was saved here",
            ["md"],
            key=f"{_FILE} {key}",
            on_change=guarded(lambda: _take(f"{_FILE} {key}")),
            max_upload_size=1,
        )
        if can_open():
            path = f"{_PATH} {key}"
            st.text_input("Or its path", key=path, on_change=guarded(lambda: _take_path(path)))


def _take(key: str) -> None:
    file = st.session_state[key]
    if file is not None:
        _begin(lambda: of_content(file.name, file.getvalue()))


def _take_path(key: str) -> None:
    typed = str(st.session_state[key]).strip().strip("\"'")
    if typed:
        _begin(lambda: open_story(str(Path(typed).expanduser().absolute())))


def _begin(read: Callable[[], Story]) -> None:
    own = session().of(Dropped)
    own.refused_story = ""
    try:
        begin(read())
    except (Refusal, OSError, RuntimeError) as error:  # said until another one is given
        own.refused_story = str(error)
        return
    turns = session().turns
    turns[_BOX] = turns.get(_BOX, 0) + 1
