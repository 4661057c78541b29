"""A story's file that was dropped on the app: it is put together on Stories, and can be told."""

from transformer.files.foreign_text import shown
from transformer.refusal import Refusal
from viz.screen import Screen, link
from viz.state.state import session
from viz.talks.collecting import begin
from viz.talks.stories import of_content


def take_story(said: object) -> None:
    """Keep what the browser has read: {"name": of the file, "text": of it}."""
    if not isinstance(said, dict):
        return
    name, text = shown(str(said.get("name", "")), 80), str(said.get("text", ""))
    state = session()
    try:
        begin(of_content(name, text.encode("utf-8", "replace")))
        state.refused_story, state.goes = "", link(Screen("stories", draft=state.draft))
    except Refusal as error:  # said by the run that follows, beside what figures are refused for
        state.refused_figure = str(error)


def next_place() -> str:
    """Where the browser is to go; empty once it is there."""
    state = session()
    if state.screen.page == "stories":
        state.goes = ""
    return state.goes
