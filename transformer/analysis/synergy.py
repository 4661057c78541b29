"""The worth of two heads together, beyond what each is worth by itself: heads that back up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from transformer.analysis.scored import Scored, scored
from transformer.analysis.sweep import Sweep
from transformer.checkpoint import Checkpoint
from transformer.edits.edit import Edit


@dataclass(frozen=True, eq=False)
class Synergy:
    """The P pairs of edits, as far as they were tried. D is the change of the whole output's
    log-probability, in nats.
    """

    pairs: tuple[tuple[Edit, Edit], ...]
    together: Tensor
    """[P]: D(h, g), of both at once."""
    apart: Tensor
    """[P]: D(h) + D(g)."""
    n_other: Tensor
    """[P]: words at which another one is most probable than without an edit."""
    n_asked: int

    @property
    def synergy(self) -> Tensor:
        """[P]: D(h, g) - D(h) - D(g). Below 0 where one makes up for the loss of the other."""
        return self.together - self.apart


def strongest(sweep: Sweep, n: int) -> list[int]:
    """The rows of the n edits that change the whole output most, up or down, the first first."""
    return torch.argsort(sweep.totals.abs(), descending=True, stable=True)[:n].tolist()


def n_pairs(n: int) -> int:
    """Count the pairs of n edits.

    >>> n_pairs(8)
    28
    """
    return n * (n - 1) // 2


def pairs_of(checkpoint: Checkpoint, sweep: Sweep, rows: Sequence[int]) -> Iterator[Synergy]:
    """Try these rows' edits two at a time: what is known grows. Backup heads: Wang et al. 2022.

    Pairs that a watched model refuses are left out; raises as `scored`.
    """
    pairs = list(combinations(rows, 2))
    groups = [(sweep.edits[a], sweep.edits[b]) for a, b in pairs]
    scores: list[Scored] = []
    for some in scored(checkpoint, sweep.output, groups):
        scores.append(some)
        is_there = [not each.refused for each in scores for _ in each.log_probs]
        log_probs = torch.cat([each.log_probs for each in scores])[torch.tensor(is_there)]
        best = torch.cat([each.best for each in scores])[torch.tensor(is_there)]
        tried = [i for i, it in enumerate(is_there) if it]
        first, second = torch.tensor([pairs[i] for i in tried]).view(-1, 2).T
        yield Synergy(
            pairs=tuple(groups[i] for i in tried),
            together=sweep.totalled(log_probs - sweep.log_probs),
            apart=sweep.totals[first] + sweep.totals[second],
            n_other=(best != sweep.best).sum(-1),
            n_asked=len(groups),
        )
