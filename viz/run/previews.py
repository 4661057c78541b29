"""Previews: the pictures on a session's screen, made for a request that was not entered."""

import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from transformer import InputError
from transformer.refusal import Refusal
from viz.components.kit.pack import pack
from viz.components.kit.picture import Picture
from viz.run.batches import Runner, previewed
from viz.run.preview_work import is_small
from viz.run.request import Answer, Request, make_answer, make_request
from viz.run.turns import Turn
from viz.run.work import at_hand
from viz.theme import Theme


class Derive(Protocol):
    """From the answer of the page to another one beside it, which follows it."""

    def __call__(self, first: Answer, runner: Runner, /) -> Answer: ...

    def with_edits(self, edits: tuple[str, ...]) -> "Derive":
        """The same where the model of the one beside is changed so."""


BESIDE = "edits_b"
"""Among changes: the edits of the answer beside that of the page, which stays as it is."""
RECENT = 3
"""Previews that a session keeps until the next run."""


class Replaced(Refusal):
    """Something newer was asked for."""


@dataclass(frozen=True)
class Drawn:
    """A picture on the page, and what moves over it when its request is another."""

    key: str
    picture: Picture
    theme: Theme
    state: Mapping[str, Any]
    leads: bool
    of: Derive | None

    def data(self, payload: bytes) -> bytes:
        return self.picture.data(payload, self.theme, **self.state)


@dataclass(frozen=True)
class Preview:
    """The pictures and answers of a request that was not entered: for the session's next run."""

    request: Request
    answers: Sequence[Answer]
    """The answer to the request, and those beside it."""
    payloads: Mapping[tuple[Request, Picture], bytes]


@dataclass(eq=False)
class LivePreview:
    """The pictures on a session's screen, and what was previewed of late."""

    ticket: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    drawn: list[Drawn] | None = None
    """The pictures of the run that goes on; None: they wait for Enter."""
    ready: tuple[Answer, list[Drawn]] | None = None
    """The answer and the pictures of the last run that came to its end."""
    is_drawing: bool = False
    """True: a run goes on, and who types is ahead of the page."""
    recent: deque[Preview] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last that were made: one may have been asked for ahead of a click that did not come."""

    def taken(self, request: Request) -> list[Preview]:
        """The recent previews of this request; none is kept any longer."""
        previews = [each for each in self.recent if each.request == request]
        self.recent.clear()
        return previews

    def made(self, changes: Mapping[str, Any], turn: Turn) -> bytes | None:
        """The data of all pictures, packed as one; None: what was entered is to be shown.

        changes: the fields of the request that differ, or the edits of the answer beside it.
        Raises Replaced, and as `make_answer`.
        """
        if self.ready is None:
            return None
        answer, drawn = self.ready
        own = {name: value for name, value in changes.items() if name != BESIDE}
        request = _changed(answer.request, own)
        if BESIDE in changes:
            edits = _edits(changes[BESIDE])
            drawn = [replace(it, of=it.of.with_edits(edits)) for it in drawn if it.of]
        if not drawn or (request == answer.request and own == changes):
            return None
        if not is_small(answer, request):
            return None

        def check() -> None:
            if not turn.is_wanted():
                raise Replaced("Something newer was asked for.")

        runner = previewed(check, turn.aside)
        first = at_hand(request) or make_answer(request, runner=runner)
        answers = {of: of(first, runner) if of else first for of in {each.of for each in drawn}}
        payloads = {
            (answers[it.of].request, it.picture): it.picture.payload(*answers[it.of].made)
            for it in drawn
        }
        made = Preview(request, list(answers.values()), payloads)
        self.recent.append(made)
        data = [it.data(payloads[answers[it.of].request, it.picture]) for it in drawn]
        arrays = (np.frombuffer(each, np.uint8) for each in data)
        return pack({"keys": [each.key for each in drawn]}, *arrays)


def _changed(request: Request, changes: Mapping[str, Any]) -> Request:
    """The request with other fields, for the weights that are on disk now. Raises InputError."""
    text, edits = changes.get("text", request.text), _edits(changes.get("edits", request.edits))
    if not set(changes) <= {"text", "edits"} or not isinstance(text, str):
        raise InputError(f"A preview changes the text or the edits, not {', '.join(changes)}.")
    checkpoint, method, options = request.checkpoint, request.method, request.options
    return make_request(checkpoint, text, method, options, request.languages, edits)


def _edits(value: Any) -> tuple[str, ...]:
    """Raises InputError."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise InputError("The edits of a preview are a list of texts.")
    return tuple(value)
