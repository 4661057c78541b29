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
from transformer.corpus.trees import BLIND, TO_DEPENDENT, TO_HEAD, arcs_of

LEAST = 20
"""Arcs of a relation below which nothing is said of it."""
DIRECTIONS = {TO_HEAD: "to head", TO_DEPENDENT: "to dependent"}


class Tally:
    """Hits of all heads of a kind, while its lines go by."""

    def __init__(self, n_runs: int, n_heads: int) -> None:
        shape = n_runs, n_heads, len(DIRECTIONS)
        self._hits: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(shape, np.int64))
        self._arcs: dict[str, NDArray[np.int64]] = defaultdict(lambda: np.zeros(shape, np.int64))
        self._n_sentences: Counter[str] = Counter()
        self._offsets: dict[str, dict[int, NDArray[np.int64]]] = defaultdict(
            lambda: defaultdict(lambda: np.zeros(shape[1:], np.int64))
        )

    def add(self, of: SentenceHeads, run: int) -> None:
        """Count the arcs of a sentence, but for those that a mask hides."""
        bits = np.array([*DIRECTIONS], np.uint8)
        for at, (name, offset) in enumerate(arcs_of(of.arcs)):
            of_heads = of.arc_hits[:, at, None]
            is_seen = (of_heads & bits * BLIND) == 0  # [N, 2]
            self._arcs[name][run] += is_seen
            self._hits[name][run] += (of_heads & bits) > 0
            self._offsets[name][offset] += is_seen
        self._n_sentences.update({name for name, _ in arcs_of(of.arcs)})

    def of_heads(self) -> list[dict[str, Syntax]]:
        """Relation -> its numbers, for each head; those with too few arcs are left out."""
        result: list[dict[str, Syntax]] = []
        for name in sorted(self._arcs):
            for head, syntax in enumerate(self._of(name)):
                if head == len(result):
                    result.append({})
                if syntax is not None:
                    result[head][name] = syntax
        return result

    def _of(self, name: str) -> Iterator[Syntax | None]:
        arcs, hits = (each[name].reshape(len(each[name]), -1) for each in (self._arcs, self._hits))
        offsets = sorted(self._offsets[name], key=lambda offset: (abs(offset), offset))
        n_of = np.stack([self._offsets[name][offset].ravel() for offset in offsets])
        best, n_best = n_of.argmax(0), n_of.max(0)
        alike: dict[bytes, list[int]] = defaultdict(list)
        for column in range(arcs.shape[1]):  # heads that see the same arcs, in one direction
            alike[arcs[:, column].tobytes()].append(column)
        numbers = np.full((arcs.shape[1], 3), np.nan)
        for columns in alike.values():
            sizes = arcs[:, columns[0]]
            there = sizes > 0
            if sizes.sum() >= LEAST:
                means = hits[there][:, columns] / sizes[there, None]
                estimate = interval(torch.from_numpy(means), torch.from_numpy(sizes[there]))
                numbers[columns] = torch.stack([estimate.mean, estimate.low, estimate.high], -1)
        for of_head in np.arange(arcs.shape[1]).reshape(-1, len(DIRECTIONS)):
            clear = [at for at in of_head if not np.isnan(numbers[at, 0])]
            if not clear:
                yield None
                continue
            at = max(clear, key=lambda at: float(numbers[at, 0]))
            mean, low, high = (None if np.isnan(each) else float(each) for each in numbers[at])
            yield Syntax(
                accuracy=mean or 0.0,
                low=low,
                high=high,
                direction=[*DIRECTIONS.values()][at % len(DIRECTIONS)],
                n_arcs=int(arcs[:, at].sum()),
                offset=offsets[best[at]],
                by_offset=float(n_best[at] / arcs[:, at].sum()),
                n_sentences=self._n_sentences[name],
            )
