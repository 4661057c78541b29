"""A request: the study of what a model makes of a text, and its answer. Nothing here draws."""

import gc
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import torch

from transformer import (
    Checkpoint,
    Decoding,
    InputError,
    Recording,
    chatting,
    load_checkpoint,
    pairing,
    translating,
)
from transformer.checkpoint import Description, shipped_path
from transformer.decoding import decoding_methods
from transformer.decoding.constraints import Constraints, constraints_of
from transformer.device import LostDevice, OutOfMemory
from transformer.extras import NotInstalled
from transformer.fingerprint import size_of
from transformer.formats.opening import describe_checkpoint
from transformer.refusal import Refusal
from viz.run.cache import CACHE, Models, bytes_of, place_now, remembered
from viz.run.line import ENTERED, Runner, device_for, entered, repeated
from viz.run.models.choosing import models_for
from viz.run.models.place import Task
from viz.run.settings import runs_templates, threads
from viz.run.work import Study, Work, finish

# A request: the study of what a model makes of a text, and its answer. Nothing here draws.

Languages = tuple[str | None, str | None]
"""The codes that a translator of many reads and writes; None: as it says."""
NEITHER: Languages = (None, None)
FREE = Constraints()
"""A decoding that nobody has decided anything for."""


class Chat(NamedTuple):
    """A conversation, whose last turn is the text of a request."""

    template: str
    """The name of a chat template."""
    system: str = ""
    """A message for its beginning; empty: none."""
    turns: tuple[tuple[str, str], ...] = ()
    """The turns before the text: roles and texts."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All that somebody typed."""
        return (self.template, self.system, *(text for _, text in self.turns))


@dataclass(frozen=True)
class Request(Study["Answer"]):
    """A text, and what is asked of a model: it writes, where it can, and is recorded."""

    rank: ClassVar[int] = ENTERED

    checkpoint: str
    """The folder's name; of one that was opened by path, the path."""
    version: int
    """A number of its files: a retrained checkpoint is another one."""
    text: str
    method: str
    """The name of a decoding method; "none": nothing is written."""
    options: tuple[tuple[str, float], ...] = ()
    """Pairs (name, value) of the method's options."""
    languages: Languages = NEITHER
    edits: tuple[str, ...] = ()
    """Changes of the model for this run, as transformer/edits spells them."""
    chat: Chat | None = None
    """The template that the text is put into; None: it is read as typed."""
    pair: str = ""
    """The second text, which the model reads behind the first; empty: there is none."""
    constraints: Constraints = FREE
    """The beginning of the output, and what it must and may not have: tokens of this checkpoint."""
    branch: tuple[int, ...] = ()
    """The tokens of a hypothesis of the search that is judged in place of the one that won."""
    follows: "Request | None" = None
    """The request whose output the model is made to read; None: it writes by itself."""

    def made_to_read(self, other: "Request") -> "Request":
        """The same over what another request's answer writes, in place of an own text."""
        own = self.unconstrained
        return replace(own, method="none", options=(), follows=other)

    @property
    def decided(self) -> dict[str, Any]:
        """The constraints that there are, by the names of `decode`'s arguments."""
        every = {it.name: getattr(self.constraints, it.name) for it in fields(Constraints)}
        return {name: value for name, value in every.items() if value}

    def decided_before(self, step: int) -> dict[str, Any]:
        """The same for what is written from a step on: behind the branch, where one is shown."""
        prefix = (self.branch or self.constraints.prefix)[:step]
        others = {name: it for name, it in self.decided.items() if name != "prefix"}
        return {**others, **({"prefix": prefix} if prefix else {})}

    @property
    def of_search(self) -> "Request":
        """The same for what the search chose itself, whose tree has the branch."""
        return replace(self, branch=())

    @property
    def unconstrained(self) -> "Request":
        """The same as the model decodes it by itself."""
        return replace(self, constraints=FREE, branch=())

    def run(self, before: "Answer | None", runner: Runner) -> "Iterator[Answer]":
        """The answer; the draft is a text as far as it is written."""
        yield make_answer(self, runner=runner)

    def n_bytes(self, value: "Answer") -> int:
        return size_of_answer(value)


@dataclass(frozen=True, eq=False)
class Answer:
    """A model's answer to a request. Shared between sessions: never changed."""

    request: Request
    checkpoint: Checkpoint
    decoding: Decoding | None
    """None where the model writes nothing."""
    recording: Recording
    seconds: float
    """Decoding and recording together, when it was computed."""
    instead: str = ""
    """The reason, in a sentence, why this process did it in place of models elsewhere; or empty."""

    @property
    def parts(self) -> tuple[Recording, Decoding | None]:
        """The recording and the decoding, for a picture."""
        return self.recording, self.decoding


def about(checkpoint: str) -> Description | None:
    """Describe a checkpoint before it is opened; None where it is damaged."""
    description = _description(checkpoint)
    return description if isinstance(description, Description) else None


def fault_of(checkpoint: str) -> str | None:
    """Say why it cannot be described, as it stands after its name; None where it can."""
    description = _description(checkpoint)
    return description if isinstance(description, str) else None


def _description(checkpoint: str) -> Description | str:
    return _described(*place_now(checkpoint))


@lru_cache(maxsize=256)
def _described(path: Path, version: int) -> Description | str:
    try:
        return describe_checkpoint(path)
    except NotInstalled as error:
        return str(error)
    except Refusal as error:
        return f"damaged: {str(error).removeprefix(f'{path.name}: ')}"


def make_request(
    checkpoint: str,
    text: str,
    method: str,
    options: tuple[tuple[str, float], ...] = (),
    languages: Languages = NEITHER,
    edits: tuple[str, ...] = (),
    chat: Chat | None = None,
    pair: str = "",
) -> Request:
    """The request as it stands now, with the version of the weights on disk."""
    choices = (method, options, languages, edits, chat, pair)
    return Request(checkpoint, place_now(checkpoint)[1], text.strip(), *choices)


def open_checkpoint(request: Request) -> Checkpoint:
    """The loaded model, one per process and device, told its languages, template and second text.

    Raises CheckpointError, InputError, DeviceError.
    """
    path, device = _place(request)
    try:
        checkpoint = _load(path, request.version, device)
    except (OutOfMemory, LostDevice):
        _load.clear()  # the models that are there leave too little room, or are lost with it
        raise
    if any(request.languages):
        checkpoint = translating(checkpoint, *request.languages)
    if request.pair:
        checkpoint = pairing(checkpoint, request.pair)
    return checkpoint if request.chat is None else _chatting(checkpoint, request.chat)


def _chatting(checkpoint: Checkpoint, chat: Chat) -> Checkpoint:
    if not runs_templates():
        raise InputError(
            "Chat templates are programs, and this server runs none: let the text be read as typed."
        )
    messages = [{"role": role, "content": text} for role, text in chat.turns]
    return chatting(checkpoint, chat.template, chat.system, messages)


def answer(request: Request, runner: Runner | None = None) -> Answer:
    """The answer, kept or made now. Raises as `make_answer`. runner: of a study that needs it."""
    return finish(request, runner)


def keep_answer(made: Answer) -> None:
    """Keep an answer that was made elsewhere."""
    CACHE.put(made.request, made, size_of_answer(made))


def size_of_answer(made: Answer) -> int:
    """In bytes, without the model."""
    return bytes_of((made.request, made.decoding, made.recording), made.checkpoint.model)


def is_loaded(request: Request) -> bool:
    """Tell whether its checkpoint is at hand."""
    path, device = _place(request)
    return _load.is_at_hand(path, request.version, device)


def _place(request: Request) -> tuple[str, str | None]:
    """Return the path of the checkpoint, and the device that runs it."""
    path = str(shipped_path(request.checkpoint))
    return path, device_for(request.checkpoint, request.text)


def make_answer(
    request: Request, followed: Answer | None = None, runner: Runner = entered
) -> Answer:
    """Decode first, record once. Raises CheckpointError, InputError or DeviceError.

    followed: what it follows, where that is at hand. runner: says when, and hears what is written.
    """
    make = partial(_made, request, followed, runner)
    with remembered(request):
        return repeated(request.checkpoint, request.text, make)


def _made(request: Request, followed: Answer | None, runner: Runner) -> Answer:
    checkpoint = open_checkpoint(request)
    started = time.perf_counter()
    task = _task(request, checkpoint, followed)
    decoding, recording, instead = models_for(checkpoint).run(task, checkpoint, runner)
    return Answer(request, checkpoint, decoding, recording, time.perf_counter() - started, instead)


def _task(request: Request, checkpoint: Checkpoint, followed: Answer | None) -> Task:
    """Return what a model is to do for a request.

    A branch is judged, whatever method came by it. Raises InputError for tokens that there are not.
    """
    choices = (request.languages, request.edits, request.pair)
    task = Task(checkpoint.name, request.text, *choices)
    if request.follows is not None:
        target = (followed or answer(request.follows)).recording.target
        return replace(task, target=tuple(token.id for token in target))
    if not checkpoint.family.decodes or request.method == "none":
        return task
    if request.branch:
        ids = constraints_of(checkpoint, 1, request.branch).prefix
        return replace(task, method="forced", target=ids)
    return replace(
        task, method=request.method, options=request.options, constraints=request.constraints
    )


def recording_of_text(request: Request) -> Recording:
    """Return the recording of a text; of a generator's prompt without what would follow it."""
    if open_checkpoint(request).family.continues:
        request = replace(request, method="none", options=())
    return answer(request).recording


def _make(path: str, version: int, device: str | None) -> Checkpoint:
    torch.set_num_threads(threads())
    checkpoint = load_checkpoint(Path(path), device)
    # Looking for garbage stops everything, and walks all of torch: 187 ms; frozen, 9 ms.
    gc.unfreeze()
    gc.collect()
    gc.freeze()
    return checkpoint


_load = Models(_make, lambda path, version, device: size_of(Path(path)), CACHE)


# A text that is not written to its end: as far as it goes it is that of a shorter request.


def part_of(work: Work[Answer]) -> Answer:
    """The answer as far as it is written: that to a request with so many tokens as its length.

    There is one after the first token. It is kept, as other answers are.
    """
    assert isinstance(work.study, Request)
    request, draft = work.study, work.draft
    decoding = draft.decoding()
    checkpoint = open_checkpoint(request)
    ids = tuple(token.id for token in decoding.target)
    choices = (request.languages, request.edits, request.pair)
    task = Task(checkpoint.name, request.text, *choices, target=ids)
    outcome = models_for(checkpoint).run(task, checkpoint, entered)
    shorter = with_length(request, draft.n_tokens)
    seconds = time.perf_counter() - work.began
    part = Answer(shorter, checkpoint, decoding, outcome.recording, seconds, outcome.instead)
    keep_answer(part)
    return part


def with_length(request: Request, n: int) -> Request:
    """The request for at most n tokens."""
    options = dict(request.options)
    options["max_len"] = max(1, min(n, int(options.get("max_len", n))))
    return replace(request, options=tuple(options.items()))


def is_part(request: Request, whole: Request) -> bool:
    """Tell whether a request is for the beginning of the text of another one."""
    length = dict(request.options).get("max_len")
    return request != whole and length is not None and request == with_length(whole, int(length))


def streams(request: Request) -> bool:
    """Tell whether its text is written token after token, so that a part of it can be shown."""
    description = about(request.checkpoint)
    return (
        description is not None
        and description.family.decodes
        and decoding_methods()[request.method].streams
        and not request.branch
    )


def as_stopped(request: Request, stopped: int | None) -> Request:
    """Return the request after somebody stopped the writing: for so many tokens."""
    if stopped is None or not streams(request.of_search):
        return request
    return with_length(request, stopped)
