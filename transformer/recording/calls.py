"""One layer's call of attention: what its weights are made of, and what it really gave."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from math import gcd
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.refusal import Refusal


class NotRecorded(Refusal, ValueError):
    """An error of a recording that is asked for what it does not hold, in one sentence."""


_ALONE = "the model computed attention by hand, or arrays were brought without {}"
ONLY_WEIGHTS = f"Of this attention only the weights are known: {_ALONE.format('q and k')}."
NO_VALUES = f"The values of this attention are not known: {_ALONE.format('v')}."

# Traces of a call: what learned matrices read before it, and where in the pass it was.
#
# Of what was read a row is copied, so that queries and values can be computed from it once more.


@in_a_line
class States(NamedTuple):
    """A tensor that learned matrices have read."""

    number: int
    """The number among the tensors of a pass: views of one have the same."""
    first: Tensor
    """Its first row [D], a copy."""
    n_rows: int


@in_a_line
class Read(NamedTuple):
    """A learned matrix that has read states."""

    states: States
    matrix: Tensor
    """[n, D] by reference; or [D, ...] where it is turned."""
    bias: Tensor | None
    is_turned: bool

    def row(self, first: Tensor) -> Tensor:
        """Compute what it gives for a row [D] -> [n]."""
        matrix = self.matrix.detach()
        matrix = matrix.reshape(len(first), -1).mT if self.is_turned else matrix
        if matrix.dtype != first.dtype:  # as autocast has it
            matrix, first = matrix.float(), first.float()
        row = matrix @ first
        is_whole = self.bias is not None and self.bias.numel() == row.numel()
        return row + self.bias.detach().flatten() if self.bias is not None and is_whole else row


class Norm(NamedTuple):
    """The parameters of a module that may norm queries or keys, by reference."""

    weight: Tensor
    bias: Tensor | None


class Firsts(NamedTuple):
    """Copies of the first query and the first key of all heads [..., d].

    None where an axis is not clear, or where the call keeps them itself.
    """

    query: Tensor | None = None
    key: Tensor | None = None


NO_ROWS = Firsts()


@in_a_line
class Trace(NamedTuple):
    """A call of attention as the pass has shown it."""

    module: str
    """The path of the module that called it."""
    run: int
    """The number of the run of a module, counted over the pass."""
    text: int
    """The number of texts as long as its queries that the pass had read before it, by one table."""
    reads: tuple[Read, ...]
    """The latest before it."""
    given: frozenset[int] = frozenset()
    """Numbers of states that a module under way was given."""
    firsts: Firsts = NO_ROWS
    norms: tuple[Norm, ...] = ()
    """The norms in the module that called it, and in the one around that."""
    earlier: tuple[Read, ...] = ()
    """The reads before these: what is read may be made of a smaller state, a latent."""

    @property
    def states(self) -> set[int]:
        """Numbers of the states that were read for it, or shortly before."""
        return {read.states.number for read in self.reads}


# One layer's call of attention: what its weights are made of, and what it really gave.


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Sample:
    """A sample of what an attention gave in the pass, at some of its queries: copies."""

    queries: Tensor
    """[N] int64"""
    values: Tensor
    """[N, D] after W_O; or [H, N, d_value] where nothing is known to project the heads."""
    bias: Tensor | None = None
    """The bias of W_O [D]."""


MOST = 512
"""Queries of a sample: every one of most texts."""


@lru_cache(maxsize=64)
def sampled(n_queries: int) -> Tensor:
    """Choose the queries to keep: evenly spread, first and last among them."""
    n = min(n_queries, MOST)
    with torch.inference_mode(False):  # it is kept for later passes, which may have gradients
        places = torch.linspace(0, n_queries - 1, n, dtype=torch.float32, device="cpu")
        return places.round().long()


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class AttentionCall:
    """One layer's call of scaled_dot_product_attention, after projection."""

    q: Tensor
    """[H, Q, d_head]"""
    k: Tensor
    """[H, K, d_head]; or fewer, [G, K, d_head], each for H / G heads that follow each other."""
    v: Tensor
    """[H or G, K, d_value]; d_value is 0 where the values are not known."""
    mask: Tensor | None
    """[1 or H, 1 or Q, K], True = may attend; None: no mask beside causality."""
    scale: float
    """The factor on q · k: as a rule 1 / sqrt(d_head)."""
    is_causal: bool
    """True: cells of keys that stand behind their query are closed, beside those of the mask."""
    projection: Tensor | None = None
    """W_O as torch keeps it [D, H * d_value], by reference; None: nothing projects the heads."""
    bias: Tensor | None = None
    """[1 or H, 1 or Q, K], added to the scores: a relative bias, ALiBi."""
    has_output: bool = True
    """False: whether and how the heads are projected is not known."""
    sample: Sample | None = None
    """None: what it gave is not known."""
    added: Tensor | None = None
    """[H, Q, K], what edits added to the scores; cells that they cut are closed in the mask."""
    low: Tensor | None = None
    """[1 or H, 1 or Q, K], what a finite mask adds where that alone does not say what is closed: of
    these cells, which are below 0, those of weight exactly 0 are, and the others are open."""
    is_safe: bool = True
    """True: a row without an open cell is 0, as in torch's fused attention; else it is NaN."""
    is_random: bool = False
    """True: dropout changed the weights afterwards, where nothing shows how."""
    replaced: Mapping[int, Tensor] = field(default_factory=dict)
    """Head -> what edits put in the place of its output [Q, d_value]."""
    trace: Trace | None = None
    """Traces of it in the pass; None where its place is known without."""

    @property
    def n_heads(self) -> int:
        return self.q.size(0)

    @property
    def knows_scores(self) -> bool:
        """Tell whether q and k are here, or nothing but what became of them."""
        return True

    @property
    def output(self) -> Tensor | None:
        """The rows of W_O that each head meets: a view [H, d_value, D] in the model's dtype.

        None where the joined heads are what attention gives: as if W_O were the identity.
        """
        if self.projection is None:
            return None
        return self.projection.detach().mT.unflatten(0, (self.n_heads, -1))

    def on(self, device: torch.device) -> "AttentionCall":
        """The same call on one device, where a model is divided over several."""
        here = self.q.device
        if here.type == device.type and device.index in (None, here.index):
            return self
        changed: dict[str, Any] = _moved(self, device)
        if self.sample is not None:
            changed["sample"] = replace(self.sample, **_moved(self.sample, device))
        changed["replaced"] = {head: z.to(device) for head, z in self.replaced.items()}
        return replace(self, **changed)

    def only(self, head: int) -> "AttentionCall":
        """The same call of one head, H = 1: views, so that what is asked of it costs one head."""
        return self.heads(slice(head, head + 1))

    def heads(self, part: slice) -> "AttentionCall":
        """The same call of some heads that follow each other."""
        first, last, _ = part.indices(self.n_heads)
        d_value = self.v.size(-1)
        columns = slice(first * d_value, last * d_value)
        return replace(
            self,
            q=self.q[part],
            k=_of_heads(self.k, part, self.n_heads),
            v=_of_heads(self.v, part, self.n_heads),
            mask=_some(self.mask, part),
            bias=_some(self.bias, part),
            added=_some(self.added, part),
            low=_some(self.low, part),
            replaced={h - first: z for h, z in self.replaced.items() if first <= h < last},
            projection=None if self.projection is None else self.projection[:, columns],
            sample=None,
        )

    def at(self, queries: Tensor) -> "AttentionCall":
        """The same call of some queries [N]."""
        return replace(
            self,
            q=self.q[:, queries],
            mask=_of_queries(self.mask, queries, self.is_causal and self.k.size(1)),
            bias=_at_queries(self.bias, queries),
            low=_at_queries(self.low, queries),
            added=None if self.added is None else self.added[:, queries],
            replaced={head: z[queries] for head, z in self.replaced.items()},
            is_causal=False,
        )

    def allowed(self) -> Tensor:
        """Find the cells that may be attended to: bool [H, Q, K]."""
        cells = self._unmasked()
        if self.low is None:
            return cells
        return cells & ~((self.low < 0) & (self.weights() == 0))

    def _unmasked(self) -> Tensor:
        """The cells that neither causality nor the mask closes."""
        shape = (*self.q.shape[:2], self.k.size(1))
        cells = torch.ones(shape, dtype=torch.bool, device=self.q.device)
        if self.is_causal:
            cells = cells.tril()
        return cells if self.mask is None else cells & self.mask

    def scores(self) -> Tensor:
        """q k^T * scale + bias, and what edits added, before the mask: [H, Q, K] in float32."""
        return self.scores_in(torch.float32)

    def scores_in(self, dtype: torch.dtype) -> Tensor:
        """The same in another precision."""
        n_groups = self.k.size(0)
        q = self.q.to(dtype).unflatten(0, (n_groups, -1)).flatten(1, 2)  # [G, H / G * Q, d_head]
        products = (q @ self.k.to(dtype).mT).view(*self.q.shape[:2], -1).mul_(self.scale)
        for addend in (self.bias, self.low, self.added):
            products = products if addend is None else products + addend.to(dtype)
        return products

    def weights(self) -> Tensor:
        """softmax(scores + mask) over keys: [H, Q, K] in float32; masked cells are exactly 0."""
        if self.mask is None and not self.is_causal:
            return self.scores().softmax(-1)
        masked = ~self._unmasked()
        weights = self.scores().masked_fill_(masked, -torch.inf).softmax(-1)
        if self.mask is None or not self.is_safe:
            return weights  # causality leaves a key to every row
        return weights.masked_fill(masked, 0.0)

    def heads_given(self, weights: Tensor | None = None) -> Tensor:
        """Compute what heads gave before W_O: weights v, or what edits put, [H, Q, d_value].

        weights: its weights, where they are computed already.
        """
        weights, v = self.weights() if weights is None else weights, self.v.float()
        result = weights.unflatten(0, (v.size(0), -1)).flatten(1, 2) @ v  # [G, H / G * Q, d_value]
        heads = result.view(*weights.shape[:2], -1)
        for head, z in self.replaced.items():
            heads[head] = z
        return heads


@dataclass(frozen=True, eq=False, kw_only=True)
@in_a_line
class WeightsCall(AttentionCall):
    """One layer's attention that its model computed by hand: the weights as the softmax gave them.

    q [H, Q, 0] and k [H, K, 0] have no dimensions: they are not known.
    """

    given: Tensor
    """[H, Q, K]"""

    @property
    def knows_scores(self) -> bool:
        return False

    def heads(self, part: slice) -> "AttentionCall":
        shorter: dict[str, Any] = {"given": self.given[part]}
        return replace(super().heads(part), **shorter)

    def at(self, queries: Tensor) -> "AttentionCall":
        shorter: dict[str, Any] = {"given": self.given[:, queries]}
        return replace(super().at(queries), **shorter)

    def scores_in(self, dtype: torch.dtype) -> Tensor:
        """Raises NotRecorded."""
        raise NotRecorded(ONLY_WEIGHTS)

    def weights(self) -> Tensor:
        """Give a copy of them as they were, [H, Q, K] in float32: nothing is put in their place."""
        return self.given.to(torch.float32, copy=True)  # else whoever changes it changes the record


def _moved(value: "AttentionCall | Sample", device: torch.device) -> dict[str, Any]:
    """Its tensors on a device, by field; those of places stay where they are."""
    named = {each.name: getattr(value, each.name) for each in fields(value)}
    tensors = {name: it for name, it in named.items() if isinstance(it, Tensor)}
    return {name: it.to(device) for name, it in tensors.items() if name != "queries"}


def _of_heads(tensor: Tensor, part: slice, n_heads: int) -> Tensor:
    """Choose the keys or values [G, K, d] that some of the H heads read; a view of one head."""
    n_groups = tensor.size(0)
    if n_groups == n_heads:
        return tensor[part]
    first, last, _ = part.indices(n_heads)
    groups = [head * n_groups // n_heads for head in range(first, last)]
    if len(set(groups)) == 1:
        return tensor[groups[0] : groups[0] + 1]
    return tensor[groups]


def _of_queries(mask: Tensor | None, queries: Tensor, n_keys: int) -> Tensor | None:
    """The rows of a mask. n_keys: of a causal call, whose later keys are closed too; else 0."""
    rows = mask if mask is None or mask.size(1) == 1 else mask[:, queries]
    if not n_keys:
        return rows
    earlier = (torch.arange(n_keys, device=queries.device) <= queries[:, None])[None]
    return earlier if rows is None else earlier & rows


def _at_queries(addend: Tensor | None, queries: Tensor) -> Tensor | None:
    """The rows of what is added to scores [1 or H, 1 or Q, K]."""
    return addend if addend is None or addend.size(1) == 1 else addend[:, queries]


def _some(of_heads: Tensor | None, part: slice) -> Tensor | None:
    return of_heads if of_heads is None or of_heads.size(0) == 1 else of_heads[part]


# Replay of what stands between a projection and attention: another type, a factor, a norm.
#
# Heads are compared by their directions, since a norm's size says nothing; each of them with all
# numbers of a projected row that follow each other, as they are and as a norm leaves them.

_APART = {torch.float64: 2e-3, torch.float32: 2e-3, torch.float16: 5e-3, torch.bfloat16: 0.02}
"""The largest sine between heads that are the same, by the type that they were computed in."""
_CHANCE = 1e-6
"""The largest chance that heads agree which have nothing to do with each other."""


def parts_of(row: Tensor, width: int) -> Tensor:
    """Cut a row [n] into all that may be a head [N, d]: neighbours, or every n / d-th number."""
    if len(row) < width:
        return row.new_zeros(0, width)
    parts = row.unfold(0, width, gcd(len(row), width))
    return parts if len(row) % width else torch.cat([parts, row.view(width, -1).mT])


def normed(row: Tensor, width: int, norms: Iterable[Norm]) -> Iterator[Tensor]:
    """Yield such parts [N, d] after norms: of each head, or of the row as a whole."""
    if len(row) < width:
        return
    parts = parts_of(row, width)
    yield parts - parts.mean(-1, keepdim=True)
    for norm in norms:
        if norm.weight.numel() == width:
            yield from _after(norm, parts)
        if norm.weight.numel() == len(row):
            yield from (parts_of(whole[0], width) for whole in _after(norm, row[None]))
            if len(row) % width == 0:  # heads by themselves, each with weights of its own
                yield from _after(norm, row.view(-1, width))


def _after(norm: Norm, rows: Tensor) -> Iterator[Tensor]:
    """Yield rows [N, n] as a norm leaves them but for their size; its weights lie around 1 or 0."""
    weight = norm.weight.detach().to(rows.dtype).reshape(-1, rows.size(-1))
    bias = None if norm.bias is None else norm.bias.detach().to(rows.dtype).view_as(weight)
    centred = rows - rows.mean(-1, keepdim=True)
    deviation = centred.square().mean(-1, keepdim=True).sqrt().clamp_min(1e-30)
    yield rows + weight  # it is no norm's: XLNet adds such a one to queries
    for factor in (weight, 1 + weight):
        yield rows * factor
        yield centred * factor if bias is None else centred / deviation * factor + bias


def are_along(heads: Tensor, parts: Tensor, types: Iterable[torch.dtype]) -> Tensor:
    """Find the positions of heads [N, H, d] of which each has the direction of a part [n, d].

    types: of all that they were computed with. bool [N]; all False where chance may do it.
    """
    apart = max(_APART.get(each, 1.0) for each in types)
    n_heads, width = heads.shape[1:]
    if not len(parts) or (len(parts) * apart ** (width - 1)) ** n_heads > _CHANCE:
        return heads.new_zeros(len(heads), dtype=torch.bool)
    lengths = heads.norm(dim=-1)
    units = parts / parts.norm(dim=-1, keepdim=True).clamp_min(1e-30)
    cosines = (heads @ units.mT).amax(-1) / lengths.clamp_min(1e-30)  # [N, H]
    return ((cosines >= (1 - apart**2) ** 0.5) & (lengths > 0)).all(-1)
