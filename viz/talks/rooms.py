"""Rooms: where a talk is, for all windows and phones that follow it, and their answers."""

import asyncio
import math
import re
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from transformer.refusal import Refusal
from viz.choice import QUESTION
from viz.components.kit.browser import digest
from viz.lessons.task import shares
from viz.screen import Screen

# Answers of the people in a room to a scene's question: 100 points each, on the words of a row.
#
# Nothing of the truth is here: what people said is scored where the weights are, once they are
# shown.

ALL = 100
"""Points that one person may spread."""
MOST_WORDS = 100
"""The number of words in a row that a room may be asked about."""
MOST_ANSWERS = 1000
"""The number of people who may answer one question."""


@dataclass
class Tally:
    """The answers to one question; whoever answers again changes theirs, until it is revealed."""

    words: tuple[str, ...] = ()
    """() until somebody has seen the question."""
    guess: tuple[int, ...] | None = None
    """The points of the window that revealed it; None: it is not revealed."""
    answers: dict[str, bytes] = field(default_factory=dict)
    """The points on each word, by who gave them."""
    sums: list[int] = field(default_factory=list)
    """The sums of all points on each word."""
    _logs: list[float] | None = None

    def put(self, who: str, points: Sequence[int]) -> None:
        """Count an answer; one without points takes back what was said."""
        is_full = len(self.answers) >= MOST_ANSWERS and who not in self.answers
        if self.guess is not None or len(points) != len(self.words) or is_full:
            return
        before = self.answers.pop(who, bytes(len(points)))
        if any(points):
            self.answers[who] = bytes(points)
        sums = self.sums or [0] * len(points)
        self.sums = [a - b + c for a, b, c in zip(sums, before, points, strict=True)]

    def reveal(self, guess: tuple[int, ...]) -> None:
        """No answer is counted any more. guess: of the window that shows the truth."""
        if self.guess is None:
            self.guess = guess

    def counted(self, who: str) -> list[int] | None:
        """The answer that is known of somebody."""
        answer = self.answers.get(who)
        return None if answer is None else list(answer)

    def summary(self) -> dict[str, Any]:
        """Return what a wall shows; what scores it, too, once it is revealed."""
        result = {"answered": len(self.answers), "points": self.sums}
        return result | ({"logs": self.logs} if self.guess is not None else {})

    @property
    def logs(self) -> list[float]:
        """The mean over people of ln p for each word, p being its share of their points.

        The mean of what they all pay is -sum_j A_j of these.
        """
        if self._logs is None:
            rows = [[math.log(each) for each in shares(one)] for one in self.answers.values()]
            self._logs = [math.fsum(word) / len(rows) for word in zip(*rows, strict=True)]
        return self._logs


def why_not_counted(words: Sequence[str]) -> str:
    """Say why a room counts no answers about these words; empty where it does."""
    if len(words) <= MOST_WORDS:
        return ""
    return (
        f"This sentence is too long to be counted: it has {len(words)} words here, and answers are "
        f"counted on {MOST_WORDS} at most."
    )


def question_of(screen: Screen) -> str:
    """A name of what the scene asks about this sentence: another one is another question."""
    return digest(repr([getattr(screen, name) for name in sorted(QUESTION)]).encode())


def points_of(values: Any) -> tuple[int, ...] | None:
    """Read the points that a browser puts on words, which may be anything; None: no such points."""
    if not isinstance(values, list) or not all(type(each) is int and each >= 0 for each in values):
        return None
    return tuple(values) if sum(values) <= ALL else None


# Rooms: where a talk is, for all windows and phones that follow it. In this process's memory.
#
# A room is named by a code that nobody guesses, and moved by whoever has its key: the code is
# made from the key, so that whoever has it can open the same room again after the server has
# ended. Each move has the next number, and the last one holds. All of it happens in the server's
# one loop, so nothing is locked; only `known`, `ask` and `guess_of` are for the threads in which
# pages are drawn.

MOST, MOST_OF_ADDRESS = 200, 20
"""Rooms of all people, and of one network address."""
MOST_LISTENERS = 1000
"""Windows and phones in one room."""
MOST_QUESTIONS = 20
"""The number of questions whose answers a room remembers."""
RATE, AT_ONCE = 5.0, 20
"""Answers per second of one listener, and so many more where it rested before."""
LONGEST = 12 * 3600.0
"""Seconds after its last move at which a room ends."""
OVER = ("", "blank", "qr")
"""Nothing, black, or the audience's link as a QR code."""
_CODE_BYTES, _KEY_BYTES = 9, 24
_NAME = re.compile(r"[\w-]{8,40}")


class RoomError(Refusal):
    """A room that cannot be opened or entered; the message says why."""


@dataclass(eq=False)
class Listener:
    """A window or a phone in a room."""

    holds: bool
    """True: it has the key."""
    who: str = ""
    """The name that its browser gives itself, so that whoever comes back keeps their place."""
    answers: bool = False
    """True: it is a phone of the audience. It is asked, and told no answers before the truth."""
    done: int = 0
    """The last of its moves that was heard."""
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    """There is news for it."""
    owes: float = 0.0
    said_at: float = 0.0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.who):
            self.who = secrets.token_hex(8)

    def may_answer(self, now: float) -> bool:
        """Tell whether it answers seldom enough. now: seconds of a clock that only goes forward."""
        self.owes = max(self.owes - RATE * (now - self.said_at), 0) + 1
        self.said_at = now
        return self.owes <= AT_ONCE


@dataclass
class Room:
    """The place of a talk: its screen, its listeners, and their answers."""

    code: str
    address: str
    """The network address of whoever opened it."""
    moved: float
    """The time of the last move, in seconds of a clock that only goes forward."""
    screen: Screen | None = None
    """The screen that everybody is to see, of no role and no room; None: there was no move yet."""
    over: str = ""
    """The cover of the scene on the wall: one of OVER."""
    n: int = 0
    """The number of moves."""
    listeners: set[Listener] = field(default_factory=set)
    question: str = ""
    """The name of its scene's question, as `question_of` has it."""
    tallies: dict[str, Tally] = field(default_factory=dict)
    """Tallies by question, the newest last."""
    is_over: bool = False

    @property
    def n_following(self) -> int:
        """The number of listeners beside the presenter's own windows."""
        return sum(not each.holds for each in self.listeners)

    def enter(self, holds: bool, who: str = "", answers: bool = False) -> Listener:
        """Be told of every move from now on. Raises RoomError where too many are.

        who, answers: as a Listener has them.
        """
        if len(self.listeners) >= MOST_LISTENERS and not holds:
            raise RoomError(f"{MOST_LISTENERS} windows follow this talk: there is no more room.")
        listener = Listener(holds, who, answers)
        self.listeners.add(listener)
        listener.woken.set()
        self._tell_walls()
        return listener

    def leave(self, listener: Listener) -> None:
        """Be told nothing more."""
        self.listeners.discard(listener)
        self._tell_walls()

    def tell(self) -> None:
        """Wake all who listen."""
        for each in self.listeners:
            each.woken.set()

    def ask(self, screen: Screen, words: tuple[str, ...]) -> None:
        """Somebody sees the question of this screen, on these words, as the server drew it."""
        if _of_all(screen) != self.screen or len(words) > MOST_WORDS:
            return  # it has wandered, or is still on its way
        tally = self.tallies.setdefault(self.question, Tally(words))
        if tally.words != words and tally.guess is None:
            self.tallies[self.question] = Tally(words)

    def guess_of(self, question: str) -> tuple[int, ...] | None:
        """With which points this was revealed; None: it was not."""
        tally = self.tallies.get(question)
        return None if tally is None else tally.guess

    def answer(self, listener: Listener, question: str, points: tuple[int, ...]) -> None:
        """Count what a listener says, if it is about what is asked now."""
        if question == self.question and (tally := self.tallies.get(question)) is not None:
            tally.put(listener.who, points)
            self._tell_walls()
        listener.woken.set()

    def news_for(self, listener: Listener) -> dict[str, Any]:
        """Return the news of answers: to the audience only its own, until the truth is shown."""
        tally = self.tallies.get(self.question) or Tally()
        listeners = {each.who for each in self.listeners if each.answers} | tally.answers.keys()
        is_shown = tally.guess is not None or not listener.answers
        all_told = {**tally.summary(), "asked": len(listeners)} if is_shown else {}
        mine = {"mine": tally.counted(listener.who)} if listener.answers else {}
        return {"of": self.question, "revealed": tally.guess is not None, **mine, **all_told}

    def turn(self, screen: Screen) -> None:
        """Be at this screen, and at its question."""
        self.screen = _of_all(screen)
        self.question = question_of(self.screen)
        if screen.guess is not None:
            self.tallies.setdefault(self.question, Tally()).reveal(screen.guess)
        for old in list(self.tallies)[:-MOST_QUESTIONS]:
            del self.tallies[old]

    def _tell_walls(self) -> None:
        """Wake the walls: the number of listeners, or their answers, changed."""
        for each in self.listeners:
            if not each.answers:
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
        self._rooms: dict[str, Room] = {}

    def open(self, address: str, key: str) -> Room:
        """The room of this key. Raises RoomError where there are too many.

        Where all are taken, one in which nobody is ends for it: the one not moved for longest.
        """
        self._end_old()
        code = code_of(key)
        if code in self._rooms:
            return self._rooms[code]
        mine = [each for each in self._rooms.values() if each.address == address]
        if len(mine) >= self._most_of_address:
            self._make_place(mine, "this network", self._most_of_address)
        if len(self._rooms) >= self._most:
            self._make_place(list(self._rooms.values()), "this server", self._most)
        room = self._rooms[code] = Room(code, address, self._now())
        return room

    def get(self, code: str) -> Room | None:
        """The room of this code, if it is not over."""
        self._end_old()
        return self._rooms.get(code)

    def find(self, code: str | None) -> Room | None:
        """The same for a thread beside the loop: nothing ends by it."""
        return self._rooms.get(code or "")

    def move(self, room: Room, screen: Screen, over: str = "") -> None:
        """Lead everybody there. over: one of OVER."""
        room.turn(screen)
        room.n, room.over, room.moved = room.n + 1, over, self._now()
        room.tell()

    def __len__(self) -> int:
        return len(self._rooms)

    def _end_old(self) -> None:
        for room in list(self._rooms.values()):
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
        del self._rooms[room.code]
        room.is_over = True
        room.tell()


def _of_all(screen: Screen) -> Screen:
    """Return the screen without what is of one window."""
    return replace(screen, role=None, room=None, draft=None)


def new_key() -> str:
    """Return a new key, for the presenter's browser alone."""
    return secrets.token_urlsafe(_KEY_BYTES)


def code_of(key: str) -> str:
    """The room that a key opens."""
    digest = blake2b(key.encode("utf-8", "replace"), digest_size=_CODE_BYTES, person=b"talk")
    return urlsafe_b64encode(digest.digest()).decode()


def holds(key: str, code: str) -> bool:
    """Tell whether the key is that of the room."""
    return bool(key) and secrets.compare_digest(code_of(key).encode(), code.encode())


ROOMS = Rooms()
