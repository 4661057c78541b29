"""Stories that are being put together: in the server's memory, by a code that the address names.

Who has that code reads the story; the browser that began it changes it. A reload finds a draft
again, another server does not: a story that is to stay is saved as a file.
"""

import secrets
from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from viz.stories.story import Story

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

    def read(self, code: str | None) -> Story | None:
        """The story of this code, which was used just now."""
        with self._lock:
            if code is None or code not in self._drafts:
                return None
            self._drafts.move_to_end(code)
            return self._drafts[code][0]

    def is_of(self, code: str, browser: str) -> bool:
        """Tell whether this browser began it."""
        draft = self._drafts.get(code)
        return draft is not None and secrets.compare_digest(draft[1].encode(), browser.encode())

    def begin(self, story: Story, browser: str) -> str:
        """Keep a story under a new code; only this browser changes it."""
        code = secrets.token_urlsafe(12)
        with self._lock:
            self._put(code, story, browser)
            while len(self._drafts) > self._most:
                self._drafts.popitem(last=False)
        return code

    def put(self, code: str, story: Story, browser: str) -> bool:
        """Keep what has become of a story; False where it is gone, or another browser's."""
        with self._lock:
            is_of = self.is_of(code, browser)
            if is_of:
                self._put(code, story, browser)
        return is_of

    def _put(self, code: str, story: Story, browser: str) -> None:
        self._drafts[code] = (replace(story, name=f"{PREFIX}{code}"), browser)
        self._drafts.move_to_end(code)


DRAFTS = Drafts()
