"""Previews: the pictures on a session's screen, made for a request that was not entered."""

import json
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from os import cpu_count
from typing import Any, ClassVar, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from torch import nn

from transformer import InputError
from transformer.causes import Evidence
from transformer.edits import of_any_text
from viz.causes.needs import Causes, is_quick
from viz.components.kit.browser import pack
from viz.components.kit.picture import NothingLeft, Picture, twin
from viz.run.cache import CACHE
from viz.run.line import PREVIEW, Line, Runner
from viz.run.operating import timed
from viz.run.request import Answer, Request, answer, make_answer, make_request
from viz.run.settings import is_public
from viz.run.work import Follower, Newest, Study, at_hand, finish, follow
from viz.theme import Theme

# The cost of a preview, counted in multiplications and cells: never by a clock.

MOST_WORK = 2**34
"""Multiplications: some two seconds of one core; 5 M weights and four beams of 800 tokens."""
MOST_CELLS = 2**22
"""Cells of all heads of a kind: 144 heads of 170 tokens."""
SHORT = 32
"""Characters below which a text says little about how many tokens a longer one has."""


def is_small(answer: Answer, request: Request) -> bool:
    """Tell whether a request that differs little from the answer's may be previewed."""
    longer = max(1.0, len(request.text) / max(SHORT, len(answer.request.text)))
    cells = max((kind.n_cells for kind in answer.recording.attentions.values()), default=0)
    return work_of(answer) * longer <= MOST_WORK and cells * longer**2 <= MOST_CELLS


def work_of(answer: Answer) -> int:
    """Multiplications that an answer took, about: each weight once for every token that passed.

    Tokens pass once when the text is recorded, and those that were written once more for each
    hypothesis that was followed.
    """
    # Count once: each run of a page asks.
    model = answer.checkpoint.model
    n = _counted.get(model)
    if n is None:
        n = _counted[model] = sum(weight.numel() for weight in model.parameters())
    n_weights = n
    n_read, n_written = len(answer.recording.source), len(answer.recording.target)
    n_followed = (
        0 if answer.decoding is None else int(dict(answer.request.options).get("beam_size", 1))
    )
    return n_weights * (n_read + n_written * (1 + n_followed))


_counted: WeakKeyDictionary[nn.Module, int] = WeakKeyDictionary()


# Previews: the pictures on a session's screen, made for a request that was not entered.


class Derive(Protocol):
    """From the answer of the page to another one beside it, which follows it."""

    def __call__(self, first: Answer, runner: Runner, /) -> Answer: ...

    def with_edits(self, edits: tuple[str, ...]) -> "Derive":
        """The same where the model of the one beside is changed so."""


WHY, UNASKED = {"why": True}, {"why": "unasked"}
"""Changes of who wants the cards of all written words: one of them may be asked for next, or the
tokens are to have their marks; nobody has asked, and nobody is to wait for it.
"""
BESIDE = "edits_b"
"""Among changes: the edits of the answer beside that of the page, which stays as it is."""
LINE = Line(min(4, max(2, cpu_count() or 2)))
"""The places at which previews are made, for all sessions together."""
OFFER = {"offer": True}
"""Changes of who has nothing to wait for: what the page may offer is sought meanwhile."""
RECENT = 3
"""Previews that a session keeps until the next run."""


@dataclass(frozen=True)
class Drawn:
    """A picture on the page, and what moves over it when its request is another."""

    key: str
    picture: Picture
    theme: Theme
    state: Mapping[str, Any]
    leads: bool
    of: Derive | None

    def data(self, payload: bytes, page: Answer, own: Answer) -> bytes:
        """page: the answer of the page; own: that of the picture."""
        state = dict(self.state)
        if "twin" in state:
            state["twin"] = twin(page.recording, own.recording)
        return self.picture.data(payload, self.theme, **state)


@dataclass(frozen=True)
class Offer:
    """Something that a page offers once it is known, though nobody waits for it."""

    study: Study[Any]
    data: Callable[[Any], bytes | None]
    """Packs what is offered, for a browser; None: nothing is."""


@dataclass(frozen=True, eq=False)
class Ready:
    """The answer and the pictures of a run of a page that came to its end."""

    answer: Answer
    drawn: Sequence[Drawn]
    cards: Callable[[Evidence], bytes] | None = None
    """Makes the cards of all written words, where the page has a card."""
    is_first: bool = False
    """It is what everybody sees first: no visitor pays for its causes."""
    offer: Offer | None = None


@dataclass(frozen=True)
class Pictures:
    """The pictures and answers of a request that was not entered: for the session's next run."""

    request: Request
    answers: Sequence[Answer]
    """The answer to the request, and those beside it."""
    payloads: Mapping[tuple[Request, Picture], bytes]
    data: bytes
    """The bytes of all pictures on the page, packed as one."""


@dataclass(frozen=True)
class Preview(Study[Pictures]):
    """A page with something else than was entered; none where what was entered is to be shown.

    What it starts from is a page's own, so it is equal to no other page's.
    """

    rank: ClassVar[int] = PREVIEW
    is_kept: ClassVar[bool] = False

    ready: Ready
    changes: str
    """JSON: the fields of the request that differ, or the edits of the answer beside it."""

    def run(self, before: Pictures | None, runner: Runner) -> Iterator[Pictures]:
        """The pictures, or the cards of all written words. Raises as `make_answer`."""
        changes, drawn, answer = json.loads(self.changes), self.ready.drawn, self.ready.answer
        if changes in (WHY, UNASKED):
            _make_causes(self.ready, runner)
            causes, cards = at_hand(Causes(answer.request)), self.ready.cards
            if cards is not None and causes is not None:
                packed = pack({"keys": ["cards"]}, np.frombuffer(cards(causes), np.uint8))
                yield Pictures(answer.request, [], {}, packed)
            return
        own = {name: value for name, value in changes.items() if name != BESIDE}
        request = _changed(answer.request, own)
        if BESIDE in changes:
            edits = _edits(changes[BESIDE])
            drawn = [replace(it, of=it.of.with_edits(edits)) for it in drawn if it.of]
        is_same = request == answer.request and own == changes
        if drawn and not is_same and is_small(answer, request):
            yield _pictures(request, drawn, replace(runner, hear=None))  # nobody sees drafts


def _make_causes(ready: Ready, runner: Runner) -> None:
    """Find the causes of the answer's words, so that they are at hand where somebody asks."""
    answer = ready.answer
    study = Causes(answer.request)
    is_read = answer.recording.target and is_quick(answer) and is_small(answer, answer.request)
    is_free = ready.is_first or not is_public()  # else each visitor pays for their own
    if is_read and is_free and at_hand(study) is None:
        with suppress(NothingLeft):  # the card says so
            finish(study, runner)


def _pictures(request: Request, drawn: Sequence[Drawn], runner: Runner) -> Pictures:
    first = at_hand(request) or make_answer(request, runner=runner)
    answers = {of: of(first, runner) if of else first for of in {each.of for each in drawn}}
    payloads = {
        (answers[it.of].request, it.picture): it.picture.payload(*answers[it.of].parts)
        for it in drawn
    }
    data = [
        it.data(payloads[answers[it.of].request, it.picture], first, answers[it.of]) for it in drawn
    ]
    arrays = (np.frombuffer(each, np.uint8) for each in data)
    packed = pack({"keys": [each.key for each in drawn]}, *arrays)
    return Pictures(request, list(answers.values()), payloads, packed)


@dataclass(eq=False)
class LivePreview:
    """The pictures on a session's screen, and what was previewed of late."""

    ticket: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    drawn: list[Drawn] | None = None
    """The pictures of the run that goes on; None: they wait for Enter."""
    ready: Ready | None = None
    """The page of the last run that came to its end."""
    is_drawing: bool = False
    """True: a run goes on, and who types is ahead of the page."""
    cards: Callable[[Evidence], bytes] | None = None
    """Makes the cards of the run that goes on, as `Ready` has them."""
    is_first: bool = False
    """True: the run that goes on shows what everybody sees first."""
    offer: Offer | None = None
    """The offer of the run that goes on."""
    sought: Follower[Any] | None = None
    """The study of the last offer that was asked for."""
    there: Callable[[str], str | None] | None = None
    """Makes the part of the page that links change, as HTML, for the query of one of them."""
    newest: Newest = field(default_factory=lambda: Newest(LINE))
    newest_cards: Newest = field(default_factory=lambda: Newest(LINE))
    """Keeps what a person waits for, who may point elsewhere and still wants the marks."""
    recent: deque[Pictures] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last that were made: one may have been asked for ahead of a click that did not come."""

    def seek(self, study: Study[Any], on_over: Callable[[], object]) -> Follower[Any]:
        """Wait for the study of an offer, in place of the one before. on_over: of a follower."""
        before, self.sought = self.sought, follow(study, on_over=on_over)
        self.sought.seen = inf
        if before is not None:
            before.stop()
        return self.sought

    def seek_no_more(self) -> None:
        """Stop waiting for it: another text is typed."""
        if self.sought is not None:
            self.sought.stop()

    def taken(self, request: Request) -> list[Pictures]:
        """The recent previews of this request; none is kept any longer."""
        previews = [each for each in self.recent if each.request == request]
        self.recent.clear()
        return previews


def _changed(request: Request, changes: Mapping[str, Any]) -> Request:
    """The request with other fields, for the weights that are on disk now. Raises InputError."""
    text = changes.get("text", request.text)
    own = request.edits if text == request.text else of_any_text(request.edits)
    edits = _edits(changes.get("edits", own))
    if not set(changes) <= {"text", "edits"} or not isinstance(text, str):
        raise InputError(f"A preview changes the text or the edits, not {', '.join(changes)}.")
    checkpoint, method, options = request.checkpoint, request.method, request.options
    choices = (method, options, request.languages, edits, request.chat, request.pair)
    other = make_request(checkpoint, text, *choices)
    is_same = (other.text, other.edits) == (request.text, request.edits)
    branch = request.branch if is_same else ()  # it is of the search over the old ones
    constraints = request.constraints
    if other.text != request.text:  # as a Screen drops it
        constraints = replace(constraints, prefix=())
    return replace(other, constraints=constraints, branch=branch)


def _edits(value: Any) -> tuple[str, ...]:
    """Raises InputError."""
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise InputError("The edits of a preview are a list of texts.")
    return tuple(value)


# Packing pictures: what each shows of an answer, made once for all sessions.


@dataclass(frozen=True)
class Packing(Study[bytes]):
    """The data of a picture of an answer."""

    request: Request
    picture: Picture

    def run(self, before: bytes | None, runner: Runner) -> Iterator[bytes]:
        yield self.picture.payload(*answer(self.request).parts)


def payload_of(answer: Answer, picture: Picture) -> bytes:
    """The packed data of a picture of an answer. Raises ValueError as the picture does."""
    # Not finished as others are: an answer that is shown need not be kept any more.
    packed = Packing(answer.request, picture)

    def pack() -> bytes:
        with timed("packed"):
            return picture.payload(*answer.parts)

    return CACHE.get(packed, pack, len)


def keep_payload(request: Request, picture: Picture, payload: bytes) -> None:
    """Put a payload that was made elsewhere into the cache."""
    CACHE.put(Packing(request, picture), payload, len(payload))
