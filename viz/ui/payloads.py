"""The one cache of packed pictures: what each shows of an answer, shared by all sessions."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock

from viz.components.kit.picture import Picture
from viz.ui.opened import title
from viz.ui.request import Answer, Request

MOST_BYTES = 2**28
"""Of all payloads together: 256 MiB."""


class Payloads:
    """The payloads that were used last, up to a number of bytes. Threads may share it."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.n_bytes = 0
        self._lock = Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], bytes]) -> bytes:
        """The payload of this name; made, outside the lock, where it is not kept."""
        with self._lock:
            if name in self._kept:
                self._kept.move_to_end(name)
                return self._kept[name]
        made = make()
        self.put(name, made)
        return made

    def put(self, name: Hashable, payload: bytes) -> None:
        """Keep a payload, and drop those that were not used for longest."""
        with self._lock:
            self.n_bytes += len(payload) - len(self._kept.pop(name, b""))
            self._kept[name] = payload
            while self.n_bytes > self.most_bytes:
                self.n_bytes -= len(self._kept.popitem(last=False)[1])


PAYLOADS = Payloads(MOST_BYTES)


def payload_of(answer: Answer, picture: Picture) -> bytes:
    """The packed data of a picture of an answer. Raises ValueError as the picture does."""
    return PAYLOADS.get((answer.request, picture), lambda: picture.payload(*answer.made))


def caption_of(answer: Answer, name: str) -> str:
    """What stands below a copied figure: the checkpoint, and what is shown of it, by name."""
    return f"{title(answer.request.checkpoint)} · {name}"


def keep_payload(request: Request, picture: Picture, payload: bytes) -> None:
    """Put a payload that was made elsewhere into the cache."""
    PAYLOADS.put((request, picture), payload)
