"""Rooms: where a talk is, for all windows and phones that follow it. In this process's memory.

A room is named by a code that nobody guesses, and moved by whoever has its key: the code is made
from the key, so that whoever has it can open the same room again after the server has ended. Each
move has the next number, and the last one holds. All of it happens in the server's one loop, so
nothing is locked.
"""

import asyncio
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from transformer.refusal import Refusal
from viz.screen import Screen

MOST, MOST_OF_ADDRESS = 200, 20
"""Rooms of all people, and of one network address."""
MOST_LISTENERS = 1000
"""Windows and phones in one room."""
LONGEST = 12 * 3600.0
"""Seconds after its last move at which a room ends."""
OVER = ("", "blank", "qr")
"""Nothing, black, or the audience's link as a QR code."""
_CODE_BYTES, _KEY_BYTES = 9, 24


class RoomError(Refusal):
    """A room that cannot be opened or entered; the message says why."""


@dataclass(eq=False)
class Listener:
    """A window or a phone in a room."""

    holds: bool
    """Whether it has the key."""
    done: int = 0
    """The last of its moves that was heard."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """There is news for it."""


@dataclass
class Room:
    """Where a talk is."""

    code: str
    address: str
    """The network address of whoever opened it."""
    moved: float
    """When it was moved last, on a clock that only goes forward."""
    screen: Screen | None = None
    """What everybody is to see, of no role and no room; None: nothing was said yet."""
    over: str = ""
    """What hides the scene on the wall: one of OVER."""
    n: int = 0
    """How often it was moved."""
    listeners: set[Listener] = field(default_factory=set)
    is_over: bool = False

    @property
    def n_following(self) -> int:
        """How many there are beside the presenter's own windows."""
        return sum(not each.holds for each in self.listeners)

    def enter(self, holds: bool) -> Listener:
        """Be told of every move from now on. Raises RoomError where too many are."""
        if len(self.listeners) >= MOST_LISTENERS and not holds:
            raise RoomError(f"{MOST_LISTENERS} windows follow this talk: there is no more room.")
        listener = Listener(holds)
        self.listeners.add(listener)
        listener.woken.set()
        self._tell_presenter()
        return listener

    def leave(self, listener: Listener) -> None:
        """Be told nothing more."""
        self.listeners.discard(listener)
        self._tell_presenter()

    def tell(self) -> None:
        """Wake all who listen."""
        for each in self.listeners:
            each.woken.set()

    def _tell_presenter(self) -> None:
        """How many follow has changed."""
        for each in self.listeners:
            if each.holds:
                each.woken.set()


class Rooms:
    """Code -> room. now: seconds of a clock that only goes forward."""

    def __init__(
        self,
        most: int = MOST,
        most_of_address: int = MOST_OF_ADDRESS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most, self._most_of_address, self._now = most, most_of_address, now
        self._known: dict[str, Room] = {}

    def open(self, address: str, key: str) -> Room:
        """The room of this key. Raises RoomError where there are too many.

        Where all are taken, one in which nobody is ends for it: the one not moved for longest.
        """
        self._end_old()
        code = code_of(key)
        if code in self._known:
            return self._known[code]
        mine = [each for each in self._known.values() if each.address == address]
        if len(mine) >= self._most_of_address:
            self._make_place(mine, "this network", self._most_of_address)
        if len(self._known) >= self._most:
            self._make_place(list(self._known.values()), "this server", self._most)
        room = self._known[code] = Room(code, address, self._now())
        return room

    def get(self, code: str) -> Room | None:
        """The room of this code, if it is not over."""
        self._end_old()
        return self._known.get(code)

    def move(self, room: Room, screen: Screen, over: str = "") -> None:
        """Lead everybody there. over: one of OVER."""
        room.screen = replace(screen, role=None, room=None, draft=None)
        room.n, room.over, room.moved = room.n + 1, over, self._now()
        room.tell()

    def __len__(self) -> int:
        return len(self._known)

    def _end_old(self) -> None:
        for room in list(self._known.values()):
            if self._now() - room.moved > LONGEST:
                self._end(room)

    def _make_place(self, rooms: list[Room], whose: str, most: int) -> None:
        left = [each for each in rooms if not each.listeners]
        if not left:
            raise RoomError(
                f"All {most} rooms of {whose} are taken. Ask again when another talk is over."
            )
        self._end(min(left, key=lambda each: each.moved))

    def _end(self, room: Room) -> None:
        del self._known[room.code]
        room.is_over = True
        room.tell()


def new_key() -> str:
    """What only the presenter's browser is told."""
    return secrets.token_urlsafe(_KEY_BYTES)


def code_of(key: str) -> str:
    """The room that a key opens."""
    digest = blake2b(key.encode("utf-8", "replace"), digest_size=_CODE_BYTES, person=b"talk")
    return urlsafe_b64encode(digest.digest()).decode()


def holds(key: str, code: str) -> bool:
    """Whether the key is that of the room."""
    return bool(key) and secrets.compare_digest(code_of(key).encode(), code.encode())


ROOMS = Rooms()
