"""Stories that are put together, as files: at home a restart of the server does not lose them.

A public server writes nothing for strangers. It reads what was put together at home before it was
started for phones: whoever has the code of a story, which cannot be guessed, may read it.
"""

import os
import re
from contextlib import suppress
from itertools import islice
from pathlib import Path

from viz.run.settings import is_public
from viz.stories.reading import read_story
from viz.stories.story import Story, StoryError
from viz.stories.writing import write_story

FOLDER = "HEADSCOPE_STORIES"
MOST_FILES = 300
"""The one that was written longest ago leaves first."""
MOST_LISTED = 8
_CODE = re.compile(r"[A-Za-z0-9_-]{16}")


def folder() -> Path | None:
    """HEADSCOPE_STORIES: the folder of stories that are put together; None: it is "no"."""
    text = os.environ.get(FOLDER, "")
    if text == "no":
        return None
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(text or f"{state}/headscope/stories").expanduser().absolute()


def keeps_drafts() -> bool:
    """Tell whether stories are written to disk: at home, unless somebody forbids it."""
    return folder() is not None and not is_public()


def write_draft(code: str, story: Story, owner: str) -> str:
    """Write a story and who may change it. Return why that failed; empty where it did not."""
    at = folder()
    if at is None or not keeps_drafts():
        return ""
    if not story.scenes:
        return "it has no scene"
    text = write_story(story)
    try:
        read_story(text, code)
    except StoryError as error:  # the file before stays, which can be read
        return f"it could not be read again, {str(error).removeprefix(f'{code}: ')}"
    try:
        at.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(at / f"{code}.owner", owner)
        _write(at / f"{code}.md", text)
        drafts = (each for each in at.glob("*.md") if _CODE.fullmatch(each.stem))
        for old in sorted(drafts, key=_age)[:-MOST_FILES]:
            old.unlink(missing_ok=True)
            old.with_suffix(".owner").unlink(missing_ok=True)
    except OSError as error:
        return f"{at}: {error.strerror}"
    return ""


def draft_on_disk(code: str) -> tuple[Story, str] | None:
    """Read a story and who may change it; None where there is none that can be read."""
    at = folder()
    if at is None or not _CODE.fullmatch(code):
        return None
    with suppress(OSError, UnicodeDecodeError, StoryError):
        text = (at / f"{code}.md").read_text("utf-8")
        return read_story(text, code), (at / f"{code}.owner").read_text("ascii")
    return None


def newest_drafts(owner: str) -> list[tuple[str, Story]]:
    """Code and story of the newest ones on disk that this owner may change: nobody else's."""
    at = folder()
    if at is None:
        return []
    files = sorted((it for it in at.glob("*.md") if _CODE.fullmatch(it.stem)), key=_age)
    newest = (each.stem for each in reversed(files[-MOST_FILES:]))
    mine = (code for code in newest if _owner_of(at, code) == owner)
    read = ((code, draft[0]) for code in mine if (draft := draft_on_disk(code)) is not None)
    return list(islice(read, MOST_LISTED))


def _owner_of(folder: Path, code: str) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return (folder / f"{code}.owner").read_text("ascii")
    return ""


def written_at(code: str) -> int:
    """The time at which a story was written, in nanoseconds; 0 where it is not on disk."""
    at = folder()
    with suppress(OSError):
        if at is not None and _CODE.fullmatch(code):
            return (at / f"{code}.md").stat().st_mtime_ns
    return 0


def _write(path: Path, text: str) -> None:
    """All of it or nothing: a server may end at any moment."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "w", encoding="utf-8", opener=_private) as file:
        file.write(text)
    part.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _age(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0
