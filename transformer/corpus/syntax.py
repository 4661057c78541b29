"""Syntax in heads: how often their largest weight lies on an arc, by relation.

Beside it stands the best fixed offset: how often the head of such a word stands so many words after
it (before it, below 0), as a head could do that knows places only (Voita et al. 2019, section 5.2;
Clark et al. 2019, section 4).
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray

from transformer.analysis.bootstrap import interval
from transformer.corpus.measured import SentenceHeads
from transformer.corpus.surveyed import Syntax
from transformer.corpus.trees import TO_DEPENDENT, TO_HEAD, arcs_of

LEAST = 20
"""Arcs of a relation below which nothing is said of it."""
DIRECTIONS = {TO_HEAD: "to head", TO_DEPENDENT: "to dependent"}


class Tally:
    """Hits of all heads of a kind, while its lines go by."""

    def __init__(self, n_runs: int, n_heads: int) -> None:
        shape = n_runs, n_heads, len(DIRECTIONS)
        self._hits: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(shape, np.int64))
        self._arcs: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(n_runs, np.int64))
        self._offsets: dict[str, Counter[int]] = defaultdict(Counter)

    def add(self, of: SentenceHeads, run: int) -> None:
        """Count the arcs of a sentence."""
        for at, (name, offset) in enumerate(arcs_of(of.arcs)):
            self._offsets[name][offset] += 1
            self._arcs[name][run] += 1
            for direction, bit in enumerate(DIRECTIONS):
                self._hits[name][run, :, direction] += (of.arc_hits[:, at] & bit) > 0

    def of_heads(self) -> list[dict[str, Syntax]]:
        """Relation -> its numbers, for each head; those with too few arcs are left out."""
        result: list[dict[str, Syntax]] = []
        for name in sorted(self._arcs):
            if self._arcs[name].sum() < LEAST:
                continue
            for head, syntax in enumerate(self._of(name)):
                if head == len(result):
                    result.append({})
                result[head][name] = syntax
        return result

    def _of(self, name: str) -> Iterator[Syntax]:
        there = self._arcs[name] > 0
        sizes, n_arcs = self._arcs[name][there], int(self._arcs[name].sum())
        means = self._hits[name][there] / sizes[:, None, None]  # [S, N, 2]
        estimate = interval(torch.from_numpy(means).flatten(1), torch.from_numpy(sizes))
        numbers = torch.stack([estimate.mean, estimate.low, estimate.high], -1)
        offset, n = max(self._offsets[name].items(), key=lambda each: (each[1], -abs(each[0])))
        for of_head in numbers.unflatten(0, (-1, len(DIRECTIONS))).tolist():
            best = max(range(len(DIRECTIONS)), key=lambda at: of_head[at][0])
            mean, low, high = of_head[best]
            is_one = len(sizes) < 2
            yield Syntax(
                accuracy=mean,
                low=None if is_one else low,
                high=None if is_one else high,
                direction=[*DIRECTIONS.values()][best],
                n_arcs=n_arcs,
                offset=offset,
                by_offset=n / n_arcs,
            )
