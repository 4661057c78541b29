"""The story that an address names: a shipped one, one that is put together here, or a file."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from transformer.files.foreign_text import clean
from transformer.files.regular_file import read_regular
from transformer.files.weights import Misfit
from transformer.refusal import Refusal
from viz.page_fields import CompareFields
from viz.screen import Screen, link
from viz.state.checkpoints import OFF, can_open, check_allowed, is_here
from viz.state.fingerprints import meant_by
from viz.state.state import session
from viz.stories.reading import LARGEST, read_story, shipped_stories
from viz.stories.story import Story, StoryError
from viz.talks.story_drafts import DRAFTS, PREFIX, begin

# The story that an address names: a shipped one, one that is put together here, or a file's.

_offered: set[Path] = set()
"""Files that the operator opened the app with."""


def story_of(name: str | None) -> Story | None:
    """The story of this name or path; None where there is none, or it cannot be read."""
    try:
        return open_story(name or "")
    except Refusal:
        return None


def why_not(name: str | None) -> str | None:
    """Say why the story of this name cannot be told; None where it can, or none is named."""
    if name is None:
        return None
    try:
        open_story(name)
    except Refusal as error:
        return str(error)
    return None


def open_story(name: str) -> Story:
    """The story of this name or path. Raises StoryError and CheckpointError, in a sentence."""
    if (story := shipped_stories().get(name)) is not None:
        return story
    if name.startswith(PREFIX):
        draft = DRAFTS.read(name.removeprefix(PREFIX))
        if draft is None or not draft.scenes:
            raise StoryError("That story is not here any more: open the file that it was saved as.")
        return draft
    return _from_path(name)


def offer(path: Path) -> Story:
    """The story of a file that the app is started with: everybody may open it by its path.

    Raises StoryError and CheckpointError, in a sentence.
    """
    whole = path.expanduser().absolute()
    _offered.add(whole)
    return open_story(str(whole))


def doubts(story: Story, names: Collection[str]) -> list[str]:
    """Name what a story needs and is not here, in sentences with the lines of its file.

    names: names and paths of the checkpoints that may be chosen. Another may be opened later.
    """
    screens = [scene.screen for scene in story.scenes]
    of_b = [each.of(CompareFields) for each in screens]
    named = {(each.checkpoint, each.weights, each.made_with) for each in screens}
    named |= {(each.checkpoint_b, each.weights_b, None) for each in of_b}
    used = {story.checkpoint, *(meant_by(*each) for each in named)}
    seen, file = dict[str, str](), clean(Path(story.name).name)
    for each in story.names:
        line = f"line {each.line}" if is_draft(story) else f"{file}: line {each.line}"
        name = clean(each.name, 80)
        if each.sort == "host":
            seen.setdefault(each.name, f"{line}: scenes open here, and not at {name}.")
        elif each.name in used and not is_here(each.name, names):
            why = f"there is no checkpoint {name} here. Open it before the talk"
            seen.setdefault(each.name, f"{line}: {why}, or other weights are shown.")
    return list(seen.values())


def is_draft(story: Story) -> bool:
    """Tell whether it is put together here, and no file."""
    return story.name.startswith(PREFIX)


def _from_path(name: str) -> Story:
    path = Path(name)
    if not path.is_absolute():
        raise StoryError("There is no story of that name here: a file is opened by its whole path.")
    if path not in _offered:
        if not can_open():
            raise StoryError(OFF)
        check_allowed([path])
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise StoryError(f"There is no story at {path.name[:80]} on this machine.") from error
    return _read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)
def _read(path: Path, changed_ns: int, size: int) -> Story:
    """written, size: of the file, which is read again when it changes."""
    try:
        content = read_regular(path, LARGEST)
    except Misfit as error:
        raise StoryError(f"{path.parent.name}: {path.name} {error}.") from error
    return of_content(str(path), content)


def of_content(name: str, content: bytes) -> Story:
    """The story that a file's bytes tell. Raises StoryError."""
    if len(content) > LARGEST:
        raise StoryError(f"{Path(name).name}: this is longer than any story, {LARGEST:,} bytes.")
    try:
        return read_story(content.decode("utf-8"), name)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise StoryError(f"{Path(name).name}: line {line}: this is not text in UTF-8.") from error


# A story's file that was dropped on the app: it is put together on Stories, and can be told.


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
