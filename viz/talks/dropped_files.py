"""A story's file that was dropped on the app: it is put together on Stories, and can be told."""

from dataclasses import dataclass

from transformer.files.foreign_text import clean
from transformer.refusal import Refusal
from viz.screen import Screen, link
from viz.state.state import session
from viz.talks.collecting import begin
from viz.talks.stories import of_content


@dataclass
class Dropped:
    """Files that were dropped on the app, or given to it on Stories."""

    refused: str = ""
    """The reason why the last file is no figure and no story; the run that follows says it."""
    refused_story: str = ""
    """The reason why the last story was not opened; empty: it was."""
    goes: str = ""
    """The link to which the browser is to go: a story was dropped; empty: to none."""


def take_story(value: object) -> None:
    """Keep what the browser has read: {"name": of the file, "text": of it}."""
    if not isinstance(value, dict):
        return
    name, text = clean(str(value.get("name", "")), 80), str(value.get("text", ""))
    own = session().of(Dropped)
    try:
        begin(of_content(name, text.encode("utf-8", "replace")))
        own.refused_story, own.goes = "", link(Screen("stories", draft=session().screen.draft))
    except Refusal as error:  # said by the run that follows, beside what figures are refused for
        own.refused = str(error)


def next_place() -> str:
    """Return the address where the browser is to go; empty once it is there."""
    own = session().of(Dropped)
    if session().screen.page == "stories":
        own.goes = ""
    return own.goes
