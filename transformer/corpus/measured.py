"""The heads of one kind over one sentence, each as a line of numbers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from transformer.analysis.metrics.metric import Metric
from transformer.analysis.metrics.metrics import metrics_for
from transformer.corpus.batches import BatchAttention, Tokens
from transformer.corpus.roles.role import Role, Sides
from transformer.corpus.trees import Hits, Tree, hits, places_of, spelled
from transformer.discover import discover
from transformer.words import characters

# Pieces of a text in one line, a space between; a space within a piece is written `\s`.
#
# A model of characters has the space itself as a piece.


def joined(pieces: Iterable[str]) -> str:
    r"""Write pieces in one line.

    >>> joined(["a", " ", "b"])
    'a \\s b'
    """
    return " ".join(piece.replace("\\", "\\\\").replace(" ", "\\s") for piece in pieces)


def split(line: str) -> list[str]:
    r"""Read the pieces of such a line.

    >>> split("a \\s b")
    ['a', ' ', 'b']
    """
    return [re.sub(r"\\(.)", _read, piece, flags=re.DOTALL) for piece in line.split(" ")]


def _read(escape: re.Match[str]) -> str:
    return " " if escape[1] == "s" else escape[1]


# The heads of one kind over one sentence, each as a line of numbers.

SPAN = 8
N_OFFSETS = 2 * SPAN + 1
"""Bins of a footprint: key minus query from -8 to 8 places, the outer ones with what is beyond."""
N_PLACES = 9
"""Bins of cross-attention: the key's place in its text minus the query's, from -1 to 1."""

MOST_CELLS = 1 << 22
"""Cells that are measured at a time, where one layer has no more: 16 MiB of weights."""

Floats = NDArray[np.float32]


def metrics() -> dict[str, Metric]:
    """Name -> metric, all of them."""
    return discover("transformer.analysis.metrics", "METRIC")


def roles() -> dict[str, Role]:
    """Name -> role, all of them."""
    return discover("transformer.corpus.roles", "ROLE")


CHANCE, ABOVE = "_chance", "_above"
"""Endings of columns: a role's score by chance, and the share of the rest that a head gains."""


@cache
def with_chance() -> tuple[str, ...]:
    """Name the numbers that are roles: what chance gives stands beside them."""
    return (*(name for name, metric in metrics().items() if metric.is_role), *roles())


@cache
def columns() -> tuple[str, ...]:
    """Name the numbers of a line: metrics, roles, and how each role stands to chance."""
    endings = (CHANCE, ABOVE)
    return (*metrics(), *roles(), *(f"{name}{end}" for end in endings for name in with_chance()))


@dataclass(frozen=True, eq=False)
class SentenceHeads:
    """The heads of one kind of attention, N = L * H of them, over one sentence."""

    sentence: int
    """Its line in the file, from 1."""
    kind: str
    n_layers: int
    queries: str
    """The pieces along the rows, as `transformer.corpus.measured` writes them."""
    keys: str
    """The same of the columns."""
    names: str
    """The same of what names the rows: `queries`, or in cross-attention what was written."""
    numbers: Floats
    """[N, M], by `columns`; not a number where one says nothing of this kind or sentence."""
    footprint: Floats
    """[N, N_OFFSETS], shares of the weight; of cross-attention the first N_PLACES."""
    peaks: Floats
    """The largest weight of each row [N, Q]; not a number where only one key may be looked at."""
    peak_keys: NDArray[np.int32]
    """The key that has it [N, Q]."""
    arcs: str = ""
    """The arcs of its tree, as `transformer.corpus.trees.spelled` has them; empty: none is told."""
    arc_hits: Hits = field(default_factory=lambda: np.zeros((0, 0), np.uint8))
    """[N, A], of each arc whether a head looks along it; see `hits` there."""

    @property
    def n_heads(self) -> int:
        """The heads of a layer."""
        return len(self.numbers) // self.n_layers


def measured(
    attention: BatchAttention,
    sentences: Sequence[int],
    counts: Mapping[int, int] | None = None,
    trees: Mapping[int, Tree] | None = None,
) -> Iterator[SentenceHeads]:
    """One kind of attention in a batch: a text each.

    counts: token of a source -> how often; trees: number of a sentence -> its tree.
    """
    cells, bins = _cells(attention, counts), _bins(attention)
    n_layers = len(attention.calls)
    # A few layers at a time: small products cost their calls, large ones their memory.
    n_cells = attention.n_heads * len(sentences) * bins.shape[-2:].numel()
    together = max(1, MOST_CELLS // n_cells) * attention.n_heads
    parts, order = [], list[int]()
    for allowed, heads in attention.masks:
        open_cells = {name: each & allowed for name, each in cells.items()}
        for first in range(0, len(heads), together):
            some = heads[first : first + together]
            parts.append(_heads(attention, some, allowed, open_cells, bins))
            order += some
    in_order = torch.tensor(order).argsort()
    numbers, footprint, peaks, keys = (
        torch.cat(each, 1)[:, in_order] for each in zip(*parts, strict=True)
    )
    arcs_of_texts = _arcs(attention, [(trees or {}).get(sentence) for sentence in sentences])
    for text, sentence in enumerate(sentences):
        n_queries = len(attention.queries[text])
        arcs, arc_hits = next(arcs_of_texts)
        yield SentenceHeads(
            sentence=sentence,
            kind=attention.kind,
            n_layers=n_layers,
            queries=joined(token.piece for token in attention.queries[text]),
            keys=joined(token.piece for token in attention.keys[text]),
            names=joined(token.piece for token in attention.names[text]),
            numbers=numbers[text].numpy(),
            footprint=footprint[text].numpy(),
            peaks=peaks[text, :, :n_queries].numpy(),
            peak_keys=keys[text, :, :n_queries].int().numpy(),
            arcs=arcs,
            arc_hits=arc_hits,
        )


def _arcs(attention: BatchAttention, trees: Sequence[Tree | None]) -> Iterator[tuple[str, Hits]]:
    """Each text's arcs, and which heads look along them; none where that is not told."""
    weights: Tensor | None = None
    for text, tree in enumerate(trees):
        tokens = attention.keys[text][: int(attention.n_words[text])]
        is_told = attention.is_same and attention.has_source_keys
        places = places_of(tree, tokens) if tree is not None and is_told else None
        if tree is None or places is None:
            yield "", np.zeros((attention.n_heads * len(attention.calls), 0), np.uint8)
            continue
        n_heads, n = attention.n_heads * len(attention.calls), len(tokens)
        weights = _weights(attention, range(n_heads)) if weights is None else weights
        result = np.zeros((n_heads, len(tree.arcs)), np.uint8)
        for allowed, heads in attention.masks:
            some = weights[text, list(heads), :n, :n]
            result[list(heads)] = hits(tree, some, places, allowed[text, :n, :n])
        yield spelled(tree), result


def _weights(attention: BatchAttention, heads: Sequence[int]) -> Tensor:
    """Weights of heads of several layers: [B, H, Q, K]."""
    of_layers: dict[int, list[int]] = {}
    for head in heads:
        of_layers.setdefault(head // attention.n_heads, []).append(head % attention.n_heads)
    return torch.cat([attention.weights(layer)[:, some] for layer, some in of_layers.items()], 1)


def _heads(
    attention: BatchAttention,
    heads: Sequence[int],
    allowed: Tensor,
    cells: Mapping[str, Tensor],
    bins: Tensor,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Numbers [B, H, M], footprint [B, H, N_OFFSETS], peaks and their keys [B, H, Q].

    heads: their numbers over all layers. allowed: the cells that no mask of theirs closes; cells:
    role -> those of them that it looks at.
    """
    weights = _weights(attention, heads)
    n_texts, n_heads = weights.shape[:2]
    flat, n_words = weights.flatten(0, 1), attention.n_words.repeat_interleave(n_heads)
    alike = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)  # [B, Q, K]
    values = weights.new_full((n_texts, n_heads, len(columns())), torch.nan)
    at = {name: m for m, name in enumerate(columns())}
    metrics_there = metrics_for(attention.is_same, attention.is_cross, attention.n_added)
    for name, metric in metrics_there.items():
        values[..., at[name]] = metric.padded(flat, n_words).view(n_texts, n_heads)
        if metric.is_role:
            values[..., at[name + CHANCE]] = metric.padded(alike, attention.n_words)[:, None]
    for name, of in cells.items():
        values[..., at[name]] = roles()[name].score(weights, of)
        values[..., at[name + CHANCE]] = roles()[name].chance(allowed, of)[:, None]
    for name in with_chance():
        chance = values[..., at[name + CHANCE]]
        gain = (values[..., at[name]] - chance) / (1 - chance)
        values[..., at[name + ABOVE]] = gain.where(chance < NO_CHOICE, torch.nan)
    placed = weights
    if attention.n_added:  # a key that is no word has no place
        keys = torch.arange(weights.size(-1))
        placed = weights.masked_fill(keys >= attention.n_words[:, None, None, None], 0.0)
    shares = _shares(placed, bins) / attention.n_queries[:, None, None]
    peaks, keys = weights.max(-1)
    has_choice = allowed.sum(-1) > 1
    return values, shares, peaks.masked_fill(~has_choice[:, None], torch.nan), keys


NO_CHOICE = 0.999
"""A score by chance above which there is hardly anything to gain."""


def _cells(attention: BatchAttention, counts: Mapping[int, int] | None) -> dict[str, Tensor]:
    """Role -> bool [B, Q, K], the cells that it looks at where no mask closes them."""
    of_keys = [[token.id for token in each] for each in attention.keys]
    pieces = dict[str, int]() if attention.is_cross else None
    queries, keys, names = (
        _padded([_ids(each, pieces) for each in side], -1)
        for side in (attention.queries, attention.keys, attention.names)
    )
    sides = Sides(
        queries=queries,
        keys=keys,
        names=names,
        words=_padded([_are_words(each) for each in attention.keys], 0) > 0,
        is_cross=attention.is_cross,
        special=_padded([[int(token.special) for token in each] for each in attention.keys], 0) > 0,
        n_keys=attention.n_words,
        counts=None
        if counts is None or not attention.has_source_keys
        else _padded([[counts.get(id, 0) for id in ids] for ids in of_keys], 0),
        is_same=attention.is_same,
    )
    result = {name: role.cells(sides) for name, role in roles().items()}
    return {name: each for name, each in result.items() if each is not None}


def _ids(tokens: Tokens, pieces: dict[str, int] | None) -> list[int]:
    """Ids of tokens, as `Sides` has them. pieces: numbers of those met before; None: ids are so."""
    return [
        -2 - at
        if token.unknown
        else token.id
        if pieces is None
        else pieces.setdefault(token.piece, len(pieces))
        for at, token in enumerate(tokens)
    ]


def _are_words(tokens: Tokens) -> list[int]:
    """Tell of each token whether it has a letter or a digit."""
    texts = zip(tokens, characters(tokens), strict=True)
    return [
        not (token.special or token.unknown) and any(map(str.isalnum, text))
        for token, text in texts
    ]


def _padded(rows: Sequence[Sequence[int]], with_: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[with_] * (longest - len(row))] for row in rows])


def _bins(attention: BatchAttention) -> Tensor:
    """The bin of each cell: [Q, K], or of cross-attention [B, Q, K]."""
    queries, keys = attention.is_query.size(1), attention.is_key.size(1)
    if not attention.is_cross:
        offsets = torch.arange(keys)[None] - torch.arange(queries)[:, None]
        return offsets.clamp(-SPAN, SPAN) + SPAN
    rows = (torch.arange(queries) + 0.5)[None] / attention.n_queries[:, None]  # [B, Q]
    columns = (torch.arange(keys) + 0.5)[None] / attention.n_words[:, None]  # [B, K]
    apart = (columns[:, None] - rows[:, :, None]).clamp(-1, 1)
    return ((apart + 1) / 2 * (N_PLACES - 1)).round().long()


def _shares(weights: Tensor, bins: Tensor) -> Tensor:
    """Weight in each bin: [B, H, Q, K] -> [B, H, N_OFFSETS], not a number in bins that none has."""
    if bins.dim() == 2:
        hot = F.one_hot(bins.flatten(), N_OFFSETS).to(weights)  # [Q * K, N]
        return weights.flatten(2) @ hot
    hot = F.one_hot(bins.flatten(1), N_PLACES).to(weights)  # [B, Q * K, N]
    return F.pad(weights.flatten(2) @ hot, (0, N_OFFSETS - N_PLACES), value=torch.nan)
