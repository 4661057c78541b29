"""Models on other machines, asked over HTTP: who asks needs no Ray, and outlives whatever answers.

A process that joined a Ray would have the right to run anything there, and would end with it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path

from transformer import Checkpoint, CheckpointError, InputError
from transformer.decoding.decode import Written
from transformer.decoding.options import OptionError
from transformer.decoding.wire import DecodingError, from_data
from transformer.edits.edit import EditError
from transformer.files.foreign_text import clean
from transformer.fingerprint import fingerprint
from transformer.recording.wire import WireError
from transformer.refusal import Refusal, quoted
from transformer.versions import version_of
from viz.run.batches import Runner
from viz.run.models.frames import (
    ANSWER,
    DRAFT,
    DRAFTS,
    ERROR,
    KIND,
    MARK,
    PATH,
    PLACE,
    RANK,
    FrameError,
    frames,
    json_of,
    unpacked,
)
from viz.run.models.listening import Line
from viz.run.models.place import ModelsError, Outcome, SilentModels
from viz.run.models.task import Task

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
                    n_before = _place(content)
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
            name, text = _named(content)
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


def _place(content: bytes) -> int | None:
    value = json_of(content)
    if value is not None and (type(value) is not int or value < 0):
        raise FrameError(f"It says {quoted(value)} for a place in the line.")
    return value


def _written(content: bytes, checkpoint: Checkpoint) -> Written:
    try:
        text, n_tokens, data = json_of(content)
    except (TypeError, ValueError) as error:
        raise FrameError("It sends a draft that is none.") from error
    if type(text) is not str or type(n_tokens) is not int or n_tokens < 1:
        raise FrameError("It sends a draft that is none.")
    decoding = from_data(data, checkpoint)
    return Written(text, lambda: decoding, n_tokens)


def _named(content: bytes) -> tuple[str, str]:
    values = json_of(content)
    if not isinstance(values, list) or [type(each) for each in values] != [str, str]:
        raise FrameError("It sends an error that is none.")
    return values[0], values[1]
