"""Stories that are being put together: in the server's memory, by a code that the address names.

A reload finds them again, another server does not: a story that is to stay is saved as a file.
"""

import secrets
from collections import OrderedDict
from dataclasses import replace
from threading import Lock

from viz.stories.story import Story

MOST = 300
"""Of all people; who has not touched theirs for longest loses it first."""
PREFIX = "draft-"
"""What the name of such a story begins with; its code follows."""


class Drafts:
    """Code -> story, for all sessions. A code cannot be guessed."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, Story] = OrderedDict()
        self._lock = Lock()

    def get(self, code: str | None) -> Story | None:
        """The story of this code, which was used just now."""
        with self._lock:
            if code is None or code not in self._known:
                return None
            self._known.move_to_end(code)
            return self._known[code]

    def begin(self, story: Story) -> str:
        """Keep a story under a new code."""
        code = secrets.token_urlsafe(12)
        self.put(code, story)
        return code

    def put(self, code: str, story: Story) -> None:
        """Keep what has become of a story."""
        with self._lock:
            self._known[code] = replace(story, name=f"{PREFIX}{code}")
            self._known.move_to_end(code)
            while len(self._known) > self._most:
                self._known.popitem(last=False)


DRAFTS = Drafts()
