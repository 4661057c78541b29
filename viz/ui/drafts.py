"""Stories that are being put together: in the server's memory, by a code that the address names.

Who has that code changes the story. Its name, which an audience sees, has another one that is made
from it: that one only reads. A reload finds a draft again, another server does not: a story that is
to stay is saved as a file.
"""

import secrets
from base64 import urlsafe_b64encode
from collections import OrderedDict
from dataclasses import replace
from hashlib import blake2b
from threading import Lock

from viz.stories.story import Story

MOST = 300
"""Of all people; who has not touched theirs for longest loses it first."""
PREFIX = "draft-"
"""What the name of such a story begins with; the code that reads it follows."""
_CODE_BYTES = 12


class Drafts:
    """Code -> story, for all sessions. Neither code of a story can be guessed."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: OrderedDict[str, Story] = OrderedDict()
        self._lock = Lock()

    def get(self, code: str | None) -> Story | None:
        """The story that this code changes, which was used just now."""
        return None if code is None else self.read(reading_code(code))

    def read(self, code: str) -> Story | None:
        """The story that this code reads, which was used just now."""
        with self._lock:
            if code not in self._known:
                return None
            self._known.move_to_end(code)
            return self._known[code]

    def begin(self, story: Story) -> str:
        """Keep a story under a new code, which changes it."""
        code = secrets.token_urlsafe(_CODE_BYTES)
        self.put(code, story)
        return code

    def put(self, code: str, story: Story) -> None:
        """Keep what has become of the story that this code changes."""
        read = reading_code(code)
        with self._lock:
            self._known[read] = replace(story, name=f"{PREFIX}{read}")
            self._known.move_to_end(read)
            while len(self._known) > self._most:
                self._known.popitem(last=False)


def reading_code(code: str) -> str:
    """The code that reads what this one changes; it says nothing of it."""
    digest = blake2b(code.encode("utf-8", "replace"), digest_size=_CODE_BYTES, person=b"draft")
    return urlsafe_b64encode(digest.digest()).decode()


DRAFTS = Drafts()
