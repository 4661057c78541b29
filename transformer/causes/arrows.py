"""Every arrow of one written token cut, each by itself and exactly, in one pass of its row.

Only the row that writes it is carried up: what stands before it is read once and kept. The batch
begins as that row, and before each layer a copy joins for each of the layer's arrows, whose head
then shares out the weight of that key among the others: softmax without it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.outputs.output import Output
from transformer.analysis.scored import judged, scored
from transformer.checkpoint import Checkpoint
from transformer.editing.ours import Editing, editing
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError, source_ids, target_ids
from transformer.models.family import Ids
from transformer.token import Token

Place = tuple[str, int]
"""Kind of attention and layer."""


@dataclass(frozen=True, eq=False)
class Arrows:
    """The worth of each arrow of the row that writes one token to that token."""

    step: int
    """The number of the token in the target."""
    query: int
    """The number of its row."""
    log_prob: float
    """In nats, with every arrow in its place."""
    costs: dict[Place, Tensor]
    """Kind and layer -> what cutting the arrow takes from it [H, K]; NaN where the query sees no
    other key. A cut that costs nothing does not say that the arrow did not matter: keys of like
    values stand in for each other."""

    def strongest(self, n: int = 5) -> list[tuple[float, Edit]]:
        """The n arrows that cost most, with the edits that cut them."""
        pairs = [
            (float(cost), Edit("cut", kind, (layer, head, self.query, key)))
            for (kind, layer), costs in self.costs.items()
            for head, row in enumerate(costs.tolist())
            for key, cost in enumerate(row)
            if cost == cost
        ]
        return sorted(pairs, key=lambda pair: -pair[0])[:n]


def arrows(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token],
    step: int,
    edits: Iterable[Edit | str] = (),
) -> Arrows:
    """Cut every arrow of the row that writes the target's token number `step`.

    A model of ours, without edits in force, does so in one pass of the row; with edits all runs
    are whole. Raises InputError for any other model, whose cells `scored` tries one by one.
    """
    made = edits_of(edits)
    if checkpoint.family.is_watched or not checkpoint.family.decodes:
        raise InputError(
            f"{checkpoint.name} is not a decoder of ours: its rows are not run by themselves."
        )
    sources = source_ids(checkpoint, text)
    targets = target_ids(checkpoint, target, len(sources)) or []
    if not 0 <= step < len(targets):
        raise InputError(f"There is no step {step}: the target has {len(targets)}, from 0.")
    run = _by_runs if made else _by_row
    return run(checkpoint, text, sources, targets[: step + 1], made)


def _by_row(
    checkpoint: Checkpoint, text: str, sources: Ids, targets: Ids, edits: Sequence[Edit]
) -> Arrows:
    model: Any = checkpoint.model
    family = checkpoint.family
    read = torch.tensor([_read(checkpoint, sources, targets)], device=checkpoint.device)
    query = read.size(1) - 1
    with torch.inference_mode():
        source = torch.tensor([sources], device=checkpoint.device)
        state = model.nothing_read() if family.continues else model.start(source)
        if query:
            model.read(state, read[:, :-1])
        cutting = _Cutting(query, 0 if family.continues else len(sources), _n_heads(checkpoint))
        with editing(model, family, cutting):
            states = model.read(state, read[:, -1:])
    log_probs = judged(checkpoint, states, [[targets[-1]]])[0][0, :, 0].double()
    costs = log_probs[0] - log_probs
    for place, rows in cutting.refused.items():
        costs[[cutting.first[place] + row for row in rows]] = torch.nan
    result = {
        place: costs[first : first + n].unflatten(0, (_n_heads(checkpoint), -1))
        for place, (first, n) in cutting.places().items()
    }
    return Arrows(len(targets) - 1, query, float(log_probs[0]), result)


class _Cutting(Editing):
    """A batch of one row that grows by a copy for each arrow of a layer, and cuts that arrow."""

    def __init__(self, query: int, n_source: int, n_heads: int) -> None:
        super().__init__(())
        self._n_keys = {"decoder_self": query + 1} | ({"cross": n_source} if n_source else {})
        self._n_heads = n_heads
        self.first: dict[Place, int] = {}
        """The first row of a layer's arrows: a row for each head and key."""
        self.refused: dict[Place, list[int]] = {}
        """The arrows, among those of a place, of queries that see nothing else."""

    def places(self) -> dict[Place, tuple[int, int]]:
        """Place -> its first row and the number of its arrows."""
        sizes = {kind: self._n_heads * n for kind, n in self._n_keys.items()}
        return {(kind, layer): (at, sizes[kind]) for (kind, layer), at in self.first.items()}

    def joined(self, layer: int, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, mask, cache, *others = inputs
        n = len(x)
        for kind, n_keys in self._n_keys.items():
            self.first[kind, layer] = n
            n += self._n_heads * n_keys
        x = torch.cat([x, x[:1].expand(n - len(x), -1, -1)])
        own, cross = (_expanded(each, n) for each in (cache.own, cache.cross))
        return (x, mask, replace(cache, own=own, cross=cross), *others)

    def attended(
        self,
        kind: str,
        layer: int,
        scale: float,
        heads: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        is_causal: bool,
    ) -> None:
        """The rows of this layer's arrows are those of the first row without one key each."""
        scores = (q[0].float() @ k[0].float().mT)[:, 0] * scale  # [H, K]
        if mask is not None:
            scores = scores.masked_fill(~mask[0, :, 0], -torch.inf)
        n_heads, n_keys = scores.shape
        without = scores[:, None].repeat(1, n_keys, 1)
        without.diagonal(dim1=1, dim2=2).fill_(-torch.inf)
        alone = ~without.isfinite().any(-1)  # [H, K]
        z = without.softmax(-1) @ v[0].float()  # [H, K, d_value]
        at = self.first[kind, layer]
        rows = heads[at : at + n_heads * n_keys].unflatten(0, (n_heads, n_keys))
        every = torch.arange(n_heads, device=heads.device)
        rows[every, :, every, 0] = torch.where(alone[..., None], heads[0, :, :1], z.to(heads.dtype))
        self.refused[kind, layer] = alone.flatten().nonzero()[:, 0].tolist()


def _expanded(keys_values: Any, n: int) -> Any:
    return keys_values and tuple(each[:1].expand(n, -1, -1, -1) for each in keys_values)


def _by_runs(
    checkpoint: Checkpoint, text: str, sources: Ids, targets: Ids, edits: Sequence[Edit]
) -> Arrows:
    """The same with edits in force: a whole run for each arrow, in batches. Raises EditError."""
    query, n_heads = len(_read(checkpoint, sources, targets)) - 1, _n_heads(checkpoint)
    tokens = tuple(map(checkpoint.tokenizer.token, targets))
    sizes = {"decoder_self": query + 1, "cross": len(sources)}
    config: Any = checkpoint.config
    costs = {
        (kind, layer): torch.full((n_heads, sizes[kind]), torch.nan, dtype=torch.float64)
        for layer in range(config.n_decoder_layers)
        for kind in sizes
        if kind in checkpoint.family.attentions
    }
    cuts = [
        Edit("cut", kind, (layer, head, query, key))
        for kind, layer in costs
        for head in range(n_heads)
        for key in range(sizes[kind])
        if sizes[kind] > 1
    ]
    groups = [edits, *((*edits, cut) for cut in cuts)]
    parts = [part.log_probs for part in scored(checkpoint, Output(text, tokens, tokens), groups)]
    log_probs = torch.cat(parts)[:, -1].double()
    for cut, after in zip(cuts, log_probs[1:], strict=True):
        costs[cut.place, cut.layer][cut.head, cut.key] = log_probs[0] - after
    return Arrows(len(targets) - 1, query, float(log_probs[0]), costs)


def _read(checkpoint: Checkpoint, sources: Ids, targets: Ids) -> Ids:
    return checkpoint.family.forced_pass(checkpoint.config, sources, targets).inputs[-1]


def _n_heads(checkpoint: Checkpoint) -> int:
    config: Any = checkpoint.config
    n_heads: int = config.n_heads
    return n_heads
