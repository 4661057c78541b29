"""inside(): one cell of one head, computed stage by stage (AIAYN, section 3.2.1).

The stages are those of attention itself: q · k, times scale, mask, softmax, times v, and what that
is in the head's output. A head that scales q and k before their product (`fourth_root`) is
recorded with both unscaled and the whole scale beside them, so its stages are the same.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from transformer.recording import AttentionCall, Recording


@dataclass(frozen=True, eq=False)
class Cell:
    """The cell of one query and one key in one head. Tensors are float32 on the CPU."""

    kind: str
    layer: int
    head: int
    query: int
    """Positions of the query and the key."""
    key: int
    q: Tensor
    """[d_key]"""
    k: Tensor
    """[d_key]"""
    products: Tensor
    """q * k [d_key]"""
    running: Tensor
    """Sum of the products up to and with each dimension [d_key]; the last is q · k."""
    scale: float
    bias: float
    """The model's addition to this score for the places of both: a relative bias, ALiBi."""
    scores: Tensor
    """q · k * scale + bias for every key of this query, before the mask [K]."""
    allowed: Tensor
    """bool [K]: False where a mask forbids the key."""
    weights: Tensor
    """softmax of the allowed scores [K]; 0 where masked, and everywhere if all keys are."""
    value: Tensor
    """The key's v [d_value]."""
    part: Tensor
    """weight * value [d_value]"""
    output: Tensor
    """The head's output for this query: the parts of all keys added up [d_value]."""
    shares: Tensor
    """part · output / |output|² of every key [K]: how much of the output's length a part makes up.

    They add up to 1; one below 0 pulls the other way. All are 0 where the output is.
    """
    norms: tuple[float, float] | None
    """Lengths of part and output after W_O; None where the projection was not recorded."""

    @property
    def dot(self) -> float:
        """q · k"""
        return float(self.running[-1])

    @property
    def score(self) -> float:
        """q · k * scale + bias, whether masked or not."""
        return float(self.scores[self.key])

    @property
    def is_masked(self) -> bool:
        return not bool(self.allowed[self.key])

    @property
    def weight(self) -> float:
        return float(self.weights[self.key])

    @property
    def share(self) -> float:
        """This key's of the `shares`."""
        return float(self.shares[self.key])

    @property
    def n_allowed(self) -> int:
        """Count the keys that the softmax runs over."""
        return int(self.allowed.sum())

    @property
    def rank(self) -> int:
        """1 where no allowed key has a larger score."""
        return 1 + int((self.scores[self.allowed] > self.score).sum())


def inside(recording: Recording, kind: str, layer: int, head: int, query: int, key: int) -> Cell:
    """Every stage of one cell. Costs K * (d_key + d_value), whatever the number of queries.

    Raises KeyError for a kind and IndexError for a number that the recording does not have, and
    ValueError, in a sentence, where a model left nothing but its weights.
    """
    call = recording.attentions[kind].calls[layer]
    if not call.knows_scores or not call.v.size(-1):
        raise ValueError(
            "This model computes attention by hand: its weights are known, its q and k are not, "
            "so there is nothing to see inside a cell."
        )
    row = _row(call, head, query)
    q, k, v = row.q[0, 0].float().cpu(), row.k[0].float().cpu(), row.v[0].float().cpu()
    products = q * k[key]  # [d_key]
    weights = row.weights()[0, 0].cpu()  # [K]
    parts = weights[:, None] * v  # [K, d_value]
    output = parts.sum(0)  # [d_value]
    return Cell(
        kind=kind,
        layer=layer,
        head=head,
        query=query,
        key=key,
        q=q,
        k=k[key],
        products=products,
        running=products.cumsum(0),
        scale=call.scale,
        bias=0.0 if row.bias is None else float(row.bias[0, 0, key]),
        scores=row.scores()[0, 0].cpu(),
        allowed=row.allowed()[0, 0].cpu(),
        weights=weights,
        value=v[key],
        part=parts[key],
        output=output,
        shares=_shares(parts, output),
        norms=_norms(call, head, parts[key], output),
    )


def _row(call: AttentionCall, head: int, query: int) -> AttentionCall:
    """The same call for one head and one query: scores and weights have one formula, in one place.

    Causality becomes a mask, because the one row left no longer says where it stood.
    """
    one = call.only(head)
    n_queries, n_keys = one.q.size(1), one.k.size(1)
    allowed = torch.ones(n_keys, dtype=torch.bool, device=one.q.device)
    if one.is_causal:
        allowed = torch.arange(n_keys, device=one.q.device) <= query
    if one.mask is not None:
        allowed = allowed & one.mask.expand(1, n_queries, n_keys)[0, query]
    bias = None if one.bias is None else one.bias.expand(1, n_queries, n_keys)[:, query, None]
    return replace(
        one,
        q=one.q[:, query, None],  # [1, 1, d_key]
        mask=allowed[None, None],  # [1, 1, K]
        bias=bias,  # [1, 1, K]
        added=None if one.added is None else one.added[:, query, None],
        is_causal=False,
    )


def _shares(parts: Tensor, output: Tensor) -> Tensor:
    """The projection of each part on the output, in lengths of the output.

    parts: [K, d_value], output: [d_value] -> [K]
    """
    squared = output.double().square().sum()
    if squared == 0:
        return torch.zeros(len(parts))
    return (parts.double() @ output.double() / squared).float()


def _norms(
    call: AttentionCall, head: int, part: Tensor, output: Tensor
) -> tuple[float, float] | None:
    """Lengths after the head's slice of W_O [d_value, D]; its bias belongs to no key."""
    projection: Tensor | None = getattr(call, "output", None)  # [H, d_value, D]
    if projection is None:
        return None
    matrix = projection[head].float().cpu()
    return float((part @ matrix).norm()), float((output @ matrix).norm())
