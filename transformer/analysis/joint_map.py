"""Queries and keys of one head in one space, in which the nearest key is the most attended one.

A score is a dot product, and a map shows distances. With one dimension more both are the same:
q' = [q, 0] and k' = [k, sqrt(M^2 - |k|^2)] with M = max |k| give
|q' - k'|^2 = |q|^2 + M^2 - 2 q k, so that the order of the distances from a query is that of its
scores (the reduction of Bachrach et al. 2014). Nothing is lost before the projection to a plane,
and what that loses is counted.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.recording import AttentionCall


@dataclass(frozen=True, eq=False)
class JointMap:
    """The queries and keys of a head, exactly and on a plane."""

    queries: Tensor
    """q' [Q, d + 1]"""
    keys: Tensor
    """k' [K, d + 1]"""
    query_points: Tensor
    """[Q, 2]: both projected to the two directions in which they vary most (PCA)."""
    key_points: Tensor
    """[K, 2]"""
    first: Tensor
    """[Q]: the key with the largest weight; -1 where a row may look at nothing."""
    nearest: Tensor
    """[Q]: the key that is nearest on the plane, of those that the row may look at."""
    variance: float
    """The share of the variance of all points that the plane keeps."""

    @property
    def is_kept(self) -> Tensor:
        """[Q]: the nearest key on the plane is the most attended one."""
        return (self.nearest == self.first) & (self.first >= 0)

    @property
    def share(self) -> float:
        """The share of queries for which it is; NaN without any."""
        counted = int((self.first >= 0).sum())
        return float(self.is_kept.sum()) / counted if counted else float("nan")


def joint_map(call: AttentionCall) -> JointMap:
    """Map the first head of a call, as `call.only(head)` gives it.

    Keys are moved so that both clouds have one centre, which adds the same number to all scores of
    a query, and both are scaled to one size, q / c and c k (Yeh et al. 2023): neither changes a
    weight. Raises ValueError where scores are not known, or have a bias beside q k.
    """
    if not call.knows_scores or call.bias is not None or call.low is not None:
        raise ValueError("The scores of this head are more than the products of queries and keys.")
    q, k = call.q[0].double().cpu(), call.k[0].double().cpu()
    sizes = [(each - each.mean(0)).norm().clamp_min(1e-9) / len(each) ** 0.5 for each in (q, k)]
    balance = (sizes[0] / sizes[1]).sqrt()
    q, k = q / balance, k * balance
    k = k + (q.mean(0) - k.mean(0))
    queries, keys = exact(q, k)
    points, variance = _plane(torch.cat([queries, keys]))
    query_points, key_points = points[: len(q)], points[len(q) :]
    allowed = call.allowed()[0].cpu()
    is_any = allowed.any(-1)
    scores = (q @ k.mT).masked_fill(~allowed, -torch.inf)
    apart = torch.cdist(query_points, key_points).masked_fill(~allowed, torch.inf)
    first, nearest = (
        each.masked_fill(~is_any, -1) for each in (scores.argmax(-1), apart.argmin(-1))
    )
    return JointMap(queries, keys, query_points, key_points, first, nearest, variance)


def exact(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """q [Q, d] and k [K, d] -> q' [Q, d + 1] and k' [K, d + 1], whose distances order as scores."""
    lengths = k.norm(dim=-1)
    last = (lengths.max() ** 2 - lengths**2).clamp_min(0).sqrt()
    return torch.cat([q, q.new_zeros(len(q), 1)], -1), torch.cat([k, last[:, None]], -1)


def _plane(points: Tensor) -> tuple[Tensor, float]:
    """[N, D] -> [N, 2] along the two largest directions, and the share of variance they keep."""
    centred = points - points.mean(0)
    _, values, directions = torch.linalg.svd(centred, full_matrices=False)
    plane = directions[:2]
    # A direction's sign is arbitrary: the largest part points up, so that a map stays as it is.
    signs = plane.gather(1, plane.abs().argmax(1, keepdim=True)).sign()
    total = float((values**2).sum())
    share = float((values[:2] ** 2).sum()) / total if total else 1.0
    return centred @ (plane * signs).mT, share
