"""Answers to tasks over HTTP, as `viz.run.models.elsewhere` asks: an ASGI app without a page.

A task is done as this process's own would be: it shares the steps of its model with all others.
"""

import asyncio
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from logging import getLogger
from threading import Event, Thread
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request as Incoming
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from transformer import CheckpointError
from transformer.checkpoint import shipped_path
from transformer.decoding.decode import Written
from transformer.fingerprint import version_of
from transformer.refusal import Refusal, quoted
from viz.run.line import ENTERED, PREVIEW, WORK, Runner, repeated
from viz.run.models import elsewhere
from viz.run.models.elsewhere import mark_of
from viz.run.models.place import HERE, ModelsError, Outcome, Task, TaskError, task_of
from viz.run.operating import failure
from viz.run.request import Request, open_checkpoint

LARGEST = 2**20
"""Bytes of a task."""
EVERY = 0.25
"""Seconds without a frame, after which a beat is sent."""
FIRST, BETWEEN = 0.4, 0.3
"""Seconds until the first draft, which most texts need not, and between two of them."""
_LOG = getLogger(__name__)


class Gone(Refusal):
    """Whoever asked does not wait any more."""


def answering(token: str = "") -> Starlette:
    """The app. token: what whoever asks must know; empty: anybody may ask."""

    async def respond(incoming: Incoming) -> Response:
        return await response(incoming, token)

    return Starlette(routes=[Route(elsewhere.PATH, respond, methods=["POST"])])


async def response(incoming: Incoming, token: str) -> Response:
    """The answer to one who asks, as a stream of frames."""
    proof = incoming.headers.get("authorization", "")
    if token and not hmac.compare_digest(proof.encode(), f"Bearer {token}".encode()):
        return PlainTextResponse("another token is asked for", 401)
    if (
        incoming.headers.get("content-type") != elsewhere.KIND
    ):  # a page of a browser must ask before it
        return PlainTextResponse("a task is JSON", 415)
    body = b""
    async for part in incoming.stream():
        body += part
        if len(body) > LARGEST:
            return PlainTextResponse("the task is too long", 413)
    try:
        task = task_of(json.loads(body))
    except (TaskError, ValueError, RecursionError) as error:
        return PlainTextResponse(str(error), 400)
    rank, mark = incoming.headers.get(elsewhere.RANK, ""), incoming.headers.get(elsewhere.MARK, "")
    ranks = {str(each): each for each in (ENTERED, PREVIEW, WORK)}
    work = Work(task, mark, ranks.get(rank, WORK), elsewhere.DRAFTS in incoming.headers)
    return StreamingResponse(work.frames(), media_type="application/octet-stream")


@dataclass(eq=False)
class Work:
    """A task that is being done, in a thread."""

    task: Task
    mark: str
    """The fingerprint of the checkpoint that whoever asks has."""
    rank: int
    has_drafts: bool
    is_over: Event = field(default_factory=Event)
    """Nobody waits for it."""
    told: float = 0.0
    """The time of the last draft; by `time.monotonic`, in s."""

    async def frames(self) -> AsyncIterator[bytes]:
        """Frames until its end; whoever reads no more ends it at its next step."""
        loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes]()

        def tell(frame: bytes) -> None:
            if not self.is_over.is_set():  # else the loop may be closed
                loop.call_soon_threadsafe(queue.put_nowait, frame)

        Thread(target=self._do, args=(tell,), name="task", daemon=True).start()
        try:
            while True:
                try:
                    frame = await asyncio.wait_for(queue.get(), EVERY)
                except TimeoutError:
                    frame = elsewhere.frame(elsewhere.BEAT)
                yield frame
                if frame[:1] in (elsewhere.ANSWER, elsewhere.ERROR):
                    return
        finally:
            self.is_over.set()

    def _do(self, tell: Callable[[bytes], None]) -> None:
        try:
            tell(elsewhere.frame(elsewhere.ANSWER, self._answer(tell)))
        except Gone:
            pass
        except Refusal as error:
            tell(_error(type(error).__name__, str(error)))
        except Exception as error:
            _LOG.error("A task failed: %s", failure(error))
            why = f"the program has a fault there ({type(error).__name__}), which its log describes"
            tell(_error("", f"The models could not do this: {why}."))

    def _answer(self, tell: Callable[[bytes], None]) -> bytes:
        task, path = self.task, shipped_path(self.task.checkpoint)
        if not path.is_dir():
            raise CheckpointError(f"The models elsewhere have no {quoted(task.checkpoint)}.")
        version = version_of(path)
        if (own := mark_of(path, version)) != self.mark:
            raise ModelsError(
                f"The models elsewhere have other weights of {task.checkpoint} than this viewer: "
                "bring both to the same files."
            )
        request = Request(
            task.checkpoint,
            version,
            task.text,
            task.method or "none",
            languages=task.languages,
            pair=task.pair,
        )
        runner = self._runner(tell)

        def run() -> tuple[Any, Outcome]:
            checkpoint = open_checkpoint(request)
            if checkpoint.family.is_watched:  # its folder may bring programs, and runs where it is
                raise ModelsError(f"{task.checkpoint} runs where it is opened.")
            return checkpoint, HERE.run(task, checkpoint, runner)

        checkpoint, outcome = repeated(task.checkpoint, task.text, run)
        return elsewhere.packed(outcome, checkpoint, own)

    def _runner(self, tell: Callable[[bytes], None]) -> Runner:
        def check() -> None:
            if self.is_over.is_set():
                raise Gone("Nobody waits for this any more.")

        def on_wait(n_before: int | None) -> None:
            tell(elsewhere.frame(elsewhere.PLACE, json.dumps(n_before).encode()))

        self.told = time.monotonic() + FIRST - BETWEEN

        def hear(draft: Written) -> None:
            check()
            now = time.monotonic()
            if now - self.told >= BETWEEN:
                self.told = now
                decoding = draft.decoding().without_distributions()
                content = elsewhere.draft(draft.text, draft.n_tokens, decoding)
                tell(elsewhere.frame(elsewhere.DRAFT, content))

        return Runner(self.rank, on_wait, check, hear=hear if self.has_drafts else None)


def _error(name: str, text: str) -> bytes:
    return elsewhere.frame(elsewhere.ERROR, json.dumps([name, text]).encode())
