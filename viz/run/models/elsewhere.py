"""Models on other machines, asked over HTTP: who asks needs no Ray, and outlives what answers."""

import io
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

from transformer import Checkpoint, CheckpointError, Decoding, InputError
from transformer.decoding.decode import Written
from transformer.decoding.method import OptionError
from transformer.decoding.wire import DecodingError, from_data, to_data
from transformer.edits.edit import EditError
from transformer.files.foreign_text import clean
from transformer.fingerprint import fingerprint, version_of
from transformer.recording.wire import WireError, from_bytes, to_bytes
from transformer.refusal import Refusal, quoted
from viz.run.line import Runner
from viz.run.models.place import ModelsError, Outcome, SilentModels, Task

# Frames between models elsewhere and who asks them: a letter, a length, and so many bytes.
#
# PLACE says how many come first, DRAFT what is written so far, ANSWER and ERROR end it, and BEAT
# only says that it goes on, so that whoever waits may leave. Nothing in them is a pickle.

PATH, KIND = "/headscope/1", "application/json"
"""The place of tasks, with the number of this form, and their kind."""
MARK, RANK, DRAFTS = "X-Headscope-Checkpoint", "X-Headscope-Rank", "X-Headscope-Drafts"
"""Headers: the fingerprint of the checkpoint, the rank in the line, and whether drafts are sent."""
PLACE, DRAFT, ANSWER, ERROR, BEAT = b"P", b"D", b"A", b"E", b"B"
HEAD = struct.Struct("<cQ")
MOST = 2**30
"""Bytes of a frame."""


class FrameError(Refusal, ValueError):
    """Bytes that are no frame."""


def frame(kind: bytes, content: bytes = b"") -> bytes:
    """Return a frame as bytes."""
    return HEAD.pack(kind, len(content)) + content


def frames(read: Callable[[int], bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Read frames until the last one. read: gives so many bytes, or fewer at the end.

    Raises FrameError where the bytes end before, or are no frames.
    """
    while True:
        head = read(HEAD.size)
        if len(head) < HEAD.size:
            raise FrameError("The answer ends before its end.")
        kind, length = HEAD.unpack(head)
        if kind not in (PLACE, DRAFT, ANSWER, ERROR, BEAT) or length > MOST:
            raise FrameError("What answers is not Headscope's models.")
        content = read(length) if length else b""
        if len(content) < length:
            raise FrameError("The answer ends before its end.")
        yield kind, content
        if kind in (ANSWER, ERROR):
            return


def packed(outcome: Outcome, checkpoint: Checkpoint, mark: str) -> bytes:
    """Return a decoding and a recording as the content of an ANSWER. Raises WireError."""
    data = None if outcome.decoding is None else to_data(outcome.decoding)
    text = json.dumps(data, separators=(",", ":")).encode()
    return struct.pack("<I", len(text)) + text + to_bytes(outcome.recording, checkpoint, mark)


def unpacked(content: bytes, checkpoint: Checkpoint, mark: str) -> Outcome:
    """Return what `packed` was given. Raises FrameError, WireError and DecodingError."""
    if len(content) < 4:
        raise FrameError("The answer is too short to be one.")
    (length,) = struct.unpack_from("<I", content)
    data = json_of(content[4 : 4 + length])
    decoding = None if data is None else from_data(data, checkpoint)
    return Outcome(decoding, from_bytes(content[4 + length :], checkpoint, mark))


def draft(text: str, n_tokens: int, decoding: Decoding) -> bytes:
    """Return a text that is being written as the content of a DRAFT."""
    return json.dumps([text, n_tokens, to_data(decoding)], separators=(",", ":")).encode()


def json_of(content: bytes) -> Any:
    """Return JSON values. Raises FrameError."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FrameError("The answer holds what is not JSON.") from error


# A connection that is read while somebody waits for it, however slowly it speaks.

LISTENING_LOOK = 0.25
"""Seconds between two looks at whether somebody still waits."""
SILENCE, LONGEST = 30.0, 120.0
"""Seconds without a byte, and for one thing that is said, after which it is taken for dead."""


class Listening(io.RawIOBase):
    """The bytes of a socket. check: raises where nobody waits any more."""

    def __init__(self, line: socket.socket, check: Callable[[], object] | None = None) -> None:
        self._line, self._check = line, check
        self.begin()

    def begin(self) -> None:
        """Give the next thing that is said its time."""
        self._ends = time.monotonic() + LONGEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there. Raises TimeoutError, OSError, and what `check` raises."""
        silent = time.monotonic() + SILENCE
        self._line.settimeout(LISTENING_LOOK)
        while True:
            if self._check is not None:
                self._check()
            try:
                n = self._line.recv_into(buffer)
            except TimeoutError:
                n = None
            now = time.monotonic()
            if now > self._ends:
                raise TimeoutError("it speaks too slowly")
            if n is not None:
                return n
            if now > silent:
                raise TimeoutError("it says nothing any more")


class Line:
    """A socket as `http.client` uses it, which reads as `Listening` does."""

    def __init__(self, line: socket.socket, check: Callable[[], object] | None = None) -> None:
        self._line, self.listening = line, Listening(line, check)

    def sendall(self, data: Any) -> None:
        self._line.settimeout(SILENCE)
        self._line.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what reads; the socket is not closed with it."""
        return io.BufferedReader(self.listening)

    def close(self) -> None:
        """Do nothing: `http.client` says so once it has the head, and bytes follow."""


# Models on other machines, asked over HTTP: who asks needs no Ray, and outlives whatever answers.
#
# A process that joined a Ray would have the right to run anything there, and would end with it.

CONNECT = 5.0
"""Seconds for a connection."""
PAUSES = (0.2, 0.8, 1.0, 2.0)
"""Seconds before it is tried again: a replica that ended has others beside it, or comes back."""
DEAD = 2
"""Times that it is tried again where nothing takes the connection, or says anything."""
LOOK = 0.1
"""Seconds between two looks, in a pause, at whether somebody still waits."""
ERRORS: dict[str, type[Refusal]] = {
    each.__name__: each for each in (InputError, EditError, OptionError, CheckpointError)
}
"""Errors that are the same here; others are told as those of a device."""
BROKEN = (OSError, HTTPException, FrameError)
"""Errors after which it is tried again."""


@lru_cache(maxsize=64)
def mark_of(path: Path, version: int) -> str:
    """Return a checkpoint's fingerprint. version: of its files, which are read once for each."""
    return fingerprint(path)


@dataclass(frozen=True)
class Elsewhere:
    """Models that answer at an address."""

    address: str
    """HOST:PORT"""
    token: str = ""

    def run(self, task: Task, checkpoint: Checkpoint, runner: Runner) -> Outcome:
        """Send the task, and tell the runner what is heard until the answer is here."""
        mark = mark_of(checkpoint.path, version_of(checkpoint.path))
        with runner.aside():
            for n, pause in enumerate((*PAUSES, None)):
                try:
                    return self._attempt(task, checkpoint, mark, runner)
                except BROKEN as error:
                    is_dead = isinstance(error, ConnectionRefusedError | TimeoutError)
                    if pause is None or (n >= DEAD and is_dead):
                        raise self._dead(error) from error
                    _wait(pause, runner)
        raise AssertionError("the last try returns or raises")

    def _attempt(self, task: Task, checkpoint: Checkpoint, mark: str, runner: Runner) -> Outcome:
        host, _, port = self.address.rpartition(":")
        connection = HTTPConnection(host.strip("[]"), int(port), timeout=CONNECT)
        headers = {"Content-Type": KIND, MARK: mark, RANK: str(runner.rank)}
        headers |= {"Authorization": f"Bearer {self.token}"} if self.token else {}
        headers |= {} if runner.hear is None else {DRAFTS: "yes"}
        connection.connect()
        with connection.sock as socket:  # closed, it stops what nobody waits for any more
            connection.sock = line = Line(socket, runner.check)
            connection.request("POST", PATH, task.to_json().encode(), headers)
            response = connection.getresponse()
            self._check_status(response)
            return self._heard(response, line, checkpoint, mark, runner)

    def _check_status(self, response: HTTPResponse) -> None:
        if response.status == 401:
            raise ModelsError(
                f"The models at {self.address} ask for another token: set HEADSCOPE_MODELS_TOKEN "
                "to theirs."
            )
        if response.status >= 500:
            raise FrameError(f"status {response.status:d}")
        if response.status != 200:
            raise self._other(f"It answers with status {response.status:d}")

    def _heard(
        self,
        response: HTTPResponse,
        line: Line,
        checkpoint: Checkpoint,
        mark: str,
        runner: Runner,
    ) -> Outcome:
        for kind, content in frames(response.read):
            line.listening.begin()
            if kind == ANSWER:
                with self._reading():
                    return unpacked(content, checkpoint, mark)
            if kind == ERROR:
                raise self._error(content)
            if kind == PLACE and runner.on_wait is not None:
                with self._reading():
                    value = json_of(content)
                    if value is not None and (type(value) is not int or value < 0):
                        raise FrameError(f"It says {quoted(value)} for a place in the line.")
                    n_before = value
                runner.on_wait(n_before)
            if kind == DRAFT and runner.hear is not None:
                with self._reading():
                    draft = _written(content, checkpoint)
                runner.hear(draft)
        raise AssertionError("the last frame is an answer or an error")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say in a sentence that what came is none of what is sent."""
        try:
            yield
        except (FrameError, WireError, DecodingError) as error:
            raise self._other(str(error).rstrip(".")) from error

    def _error(self, content: bytes) -> Refusal:
        with self._reading():
            values = json_of(content)
            if not isinstance(values, list) or [type(each) for each in values] != [str, str]:
                raise FrameError("It sends an error that is none.")
            name, text = values[0], values[1]
        return ERRORS[name](text) if name in ERRORS else ModelsError(text)

    def _other(self, why: str) -> ModelsError:
        return ModelsError(
            f"What is at {self.address} does not answer as the models of this version do: {why}. "
            "Start the same version there by python -m viz models."
        )

    def _dead(self, error: BaseException) -> SilentModels:
        why = getattr(error, "strerror", None) or str(error).rstrip(".") or type(error).__name__
        return SilentModels(f"The models at {self.address} do not answer ({clean(why, 60)})")


def _wait(seconds: float, runner: Runner) -> None:
    ends = time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if runner.check is not None:
            runner.check()
        time.sleep(min(left, LOOK))


def _written(content: bytes, checkpoint: Checkpoint) -> Written:
    try:
        text, n_tokens, data = json_of(content)
    except (TypeError, ValueError) as error:
        raise FrameError("It sends a draft that is none.") from error
    if type(text) is not str or type(n_tokens) is not int or n_tokens < 1:
        raise FrameError("It sends a draft that is none.")
    decoding = from_data(data, checkpoint)
    return Written(text, lambda: decoding, n_tokens)
