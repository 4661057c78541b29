"""B of Compare: which it is, another checkpoint or A with edits, and its answer."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from transformer import Checkpoint, CheckpointError, Recording
from transformer.analysis.reading import Selection
from transformer.causes.repairs import other_methods
from transformer.decoding import decoding_methods, default_method
from transformer.edits import EditError
from transformer.files.foreign_text import clean
from transformer.refusal import Refusal, visible
from viz.app_packages import st
from viz.page_fields import CompareFields
from viz.run.line import Runner, entered
from viz.run.request import (
    Answer,
    Request,
    answer,
    keep_answer,
    make_answer,
    make_request,
    open_checkpoint,
)
from viz.run.work import at_hand
from viz.screen import put
from viz.state.changing import without_edit
from viz.state.checkpoints import checkpoint_names, is_here, load, open_linked, title
from viz.state.focus import moved
from viz.state.limits import charge, check_text, limited
from viz.state.page import Pane
from viz.state.state import bound, change, note, session, warn, widget
from viz.ui.notes import say_notes, say_of_answer
from viz.ui.progress import whole
from viz.views.heads import why_not

# The answer of B: another checkpoint's to A's text, or A's own with edits.


@dataclass(frozen=True)
class Second:
    """The answer of the checkpoint of this name to the text of another answer."""

    name: str

    def request(self, first: Answer) -> Request:
        """B by itself, or made to read what A wrote, where both split the text alike."""
        own = self.own(first)
        if first.decoding is None or not _reads_alike(first, open_checkpoint(own)):
            return own
        return own.made_to_read(first.request)

    def own(self, first: Answer) -> Request:
        """B by itself."""
        return _own_request(first, self.name)

    def with_edits(self, edits: tuple[str, ...]) -> "Second":
        """Another checkpoint is not edited."""
        return self

    def __call__(self, first: Answer, runner: Runner = entered) -> Answer:
        return make_answer(self.request(first), followed=first, runner=runner)


@dataclass(frozen=True)
class Changed:
    """The answer of another answer's model to the same text with these edits."""

    edits: tuple[str, ...]
    writes: bool
    """True: it writes by itself; else it is made to read the output without the edits."""

    def request(self, first: Answer) -> Request:
        own = self.own(first)
        return own if self.writes or first.decoding is None else own.made_to_read(first.request)

    def own(self, first: Answer) -> Request:
        """B by itself."""
        return replace(first.request.of_search, edits=self.edits)

    def with_edits(self, edits: tuple[str, ...]) -> "Changed":
        """The same with others."""
        return replace(self, edits=edits)

    def __call__(self, first: Answer, runner: Runner = entered) -> Answer:
        return make_answer(self.request(first), followed=first, runner=runner)


@dataclass(frozen=True)
class ByMethod:
    """The answer of another answer's model to the same text, written by another method."""

    method: str

    def request(self, first: Answer) -> Request:
        """With the usual options of the method."""
        return limited(replace(first.request.of_search, method=self.method, options=()))

    def own(self, first: Answer) -> Request:
        """B by itself, as it always writes."""
        return self.request(first)

    def with_edits(self, edits: tuple[str, ...]) -> "ByMethod":
        """The model is not edited."""
        return self

    def __call__(self, first: Answer, runner: Runner = entered) -> Answer:
        return make_answer(self.request(first), followed=first, runner=runner)


def _own_request(first: Answer, name: str) -> Request:
    """Return B's own request: the same, or what suits it where it is of another sort."""
    checkpoint = open_checkpoint(make_request(name, first.request.text, "none"))
    reads, decodes = checkpoint.family.reads, checkpoint.family.decodes
    chat, templates = first.request.chat, getattr(checkpoint.config, "templates", ())
    chat = chat if chat is not None and chat.template in templates else None
    if decodes and reads == first.checkpoint.family.reads and first.decoding is not None:
        method, options = first.request.method, first.request.options
        return limited(make_request(name, first.request.text, method, options, chat=chat))
    method = default_method(reads) if decodes else "none"
    pair = first.request.pair if getattr(checkpoint.config, "reads_pairs", False) else ""
    return limited(make_request(name, first.request.text, method, pair=pair))


def _reads_alike(first: Answer, second: Checkpoint) -> bool:
    """Tell whether both split this text and the output into the same tokens."""
    family = second.family
    if not family.decodes or family.reads != first.checkpoint.family.reads:
        return False
    tokens = (*first.recording.source, *first.recording.target)
    if max(token.id for token in tokens) >= second.config.vocab_size:
        return False
    return all(second.tokenizer.token(token.id) == token for token in tokens)


# B of Compare: which it is, another checkpoint or A with edits, and the pane that shows it.

SAME, EDITED, SUFFIX = "same checkpoint", "A with these edits", "_b"
BY = "A by {method}"
WITH, OF_B = "Compare **A** with **B** of", "Checkpoint of B"
SAME_HEAD, OWN_WORDS = "Same head in A and B", "B writes its own words"


@dataclass
class LastSecond:
    """The last request that Compare showed of another checkpoint, and where the present one is."""

    request: Request | None = None
    is_awaited: bool = False
    """True: the header of the page waits for the one that is chosen."""


def choose_second(first: Pane) -> Pane:
    """Draw the picker, and say where what was chosen cannot be shown. Return A, with its B."""
    problem = result = None
    try:
        open_linked(first.screen.of(CompareFields).checkpoint_b)
    except CheckpointError as error:
        problem = str(error)
    names = [name for name in checkpoint_names() if name != first.answer.request.checkpoint]
    look: Any = {"vertical_alignment": "center", "gap": "small"}
    with st.container(horizontal=True, key="second", **look):
        st.caption(WITH, width="content")
        of = derived(first)
        chosen = _chosen(of)
        offered = [SAME, EDITED, *map(_by, _methods(first)), *names]
        st.selectbox(
            OF_B,
            offered,
            offered.index(chosen),
            format_func=lambda name: visible(title(name)),
            label_visibility="collapsed",
            width=260,
            **widget("checkpoint_b", chosen, lambda name: _turn_to(name, first)),
        )
        if chosen != SAME:
            is_same = first.screen.of(CompareFields).same_head
            st.toggle(SAME_HEAD, is_same, **bound("same_head", is_same))
        if chosen == EDITED and first.answer.decoding is not None:
            writes = first.screen.of(CompareFields).own_b
            st.toggle(OWN_WORDS, writes, **bound("own_b", writes))
    place = st.empty()
    try:
        if of is None:
            problem = problem or missing(first)
        else:
            result = whole(_request(first, of), place, SUFFIX)
        if result is not None and isinstance(of, Second):
            _say_how(result)
    except EditError as error:
        without_edit(error, first.screen.edits)
    except Refusal as error:
        problem = str(error)
    if problem:
        warn(f"B cannot be shown: {problem}")
    session().of(LastSecond).is_awaited = of is not None and result is None and not problem
    return replace(first, second=_pane(first, of, result))


def _say_how(result: Answer) -> None:
    """Say what B's folder makes of it, that it was written anew, or where it was computed."""
    request = result.request
    say_notes(request.checkpoint, "B: ")
    say_of_answer(request, result, "B: ")
    last = session().of(LastSecond)
    before, last.request = last.request, request
    is_same = before is not None and before.checkpoint == request.checkpoint
    if before is not None and is_same and before.version != request.version:
        name = title(request.checkpoint)
        note(f"B: {name} was saved anew since it was shown: this is the new one.")


def missing(first: Pane) -> str | None:
    """Say that the choice for B is not there, or not any more; None where it is."""
    name = first.screen.of(CompareFields).checkpoint_b
    if name is None or is_here(name, checkpoint_names()):
        return None
    before = session().of(LastSecond).request
    if before is not None and before.checkpoint == name:
        return f"{Path(name).name} is not here any more."
    return f"there is no checkpoint {clean(name)} here."


def _chosen(of: "Second | Changed | ByMethod | None") -> str:
    """The name of B among those that are offered."""
    if isinstance(of, Second):
        return of.name
    if isinstance(of, ByMethod):
        return _by(of.method)
    return EDITED if of else SAME


def _by(method: str) -> str:
    return BY.format(method=decoding_methods()[method].title.lower())


def _methods(first: Pane) -> list[str]:
    """The methods that B could write by."""
    if first.answer.decoding is None:
        return []
    return [each.method for each in other_methods(first.answer.request.method)]


def _turn_to(name: str, first: Pane) -> None:
    """Another checkpoint is first looked at where A is; edits and methods, in the same head."""
    at, is_edited = first.selection, name == EDITED
    method = next((each for each in _methods(first) if _by(each) == name), None)
    stays_same = name != SAME and first.screen.of(CompareFields).same_head
    change(
        checkpoint_b=None if name in (SAME, EDITED) or method else name,
        method_b=method,
        edited_b=is_edited,
        same_head=is_edited or method is not None or stays_same,
        kind_b=at.kind,
        layer_b=at.layer,
        head_b=at.head,
    )


def is_awaited(first: Pane) -> bool:
    """Tell whether B is not here yet, or stopped: A's neighbour would be taken for it."""
    return first.second is not None and session().of(LastSecond).is_awaited


def pane_of_b(first: Pane) -> Pane:
    """B, as the header found it; found now where there is no header, as on a wall."""
    if first.second is not None:
        return first.second
    of, result = derived(first), None
    with suppress(Refusal):  # who chose it was told
        result = answer(_request(first, of)) if of is not None else None
    return _pane(first, of, result)


def with_second(first: Pane) -> Pane:
    """Return A with its B, where nobody reads a header.

    Raises Refusal for one that cannot be shown: A's neighbour in its place would be taken for it.
    """
    open_linked(first.screen.of(CompareFields).checkpoint_b)
    of = derived(first)
    if of is None and (why := missing(first)):
        raise CheckpointError(f"B cannot be shown: {why}")
    result = answer(_request(first, of)) if of is not None else None
    return replace(first, second=_pane(first, of, result))


def _pane(first: Pane, of: Second | Changed | ByMethod | None, result: Answer | None) -> Pane:
    """The head of the same place in another checkpoint, or with edits; else the one beside it."""
    if result is None:
        of, result = None, first.answer
    at, attentions = first.default, result.recording.attentions
    kind = at.kind if at.kind in attentions else next(iter(attentions))
    head = at.head + (of is None)
    opens_at = Selection(kind, at.layer, head % attentions[kind].n_heads)
    tool = first.screen.tool if isinstance(of, Changed) else "look"
    screen = replace(first.screen, tool=tool)
    own = Pane(screen, result.request, result, opens_at, of, first, SUFFIX)
    if own.is_locked:  # an address may name two heads nevertheless
        at = first.selection
        locked = put(own.screen, kind_b=at.kind, layer_b=at.layer, head_b=at.head)
        own = replace(own, screen=locked)
    pins = (*moved(first, own), *screen.of(CompareFields).pins_b)
    return replace(own, screen=replace(own.screen, pins=tuple(dict.fromkeys(pins))))


def beside(first: Recording, second: Recording) -> Recording:
    """One recording that holds the attentions of both, B's under names of their own."""
    renamed = {f"{kind}{SUFFIX}": each for kind, each in second.attentions.items()}
    return Recording(
        source=first.source,
        target=first.target,
        attentions={**first.attentions, **renamed},
        positions={},
        logits=first.logits,
    )


@dataclass(frozen=True, eq=False)
class Both:
    """The two panes of Compare."""

    a: Pane
    """The model unchanged: a click on it edits nothing."""
    b: Pane

    @classmethod
    def of(cls, first: Pane) -> "Both":
        """The page's pane as A, and B beside it."""
        look = replace(first.screen, tool="look")
        return cls(replace(first, screen=look), pane_of_b(first))

    @property
    def panes(self) -> dict[str, Pane]:
        """Both by their letters."""
        return {"A": self.a, "B": self.b}

    @property
    def are_two(self) -> bool:
        """Tell whether B is of another run than A: of another checkpoint, or with edits."""
        return self.a.answer is not self.b.answer

    @property
    def is_edited(self) -> bool:
        return isinstance(self.b.of, Changed)

    @cached_property
    def heads(self) -> tuple[Recording, Selection, Selection]:
        """One recording that has both heads, and where they are in it."""
        recording, a, b = self.a.recording, self.a.selection, self.b.selection
        if not self.are_two:
            return recording, a, b
        both = beside(recording, self.b.recording)
        return both, a, Selection(f"{b.kind}{SUFFIX}", b.layer, b.head)

    @property
    def why_not(self) -> str | None:
        """Say why their weights cannot be subtracted; None: they can."""
        return why_not(*self.heads)


def _name(first: Pane) -> str | None:
    """Return the checkpoint that was chosen for B; None: the same as that of A."""
    name = first.screen.of(CompareFields).checkpoint_b
    is_same = name is None or name == first.answer.request.checkpoint
    return name if name and not is_same and is_here(name, checkpoint_names()) else None


def derived(first: Pane) -> Second | Changed | ByMethod | None:
    """Return the way from the answer of A to B; None: it is that one."""
    name, own = _name(first), first.screen.of(CompareFields)
    if name is not None:
        return Second(name)
    if own.method_b in _methods(first) and own.checkpoint_b is None:
        return ByMethod(own.method_b or "")
    is_edited = own.edited_b and own.checkpoint_b is None
    return Changed(first.screen.edits, own.own_b) if is_edited else None


def _request(first: Pane, of: Second | Changed | ByMethod) -> Request:
    """Return B's request, which this session may make. Raises Refusal."""
    if isinstance(of, Second):
        load(make_request(of.name, first.answer.request.text, "none"))
    elif isinstance(of, Changed):
        for edit in of.edits:  # some are of another sentence
            check_text(edit)
    request = of.request(first.answer)
    if at_hand(request) is None:
        charge(request)
        keep_answer(first.answer)  # which it may follow
    return request
