"""Batches of nearly equal lengths, each about the same number of tokens."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

Pair = tuple[Sequence[int], Sequence[int]]
"""Source ids and target ids, without the start token."""


@dataclass(frozen=True, eq=False)
class Batch:
    """source [B, S]; target_input and target_output [B, T], the second one step ahead."""

    source: Tensor
    target_input: Tensor
    target_output: Tensor

    @property
    def n_tokens(self) -> int:
        """Positions computed, padding included."""
        return self.source.numel() + self.target_input.numel()

    def to(self, device: torch.device) -> "Batch":
        return Batch(
            self.source.to(device), self.target_input.to(device), self.target_output.to(device)
        )


def make_batch(pairs: Sequence[Pair], pad_id: int, bos_id: int) -> Batch:
    """Pad each side to its longest."""
    targets = _pad([target for _, target in pairs], pad_id)
    starts = targets.new_full((len(pairs), 1), bos_id)
    source = _pad([source for source, _ in pairs], pad_id)
    return Batch(source, torch.cat([starts, targets[:, :-1]], dim=1), targets)


def bucketed(
    pairs: Sequence[Pair], tokens_per_batch: int, pad_id: int, bos_id: int, seed: int
) -> Iterator[Batch]:
    """One epoch: every pair once, in an order that only `seed` decides."""
    rng = random.Random(seed)
    order = list(range(len(pairs)))
    rng.shuffle(order)
    # A stable sort keeps the shuffle within equal lengths, so that batches differ between epochs.
    order.sort(key=lambda i: (len(pairs[i][0]), len(pairs[i][1])))
    groups: list[list[int]] = [[]]
    longest_source = longest_target = 0
    for i in order:
        longest_source = max(longest_source, len(pairs[i][0]))
        longest_target = max(longest_target, len(pairs[i][1]))
        if (len(groups[-1]) + 1) * (longest_source + longest_target) > tokens_per_batch:
            groups.append([])
            longest_source, longest_target = len(pairs[i][0]), len(pairs[i][1])
        groups[-1].append(i)
    rng.shuffle(groups)
    for group in groups:
        if group:
            yield make_batch([pairs[i] for i in group], pad_id, bos_id)


def _pad(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*ids, *[pad_id] * (longest - len(ids))] for ids in rows])
