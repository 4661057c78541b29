"""Contradictions between what a recording says of an attention and what its pass has shown.

Weights times values say nothing of where keys come from. What does is recomputed from what learned
matrices read (`origin`), without the rules that named the attention.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from transformer.recording.calls import AttentionCall
from transformer.recording.origin import Origin
from transformer.token import Token

ANOTHER = "whose keys are made of another sequence than its queries"
ITSELF = "whose keys are made of what its queries are made of"
SAME_STATES = "which reads the same states as another one"
SAME_RUN = "which is another attention of one module"
TEXTS = "which has read another text"
COLUMNS = "whose words stand in other columns"
HIDDEN = "of which the pass does not show what queries and keys are made of"


class Named(Protocol):
    """One kind of attention as a recording names it."""

    @property
    def kind(self) -> str: ...
    @property
    def role(self) -> str | None: ...
    @property
    def queries(self) -> Sequence[Token]: ...
    @property
    def keys(self) -> Sequence[Token]: ...
    @property
    def calls(self) -> Sequence[AttentionCall]: ...


def against_pass(attentions: Iterable[Named]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what the pass contradicts, and what it leaves open, in clauses without a full stop."""
    wrong: list[str] = []
    hidden: list[str] = []
    for named in attentions:
        origins = [Origin(call, call.trace) for call in named.calls if call.trace is not None]
        wrong += _contradictions(named, origins)
        n = sum(origin.is_another is None for origin in origins)
        if n:
            hidden.append(f"{_layers(n)} of {named.kind}, {HIDDEN}")
    return tuple(wrong), tuple(hidden)


def _contradictions(named: Named, origins: Sequence[Origin]) -> Iterator[str]:
    wrong = Counter((*_roles(named, origins), *_stacks(origins), *_passes(origins)))
    for why, n in wrong.items():
        yield f"{_layers(n)} of {named.kind}, {why}"
    if _role(named) in _SELF and any(_is_moved(named, origin.words) for origin in origins[:1]):
        yield f"{_layers(len(named.calls))} of {named.kind}, {COLUMNS}"


def _layers(n: int) -> str:
    return f"{n} layer{'s' * (n > 1)}"


_SELF = ("encoder_self", "decoder_self")


def _role(named: Named) -> str:
    return named.role or named.kind


def _roles(named: Named, origins: Sequence[Origin]) -> Iterator[str]:
    """Yield a clause for each layer whose keys are not made of what the role says."""
    for origin in origins:
        if _role(named) in _SELF and origin.is_another:
            yield ANOTHER
        elif _role(named) == "cross" and origin.is_another is False:
            yield ITSELF


def _stacks(origins: Sequence[Origin]) -> Iterator[str]:
    """Yield a clause for each call that is no layer of its own beside the others."""
    is_several = len({origin.trace.module for origin in origins}) > 1
    read: set[tuple[int, int]] = set()
    matrices: dict[tuple[str, int], set[int]] = defaultdict(set)
    for origin in origins:
        queries = {each.states.number for each in origin.queries}
        states = {(each, other) for each in queries for other in origin.columns}
        if states & read:  # learned queries are read by every layer, and so is another sequence
            yield SAME_STATES
        read |= states
        own = {each.matrix.data_ptr() for each in origin.queries}
        others = matrices[origin.trace.module, origin.trace.run]
        if is_several and own and others and not own & others:
            yield SAME_RUN
        others |= own


def _passes(origins: Sequence[Origin]) -> Iterator[str]:
    """Yield a clause for each call whose module had read another text before."""
    texts: dict[str, int] = {}
    for origin in origins:
        if texts.setdefault(origin.trace.module, origin.trace.text) != origin.trace.text:
            yield TEXTS


def _is_moved(named: Named, words: Sequence[int]) -> bool:
    """Tell whether the first word does not stand in the columns that are made of it."""
    return bool(words) and all(named.keys[at] != named.queries[0] for at in words)
