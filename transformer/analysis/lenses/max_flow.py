"""Largest flows through layers of capacities, by preflow-push (Goldberg & Tarjan 1988)."""

import torch
from torch import Tensor

_NOTHING = 1e-12
"""Amounts up to this are rounding, not flow: capacities are of the order of 1."""


def largest_flows(capacities: Tensor, start: int) -> Tensor:
    """Find the largest flow from a node above to each node below, each by itself: [L, T, T] -> [T].

    capacities[l, i, j]: of the edge from node i above layer l to node j below it, in float64.
    """
    n_layers, n_nodes = capacities.shape[:2]
    if n_layers == 1:
        return capacities[0, start].clone()
    flows = torch.zeros(n_nodes, dtype=capacities.dtype)
    ends = capacities[0].sum(0).nonzero().flatten()  # nothing flows into the others
    network = _Network(capacities, start, ends)
    while len(ends):
        is_open = network.measure()
        flows[ends] = network.arrived()
        ends = ends[is_open]
        network.keep(is_open)
        network.push()
    return flows


class _Network:
    """P problems side by side, each with its own end: how much of what starts can get there.

    Between the layers lie M = L - 1 levels of T nodes, level 0 beside the ends. What the start
    sends is put on the highest level at once; what cannot get on from there stays where it is.
    """

    def __init__(self, capacities: Tensor, start: int, ends: Tensor) -> None:
        n_ends = len(ends)
        inner = capacities[1:-1, None].expand(-1, n_ends, -1, -1)
        self.down = inner.clone()
        """The room left from level m + 1 (rows) to level m (columns) [M - 1, P, T, T]."""
        self.up = torch.zeros_like(inner)
        """The flow that has gone that way, which may be taken back."""
        self.last = capacities[0, :, ends].mT.clone()
        """The room left from level 0 into the end [P, T]."""
        self.room = self.last.sum(-1)
        self.waiting = capacities.new_zeros(len(capacities) - 1, n_ends, capacities.size(1))
        """The flow that has come to each node and not gone on [M, P, T]."""
        self.waiting[-1] = capacities[-1, start]
        self.distance = self.waiting
        """Steps to the end along what still fits [M, P, T]; infinite where there is no way."""

    def arrived(self) -> Tensor:
        """[P]."""
        return self.room - self.last.sum(-1)

    def keep(self, chosen: Tensor) -> None:
        """Forget the problems that are solved. chosen: bool [P]."""
        if not chosen.all():
            self.last, self.room = self.last[chosen], self.room[chosen]
            self.waiting, self.distance = self.waiting[:, chosen], self.distance[:, chosen]
            self.down, self.up = self.down[:, chosen], self.up[:, chosen]

    def measure(self) -> Tensor:
        """Find all distances. Which problems have something waiting that can get on: bool [P]."""
        distance = torch.full_like(self.waiting, torch.inf)
        distance[0] = torch.where(self.last > _NOTHING, 1.0, torch.inf)
        down = torch.where(self.down > _NOTHING, 1.0, torch.inf)
        up = torch.where(self.up > _NOTHING, 1.0, torch.inf)
        before = None
        while before is None or not torch.equal(before, distance):
            before = distance.clone()
            for m, steps in enumerate(down):
                nearest = (steps + distance[m, :, None, :]).amin(-1)
                distance[m + 1] = distance[m + 1].minimum(nearest)
            for m in reversed(range(len(up))):
                nearest = (up[m] + distance[m + 1, :, :, None]).amin(-2)
                distance[m] = distance[m].minimum(nearest)
        self.distance = distance
        return ((self.waiting > _NOTHING) & distance.isfinite()).any(-1).any(0)

    def push(self) -> None:
        """Move what waits nearer to its end, as far as it fits: first down, then up."""
        steps = self.distance[1:, :, :, None] - self.distance[:-1, :, None, :]
        is_down, is_up = steps == 1, steps == -1
        for m in reversed(range(len(self.down))):
            room = self.down[m] * is_down[m]
            self._move(m, _shared(self.waiting[m + 1, :, :, None], room, -1))
        into_end = self.waiting[0].minimum(self.last)
        self.last -= into_end
        self.waiting[0] -= into_end
        for m in range(len(self.up)):
            room = self.up[m] * is_up[m]
            self._move(m, -_shared(self.waiting[m, :, None, :], room, -2))

    def _move(self, m: int, flow: Tensor) -> None:
        """flow [P, T, T]: what goes from level m + 1 down to level m, or up where it is < 0."""
        self.down[m] -= flow
        self.up[m] += flow
        self.waiting[m + 1] -= flow.sum(-1)
        self.waiting[m] += flow.sum(-2)


def _shared(waiting: Tensor, room: Tensor, axis: int) -> Tensor:
    """Share out what waits at a node over its ways in proportion to the room that they have."""
    total = room.sum(axis, keepdim=True)
    return room * (waiting / total.clamp_min(_NOTHING)).clamp(0, 1)
