"""The check of a recording: from weights and values to what the model gave."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.recording.calls import AttentionCall, sampled
from transformer.recording.origin import Origin
from transformer.token import Token

# The check of a recording: from weights and values to what the model gave.

CLOSE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 0.01, torch.bfloat16: 0.05}
"""The largest distance of both, as a share of the largest value."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Checked:
    """The result of a check of a recording."""

    error: float | None
    """The largest difference between what weights and values give and what the model gave, as a
    share of the largest value of that layer; inf where only one of both is a number; None: nothing
    could be compared."""
    is_right: bool | None
    """True: all that could be compared is close enough, and the pass proves what names say; None:
    nothing could be compared, a name is neither proved nor contradicted, or passes differ."""
    n_layers: int
    """The number of layers of all kinds."""
    n_checked: int
    """The number of layers that could be checked."""
    n_projected: int
    """The number of those that were checked and compared after W_O."""
    unknown: tuple[str, ...]
    """The reasons why others could not be checked, in clauses without a full stop."""
    row_sums: tuple[float, float]
    """The least and the largest sum of a row that may read anything."""
    masked: float
    """The largest weight in a cell that a mask closes."""
    no_numbers: tuple[str, ...] = ()
    """The places where a model gave NaN or infinity, in clauses without a full stop."""
    contradictions: tuple[str, ...] = ()
    """The layers that are not what they are called, as the pass has shown, in such clauses."""
    unproven: tuple[str, ...] = ()
    """The layers that may not be what they are called: the pass shows neither."""
    names: tuple[str, ...] = ()
    """The ways in which rows and columns got their names, in clauses, one a kind."""

    def __str__(self) -> str:
        if self.error is None:
            return f"not checkable: {'; '.join(self.unknown)}"
        return f"{self.error:.0e}".replace("e-0", "e-") if self.error else "0"


@torch.no_grad()
def check(
    kinds: Mapping[str, Sequence[AttentionCall]],
    contradictions: tuple[str, ...] = (),
    unproven: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
) -> Checked:
    """Recompute what each layer gave, at the queries of its sample."""
    errors, limits, n_projected = [], [], 0
    unknown: list[tuple[str, int, str]] = []
    lost: list[tuple[str, int, str]] = []
    rows = _Rows()
    for kind, calls in kinds.items():
        for layer, call in enumerate(calls):
            compared = _compared(call, rows)
            if compared.n_lost:
                n = compared.n_lost
                lost.append((kind, layer, f"NaN or infinity in {n} row{'s' * (n > 1)}"))
            if compared.why:
                unknown.append((kind, layer, compared.why))
                continue
            errors.append(compared.error)
            limits.append(compared.is_close)
            n_projected += call.projection is not None
    return Checked(
        error=max(errors, default=None),
        is_right=_verdict(limits, contradictions, unproven),
        n_layers=len(errors) + len(unknown),
        n_checked=len(errors),
        n_projected=n_projected,
        unknown=tuple(_clauses(unknown)),
        row_sums=(rows.least, rows.largest) if rows.least <= rows.largest else (1.0, 1.0),
        masked=rows.masked,
        no_numbers=tuple(_clauses(lost)),
        contradictions=contradictions,
        unproven=unproven,
        names=names,
    )


def _verdict(
    are_close: Sequence[bool], contradictions: Sequence[str], unproven: Sequence[str]
) -> bool | None:
    if contradictions or not all(are_close):
        return False
    return None if unproven or not are_close else True


def _why_not(call: AttentionCall) -> str:
    if call.is_random:
        return "dropout took part in it after what is shown"
    if call.sample is None:
        return "what it gave was not seen"
    return "" if call.v.size(-1) else "its values are not understood"


def _clauses(unknown: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    """One clause per kind and reason."""
    layers: dict[tuple[str, str], int] = {}
    for kind, _, why in unknown:
        layers[kind, why] = layers.get((kind, why), 0) + 1
    for (kind, why), n in layers.items():
        yield f"{n} layer{'s' * (n > 1)} of {kind}, {why}"


@dataclass
class _Rows:
    """Extremes of the rows of all maps."""

    least: float = math.inf
    """Sum of a row that may read anything."""
    largest: float = -math.inf
    masked: float = 0.0
    """The largest weight of a closed cell."""

    def add(self, call: AttentionCall, weights: Tensor) -> Tensor:
        """Some more rows; gives which of them may read anything, bool [H, N]."""
        allowed = call.allowed()
        is_read = allowed.any(-1)
        sums = weights.sum(-1)[is_read & weights.isfinite().all(-1)]
        if sums.numel():
            self.least = min(self.least, float(sums.min()))
            self.largest = max(self.largest, float(sums.max()))
        closed = weights.abs()[~allowed & is_read[..., None]].nan_to_num(0)
        if closed.numel():
            self.masked = max(self.masked, float(closed.max()))
        return is_read


@dataclass
class _Compared:
    """One layer's rows beside what the model gave."""

    why: str = ""
    """The reason why nothing could be compared."""
    apart: float = 0.0
    """The largest difference."""
    largest: float = 0.0
    """The largest value that the model gave."""
    n_lost: int = 0
    """Rows in which it gave NaN or infinity."""
    n_compared: int = 0
    """Rows that may read anything and were compared."""
    limit: float = 0.0

    @property
    def error(self) -> float:
        return self.apart / (self.largest or 1.0)

    @property
    def is_close(self) -> bool:
        return self.error <= self.limit

    def add(self, output: Tensor, total: Tensor, is_read: Tensor, is_scored: Tensor) -> None:
        """Rows as the model gave them and as weights and values do [..., N, d]; bool [..., N].

        is_scored: whether the scores of a row are numbers. Where they are NaN, a fused attention
        gives NaN, 0 or something else, by the processor: then there is nothing to compare.
        """
        if output.shape != total.shape:  # W_O is of something else
            self.apart = math.inf
            return
        is_number = output.isfinite().all(-1)
        is_finite = total.isfinite().all(-1)
        self.n_lost += int((~is_number | ~is_scored).sum())
        is_exact = output.dtype not in (torch.float16, torch.bfloat16)  # these overflow earlier
        is_lost = output.isnan().any(-1) & is_finite & is_exact
        if bool(((is_lost | (is_number & ~is_finite)) & is_scored).any()):
            self.apart = math.inf
        rows = is_number & is_finite & is_scored
        self.n_compared += int((rows & is_read).sum())
        if bool(rows.any()):
            output = output[rows].float()
            self.apart = max(self.apart, float((total[rows] - output).abs().max()))
            self.largest = max(self.largest, float(output.abs().max()))


_AT_ONCE = 64
"""Rows that are computed together: their weights are all that takes memory."""


def _compared(call: AttentionCall, rows: _Rows) -> _Compared:
    """Compare every row of a sample in all heads; rows: what those of all maps have in common."""
    sample, why = call.sample, _why_not(call)
    queries = sampled(call.q.size(1)) if sample is None else sample.queries
    result = _Compared(why)
    for at in torch.arange(len(queries)).split(_AT_ONCE):
        part = call.at(queries[at].to(call.q.device))
        weights = part.weights()
        is_read = rows.add(part, weights)
        if sample is None or why:
            continue
        total, is_scored = part.heads_given(weights), _is_scored(part)  # [H, N, d_value], [H, N]
        if call.projection is not None:
            total = total.transpose(0, 1).flatten(1) @ call.projection.detach().float().mT
            total = total if sample.bias is None else total + sample.bias.float()
            is_read, is_scored = is_read.any(0), is_scored.all(0)
        rough = (CLOSE.get(each.dtype, 1e-4) for each in (sample.values, part.v))
        result.limit = max(rough)  # heads in half precision may be joined in another one
        values = sample.values[..., at.to(sample.values.device), :]
        result.add(values, total, is_read, is_scored)
    if not (why or result.n_compared) and result.apart <= result.limit:  # of nothing, no share
        result.why = (
            "it gave NaN or infinity only" if result.n_lost else "no row of it reads anything"
        )
    return result


def _is_scored(call: AttentionCall) -> Tensor:
    """Find the rows that are made of numbers, bool [H, Q]; a call by hand has no q and k."""
    of_keys = call.k.isfinite().flatten(1).all(-1)  # [G]
    of_heads = of_keys.repeat_interleave(call.n_heads // len(of_keys))
    return call.q.isfinite().all(-1) & of_heads[:, None]


# Contradictions between what a recording says of an attention and what its pass has shown.
#
# Weights times values say nothing of where keys come from. What does is recomputed from what
# learned matrices read (`origin`), without the rules that named the attention.

ANOTHER = "whose keys are made of another sequence than its queries"
ITSELF = "whose keys are made of what its queries are made of"
SAME_STATES = "which reads the same states as another one"
SAME_RUN = "which is another attention of one module"
TEXTS = "which has read another text"
COLUMNS = "whose words stand in other columns"
HIDDEN = "of which the pass does not show what queries and keys are made of"


WAYS = ("ids", "same", "followed", "numbers", "given")
"""The ways in which rows and columns get their names: read off the ids that the model is known to
read in their order; as those of the rows, of which they are made; followed through the pass, number
by number, to the positions that they are of; none, so that they are numbers; or as whoever brought
the arrays says."""
IDS, SAME, FOLLOWED, NUMBERS, GIVEN = WAYS


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
    @property
    def rows_by(self) -> str: ...
    @property
    def columns_by(self) -> str: ...
    @property
    def unnamed(self) -> tuple[str, ...]: ...
    @property
    def contradictions(self) -> tuple[str, ...]: ...
    @property
    def unproven(self) -> tuple[str, ...]: ...


def against_pass(attentions: Iterable[Named]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what the pass contradicts, and what it leaves open, in clauses without a full stop."""
    wrong: list[str] = []
    hidden: list[str] = []
    for named in attentions:
        origins = [Origin(call, call.trace) for call in named.calls if call.trace is not None]
        wrong += (*_contradictions(named, origins), *named.contradictions)
        hidden += named.unproven
        hidden += (f"{_layers(len(named.calls))} of {named.kind}, {why}" for why in named.unnamed)
        is_followed = named.rows_by == FOLLOWED and named.columns_by in (FOLLOWED, SAME)
        n = sum(origin.is_another is None for origin in origins)
        if n and not is_followed:
            hidden.append(f"{_layers(n)} of {named.kind}, {HIDDEN}")
    return tuple(wrong), tuple(hidden)


_HOW = {
    IDS: "read off the ids, in the order in which the model is known to read them",
    SAME: "of the same positions as the rows",
    FOLLOWED: "followed through the pass to the positions that they depend on",
    NUMBERS: "numbers only",
    GIVEN: "as they were given with the arrays",
}


def how_named(attentions: Iterable[Named]) -> tuple[str, ...]:
    """List how rows and columns got their names, in clauses: of all kinds together, or of each."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for each in attentions:
        rows, columns = _HOW[each.rows_by], _HOW[each.columns_by]
        both = f"rows and columns {rows}" if rows == columns else f"rows {rows}; columns {columns}"
        kinds[both].append(each.kind)
    if len(kinds) == 1 and len(next(iter(kinds.values()))) > 1:
        return tuple(f"names of every kind, {how}" for how in kinds)
    return tuple(f"names of {kind}, {how}" for how, of in kinds.items() for kind in of)


def _contradictions(named: Named, origins: Sequence[Origin]) -> Iterator[str]:
    wrong = Counter((*_roles(named, origins), *_stacks(origins), *_passes(origins)))
    for why, n in wrong.items():
        yield f"{_layers(n)} of {named.kind}, {why}"
    is_named = NUMBERS not in (named.rows_by, named.columns_by)
    if (
        is_named
        and _role(named) in _SELF
        and any(_is_moved(named, origin.words) for origin in origins[:1])
    ):
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
