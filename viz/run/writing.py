"""Texts that models write, each in a thread of its own, for all who wait for the same one."""

import time
from dataclasses import dataclass, field, replace
from threading import Event, Lock, Thread

from transformer import record
from transformer.decoding import decoding_methods
from transformer.decoding.decode import Written
from transformer.refusal import Refusal
from viz.run.batches import Runner, entered
from viz.run.request import (
    Answer,
    Request,
    about,
    answer,
    answer_at_hand,
    keep_answer,
    make_answer,
    open_checkpoint,
)

PATIENCE = 0.5
"""Seconds in which most texts are finished."""
GONE = 90.0
"""Seconds after which nobody looks any more; a page in the background may ask once a minute."""

_lock = Lock()
_going_on: dict[Request, "Writing"] = {}


class _Unread(Refusal):
    """Nobody waits for the text any more."""


class Writing:
    """The answer to a request, while the model writes its text."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.readers: list[Reader] = []
        """Once none of them is there the writing ends with the next token."""
        self.so_far: Written | None = None
        """After the last token; None before the first one."""
        self.n_before: int | None = None
        """Texts that are decoded first, while there is no room for this one."""
        self.done = Event()
        self.error: Exception | None = None
        self.is_unread = False
        """Whether it ended because nobody waited for it."""
        self.began = time.perf_counter()

    @property
    def is_late(self) -> bool:
        """Whether it takes so long that pictures are drawn of a part of it."""
        return time.perf_counter() - self.began > PATIENCE

    def result(self) -> Answer:
        """The answer, once it is done. Raises what `make_answer` raised."""
        if self.error is not None:
            raise self.error
        return answer(self.request)

    def write(self) -> None:
        """Make the answer, and put it into the cache."""
        try:
            runner = Runner(on_wait=self._wait, check=self._check)
            keep_answer(make_answer(self.request, self._hear, runner=runner))
        except _Unread:
            self.is_unread = True
        except Exception as error:  # whoever waits for it is told
            self.error = error
        finally:
            with _lock:
                self._leave()
            self.done.set()

    def _hear(self, written: Written) -> None:
        self.so_far, self.n_before = written, None
        self._check()

    def _wait(self, n_before: int | None) -> None:
        self.n_before = n_before

    def _check(self) -> None:
        with _lock:
            if not any(reader.is_there for reader in self.readers):
                self._leave()
                raise _Unread("Nobody waits for this text.")

    def _leave(self) -> None:
        if _going_on.get(self.request) is self:
            del _going_on[self.request]


@dataclass(eq=False)
class Reader:
    """A session that waits for a text, and draws pictures of what there is of it."""

    writing: Writing
    drawing_since: float = 0.0
    """When the last pictures were begun; by `time.perf_counter`, in s."""
    took: float | None = None
    """How long they took, in s; None until they are drawn."""
    seen: float = field(default_factory=time.perf_counter)
    """When the browser asked for the text last: one that is closed does not say so."""

    @property
    def is_there(self) -> bool:
        return time.perf_counter() - self.seen < GONE

    def look(self) -> None:
        """Say that the text is still waited for."""
        self.seen = time.perf_counter()

    def end(self) -> None:
        """Wait no longer."""
        with _lock:
            self.writing.readers.remove(self)


def read(request: Request) -> Reader | None:
    """Wait for its text, together with whoever does already; None where its answer is at hand."""
    with _lock:
        writing = _going_on.get(request)
        if writing is not None:
            return _joined(writing)
    if answer_at_hand(request) is not None:
        return None
    with _lock:
        writing = _going_on.get(request) or Writing(request)
        reader = _joined(writing)
        if request not in _going_on:
            _going_on[request] = writing
            Thread(target=writing.write, name="writing", daemon=True).start()
    return reader


def _joined(writing: Writing) -> Reader:
    reader = Reader(writing)
    writing.readers.append(reader)
    return reader


def part_of(writing: Writing) -> Answer:
    """The answer as far as it is written: that to a request with so many tokens as its length.

    There is one after the first token.
    """
    assert writing.so_far is not None
    decoding, request = writing.so_far.decoding(), writing.request
    checkpoint = open_checkpoint(request)
    with entered.turn(checkpoint.model):
        recording = record(checkpoint, request.text, decoding.target, request.edits)
    seconds = time.perf_counter() - writing.began
    shorter = with_length(request, len(decoding.hypotheses[0].ids))
    return Answer(shorter, checkpoint, decoding, recording, seconds)


def with_length(request: Request, n: int) -> Request:
    """The request for at most n tokens."""
    options = dict(request.options)
    options["max_len"] = max(1, min(n, int(options.get("max_len", n))))
    return replace(request, options=tuple(options.items()))


def streams(request: Request) -> bool:
    """Whether its text is written one token after the other, so that a part of it can be shown."""
    known = about(request.checkpoint)
    return known is not None and known.family.decodes and decoding_methods()[request.method].streams


def as_stopped(request: Request, stopped: int | None) -> Request:
    """What is asked where somebody stopped the writing: a text of so many tokens."""
    return request if stopped is None or not streams(request) else with_length(request, stopped)
