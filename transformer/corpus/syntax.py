"""Syntax in heads: how often their largest weight lies on an arc, and on both sides of a
translation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.alignment import words_of_pieces
from transformer.analysis.corpus_sweep import interval
from transformer.checkpoint import Checkpoint
from transformer.corpus.measured import SentenceHeads
from transformer.corpus.surveyed import Syntax
from transformer.corpus.trees import BLIND, TO_DEPENDENT, TO_HEAD, Tree, arcs_of
from transformer.inputs import InputError
from transformer.recording import Attention
from transformer.recording.ours import record
from transformer.token import Token

# Syntax in heads: how often their largest weight lies on an arc, by relation.
#
# Beside it stands the best fixed offset: how often the head of such a word stands so many words
# after it (before it, below 0), as a head could do that knows places only (Voita et al. 2019,
# section 5.2; Clark et al. 2019, section 4).

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


# Syntax on both sides of a translation: does cross-attention carry a relation to its own kind?
#
# For a relation, as nsubj, and each word of the target that has it: while this word is written,
# is the source word with the largest weight one that has the same relation in the source's tree?
# Beside it stands the best fixed offset from the diagonal, as a head could do that knows places
# only.

ROLE_TRANSFER_LEAST = 50
"""Target words of a relation below which nothing is said of it."""
SPAN = 8
"""The farthest offset from the diagonal, in words, that is tried."""


@dataclass(frozen=True)
class Transfer:
    """A relation, and the heads of cross-attention over all words of the target that have it."""

    relation: str
    n_words: int
    n_sentences: int
    rates: Tensor
    """[L, H]: the share of these words whose largest weight is on a source word of the relation."""
    low: Tensor
    """Between low and high lie 95 % of the rates of resampled sentences."""
    high: Tensor
    offset: int
    """The best fixed offset from the diagonal, in words of the source."""
    by_offset: float
    """The share of words for which the source word at that offset has the relation."""
    by_chance: float
    """The mean share of source words that have it."""

    @property
    def best(self) -> tuple[int, int]:
        """The layer and head with the largest share."""
        return divmod(int(self.rates.argmax()), self.rates.size(1))

    @property
    def n_above(self) -> int:
        """Heads whose whole interval is above what the offset gives."""
        return int((self.low > self.by_offset).sum())


@dataclass(frozen=True)
class Transfers:
    """All relations, the most frequent first, and the sentences that say something of them."""

    relations: tuple[Transfer, ...]
    n_sentences: int
    n_unspelled: int
    """Pairs that are left out: their pieces do not spell the words of the trees, or are refused."""


def role_transfer(
    checkpoint: Checkpoint, sources: Sequence[Tree], targets: Sequence[Tree]
) -> Transfers:
    """Compare the trees of sentences and of their translations, which the model is made to read.

    Raises InputError where it has no cross-attention, or where no pair can be read.
    """
    *_, tally = transferring(checkpoint, sources, targets)
    return tally.result()


def transferring(
    checkpoint: Checkpoint, sources: Sequence[Tree], targets: Sequence[Tree]
) -> "Iterator[RoleTransferTally]":
    """`role_transfer`, a pair of sentences more each time: one tally, which grows."""
    if len(sources) != len(targets):
        raise InputError(
            f"There are {len(sources)} trees of sources and {len(targets)} of targets."
        )
    if "cross" not in checkpoint.family.attentions:
        raise InputError(f"{checkpoint.name} has no cross-attention: give trees of sources only.")
    tally = RoleTransferTally()
    yield tally
    for source, target in zip(sources, targets, strict=True):
        try:
            tally.add(source, target, record(checkpoint, source.text, target.text).attentions)
        except (InputError, ValueError):
            tally.n_unspelled += 1
        yield tally


class RoleTransferTally:
    """Hits of all heads of cross-attention, while pairs of sentences go by."""

    def __init__(self) -> None:
        self.n_sentences = self.n_unspelled = 0
        self._hits: dict[str, list[Tensor]] = defaultdict(list)
        self._words: dict[str, list[int]] = defaultdict(list)
        self._offsets: dict[str, list[Tensor]] = defaultdict(list)
        self._chance: dict[str, list[float]] = defaultdict(list)

    def add(self, source: Tree, target: Tree, attentions: object) -> None:
        """Take a pair into account. Raises ValueError where pieces do not spell the words."""
        cross: Attention = attentions["cross"]  # type: ignore[index]
        rows = written_words(cross.produced or cross.queries, target)
        columns = written_words(cross.keys, source)
        weights = torch.stack([cross.weights(layer) for layer in range(cross.n_layers)])
        row_of, key_of = _member(rows, target), _member(columns, source)
        means = row_of / row_of.sum(-1, keepdim=True).clamp_min(1)
        largest = (means @ weights @ key_of.mT).argmax(-1)  # [L, H, words of the target]
        self.n_sentences += 1
        n_target, n_source = len(target.words), len(source.words)
        for name in {*target.relations} & {*source.relations} - {"punct"}:
            places = [at for at in range(n_target) if _has(target, at, name, row_of)]
            if not places:
                continue
            holds = torch.tensor([_has(source, at, name, key_of) for at in range(n_source)])
            if not holds.any():
                continue
            self._words[name].append(len(places))
            self._hits[name].append(holds[largest[..., places]].sum(-1))
            self._offsets[name].append(_by_offsets(places, holds, n_target))
            self._chance[name].append(float(holds.float().mean()) * len(places))

    def result(self) -> Transfers:
        """Summarise what was read. Raises InputError where that is nothing."""
        if not self.n_sentences:
            raise InputError("No pair of sentences has pieces that spell the words of its trees.")
        names = sorted(self._words, key=lambda name: (-sum(self._words[name]), name))
        relations = [
            self._of(name) for name in names if sum(self._words[name]) >= ROLE_TRANSFER_LEAST
        ]
        return Transfers(tuple(relations), self.n_sentences, self.n_unspelled)

    def _of(self, name: str) -> Transfer:
        sizes = torch.tensor(self._words[name])
        hits = torch.stack(self._hits[name])  # [S, L, H]
        of = interval((hits / sizes[:, None, None]).flatten(1), sizes)
        n_words = int(sizes.sum())
        by_offset = torch.stack(self._offsets[name]).sum(0) / n_words
        best = max(range(len(by_offset)), key=lambda at: (float(by_offset[at]), -abs(at - SPAN)))
        rates, low, high = (each.view(hits.shape[1:]) for each in (of.mean, of.low, of.high))
        return Transfer(
            relation=name,
            n_words=n_words,
            n_sentences=len(sizes),
            rates=rates,
            low=low,
            high=high,
            offset=best - SPAN,
            by_offset=float(by_offset[best]),
            by_chance=sum(self._chance[name]) / n_words,
        )


def written_words(tokens: Sequence[Token], tree: Tree) -> list[int | None]:
    """Find the word of the tree that each token belongs to.

    None: it is special, or belongs to several words that are written as one, as in "am". Raises
    ValueError where the pieces do not spell the text.
    """
    written = tree.written
    places = words_of_pieces(tokens, [text for text, _ in written])
    return [None if place is None else written[place][1] for place in places]


def _member(places: Iterable[int | None], tree: Tree) -> Tensor:
    """[words, tokens]: 1 where a token is of a word."""
    places = list(places)
    member = torch.zeros(len(tree.words), len(places))
    for at, word in enumerate(places):
        if word is not None:
            member[word, at] = 1.0
    return member


def _has(tree: Tree, at: int, name: str, member: Tensor) -> bool:
    """Tell whether a word has a relation, and a token of its own."""
    return tree.relations[at] == name and bool(member[at].any())


def _by_offsets(places: Sequence[int], holds: Tensor, n_target: int) -> Tensor:
    """Hits of each offset from the diagonal: [2 * SPAN + 1]."""
    n_source = len(holds)
    diagonal = [round((place + 0.5) * n_source / n_target - 0.5) for place in places]
    return torch.tensor(
        [
            sum(bool(holds[at + offset]) for at in diagonal if 0 <= at + offset < n_source)
            for offset in range(-SPAN, SPAN + 1)
        ]
    ).float()
