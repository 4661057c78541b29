"""Stories that are being put together, by a code that the address names.

Who has that code reads the story; the browser that began it changes it. They are in the server's
memory, and at home on disk as well (viz/talks/drafts_on_disk.py), where the next server finds them.
"""

import secrets
from collections import OrderedDict
from dataclasses import replace
from hashlib import sha256
from threading import Lock

from viz.stories.story import Story
from viz.talks.drafts_on_disk import (
    draft_on_disk,
    folder,
    newest_drafts,
    write_draft,
    written_at,
)

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
