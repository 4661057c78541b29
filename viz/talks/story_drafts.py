"""Stories that are being put together: by a code, as files, and as they grow."""

import os
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from threading import Lock

from viz.app_packages import st
from viz.components.kit.sync import guarded
from viz.labels import literal
from viz.run.settings import is_public
from viz.screen import Screen, link
from viz.state.checkpoints import checkpoint_names
from viz.state.state import change, mend, session, this_browser
from viz.stories.reading import MOST_SCENES, one_line, read_story, write_story
from viz.stories.story import Scene, Story, StoryError, bare

# Stories that are put together, as files: at home a restart of the server does not lose them.
#
# A public server writes nothing for strangers. It reads what was put together at home before it
# was started for phones: whoever has the code of a story, which cannot be guessed, may read it.

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


# Stories that are being put together, by a code that the address names.
#
# Who has that code reads the story; the browser that began it changes it. They are in the
# server's memory, and at home on disk as well (viz/talks/story_drafts.py), where the next
# server finds them.

MOST = 300
"""The number of all people's drafts; the one that was touched longest ago leaves first."""
PREFIX = "draft-"
"""The beginning of such a story's name; its code follows."""


class Drafts:
    """Code -> story, for all sessions. A code cannot be guessed."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._drafts: OrderedDict[str, tuple[Story, str]] = OrderedDict()
        self._lock = Lock()
        self._unkept: dict[str, str] = {}
        self._seen: dict[str, int] = {}
        """Code -> when its file was written, as far as this server knows."""

    def read(self, code: str | None) -> Story | None:
        """The story of this code, which was used just now."""
        with self._lock:
            if code is None or not self._is_here(code):
                return None
            self._drafts.move_to_end(code)
            return self._drafts[code][0]

    def unkept(self, code: str) -> str:
        """Return why a story is not on disk as it is now; empty where it is, or is not to be."""
        return self._unkept.get(code, "")

    def drafts_of(self, browser: str) -> list[tuple[str, Story]]:
        """Return code and story of those on disk that this browser may see listed."""
        return newest_drafts(_owner(browser)) if folder() is not None else []

    def is_of(self, code: str, browser: str) -> bool:
        """Tell whether this browser began it."""
        with self._lock:
            return self._is_of(code, browser)

    def _is_of(self, code: str, browser: str) -> bool:
        draft = self._drafts[code] if self._is_here(code) else None
        return draft is not None and secrets.compare_digest(draft[1], _owner(browser))

    def begin(self, story: Story, browser: str) -> str:
        """Keep a story under a new code; only this browser changes it."""
        code = secrets.token_urlsafe(12)
        with self._lock:
            self._put(code, story, browser)
        return code

    def put(self, code: str, story: Story, browser: str) -> bool:
        """Keep what has become of a story; False where it is gone, or another browser's."""
        with self._lock:
            is_of = self._is_of(code, browser)
            if is_of:
                self._put(code, story, browser)
        return is_of

    def _put(self, code: str, story: Story, browser: str) -> None:
        self._unkept[code] = write_draft(code, story, _owner(browser))
        self._take(code, story, _owner(browser))

    def _take(self, code: str, story: Story, owner: str) -> None:
        self._drafts[code] = (replace(story, name=f"{PREFIX}{code}"), owner)
        self._seen[code] = written_at(code)
        self._drafts.move_to_end(code)
        while len(self._drafts) > self._most:
            old, _ = self._drafts.popitem(last=False)
            self._seen.pop(old, None)
            self._unkept.pop(old, None)

    def _is_here(self, code: str) -> bool:
        """Look for it on disk, too, where another server may have left it, or have changed it."""
        is_known = code in self._drafts and written_at(code) == self._seen.get(code)
        if not is_known and (draft := draft_on_disk(code)) is not None:
            self._take(code, *draft)
        return code in self._drafts


def _owner(browser: str) -> str:
    """The hash that is kept of the secret name of a browser."""
    return sha256(browser.encode()).hexdigest()


DRAFTS = Drafts()


# A story that somebody puts together: screens are added where they are seen, and kept.

TITLE = "My story"
ADD = "Add this to a story"
GONE = (
    "The story that was put together here is gone: this server does not have it. Open the file "
    "that it was saved as, on Stories."
)


@dataclass
class Draft:
    """The story that is put together in a session."""

    code: str | None = None
    added: str = ""
    """A sentence about the scene that was added last, for the next run."""


def keep_draft() -> None:
    """Let the address name the story that is put together, also where a link has left it out."""
    own, screen = session().of(Draft), session().screen
    if screen.draft is not None:
        own.code = screen.draft
    elif own.code is not None and screen.role is None:
        mend(replace(screen, draft=own.code))


def draft() -> Story | None:
    """The story that is put together, in this browser."""
    code = session().screen.draft
    return DRAFTS.read(code) if code and DRAFTS.is_of(code, this_browser()) else None


def anothers() -> Story | None:
    """The story that the address names, where another browser puts it together."""
    return None if draft() is not None else DRAFTS.read(session().screen.draft)


def is_gone() -> bool:
    """Tell whether the address names a story that is put together nowhere any more."""
    code = session().screen.draft
    return code is not None and DRAFTS.read(code) is None


def begin(story: Story) -> None:
    """Put this story together from now on."""
    session().of(Draft).code = code = DRAFTS.begin(story, this_browser())
    change(draft=code)


def where_kept() -> str:
    """Say where the story is, and what that is good for."""
    if not keeps_drafts():
        return "Kept in the server's memory only: save it, or it is gone once the server ends."
    if why := DRAFTS.unkept(session().screen.draft or ""):
        return (
            f"The last change is not on disk ({why.rstrip('.')}): a restart loses it, "
            "unless you save the story."
        )
    return f"Kept on this machine, in {folder()}: a restart of the server does not lose it."


def close() -> None:
    """Put no story together any more."""
    session().of(Draft).code = None
    change(draft=None)


def changed(change_it: Callable[[Story], Story]) -> None:
    """Keep what becomes of the story."""
    code, story = session().screen.draft, draft()
    if code is not None and story is not None:
        DRAFTS.put(code, change_it(story), this_browser())


def add_button(key: str, title: str | None = None) -> None:
    """Draw the button that adds the screen to the story, or begins one with it.

    title: of a page that is about no sentence, and heads its scene.
    """
    st.button(
        ADD,
        key=key,
        type="tertiary",
        icon=":material/playlist_add:",
        help="This screen becomes a scene; Stories has them all",
        on_click=guarded(partial(_add, title)),
    )
    own = session().of(Draft)
    if title_added := own.added:
        own.added = ""
        at = link(Screen("stories", draft=session().screen.draft))
        st.toast(f"{literal(title_added)} [Stories]({at}) has all.")


def _scene(title: str | None) -> Scene | None:
    screen, answer, names = bare(session().screen), session().answer, checkpoint_names()
    if title is not None and names:
        return Scene(title, "", replace(screen, checkpoint=screen.checkpoint or names[0]))
    if answer is None:
        return None
    request = answer.request
    screen = replace(screen, checkpoint=request.checkpoint, text=request.text)
    return Scene(one_line(request.text)[:120] or "A scene", "", screen)


def _add(title: str | None) -> None:
    scene = _scene(title)
    if scene is None:
        return
    story = draft()
    if story is None:
        begin(Story("", TITLE, "talk", None, "", (scene,)))
    elif len(story.scenes) == MOST_SCENES:
        session().of(
            Draft
        ).added = f"A story has {MOST_SCENES} scenes at most: this one was not added."
        return
    else:
        changed(lambda story: replace(story, scenes=(*story.scenes, scene)))
    session().of(Draft).added = f"Added as scene {len(story.scenes) + 1 if story else 1}."
