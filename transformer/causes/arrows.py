"""Every arrow of one written token cut, each by itself and exactly, or forecast by one backward
pass.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn

from transformer.analysis.scored import ROWS, Output, judged, scored
from transformer.checkpoint import Checkpoint
from transformer.decoding.shared_batch import OnStep, in_steps
from transformer.editing.editor import within
from transformer.editing.ours import Editing, editing
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError, source_ids, target_ids
from transformer.models.family import Ids
from transformer.recording import AttentionCall, Recording
from transformer.recording.ours import record
from transformer.token import Token
from transformer.watch.capture.operators import as_written

# Every arrow of one written token cut, each by itself and exactly, in passes of its row.
#
# Only the row that writes it is carried up: what stands before it is read once and kept. A batch
# begins as that row, and before each layer a copy joins for each of the layer's arrows, whose
# head then shares out the weight of that key among the others: softmax without it. Arrows of
# several layers share a batch, up to ROWS of them.

MOST_RUNS = 2000
"""Runs under edits, at most: each arrow that is cut needs one of its own. A small translator's,
of 40 tokens on each side, take half a minute on one core."""

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
    on_step: OnStep | None = None,
) -> Arrows:
    """Cut every arrow of the row that writes the target's token number `step`.

    A model of ours, without edits in force, does so in passes of the row; with edits all runs
    are whole, MOST_RUNS at most. on_step: called before each batch. Raises InputError, also for
    any other model, whose cells `scored` tries one by one.
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
    tokens = [*map(checkpoint.tokenizer.token, targets[: step + 1])]
    made = within(checkpoint, text, tokens, made)  # later rows do not change this one
    run = _by_runs if made else _by_row
    return run(checkpoint, text, sources, targets[: step + 1], made, on_step)


def _by_row(
    checkpoint: Checkpoint,
    text: str,
    sources: Ids,
    targets: Ids,
    edits: Sequence[Edit],
    on_step: OnStep | None,
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
        n_keys = {"decoder_self": query + 1} | ({} if family.continues else {"cross": len(sources)})
        costs = {
            (kind, layer): torch.zeros(_n_heads(checkpoint), n, dtype=torch.float64)
            for layer in range(len(state.caches))
            for kind, n in n_keys.items()
        }
        parts = _parts({place: each.numel() for place, each in costs.items()})
        for part in in_steps(parts, on_step):
            cutting = _Cutting(part)
            with editing(model, family, cutting):
                states = model.read(replace(state), read[:, -1:])
            log_probs = judged(checkpoint, states, [[targets[-1]]])[0][0, :, 0].double()
            for place, some in part.items():
                lost = log_probs[0] - log_probs[cutting.first[place] :][: len(some)]
                lost[cutting.refused[place]] = torch.nan
                costs[place].view(-1)[some.start : some.stop] = lost
    return Arrows(len(targets) - 1, query, float(log_probs[0]), costs)


def _parts(sizes: Mapping[Place, int]) -> Iterator[dict[Place, range]]:
    """Deal out the arrows of places, in order, ROWS at most at a time."""
    part: dict[Place, range] = {}
    room = ROWS
    for place, size in sizes.items():
        first = 0
        while first < size:
            part[place] = range(first, min(size, first + room))
            room -= len(part[place])
            first = part[place].stop
            if not room:
                yield part
                part, room = {}, ROWS
    if part:
        yield part


class _Cutting(Editing):
    """A batch of one row that grows by a copy for each arrow of a layer, and cuts that arrow."""

    def __init__(self, arrows: Mapping[Place, range]) -> None:
        """arrows: of each place the numbers of its arrows, counted head by head, key by key."""
        super().__init__(())
        self._arrows = arrows
        self.first: dict[Place, int] = {}
        """The first row of a place's arrows."""
        self.refused: dict[Place, Tensor] = {}
        """The arrows [n], bool, among those of a place, of queries that see nothing else."""

    def joined(self, layer: int, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        x, mask, cache, *others = inputs
        n = len(x)
        for place, some in self._arrows.items():
            if place[1] == layer:
                self.first[place] = n
                n += len(some)
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
        some = self._arrows.get((kind, layer))
        if some is None:
            return
        scores = (q[0].float() @ k[0].float().mT)[:, 0] * scale  # [H, K]
        if mask is not None:
            scores = scores.masked_fill(~mask[0, :, 0], -torch.inf)
        numbers = torch.arange(some.start, some.stop, device=scores.device)
        head, key = numbers // scores.size(1), numbers % scores.size(1)
        without = scores[head].scatter(1, key[:, None], -torch.inf)  # [n, K]
        alone = ~without.isfinite().any(-1)
        z = (without.softmax(-1)[:, None] @ v[0].float()[head])[:, 0]  # [n, d_value]
        first = self.first[kind, layer]
        rows = torch.arange(first, first + len(some), device=heads.device)
        heads[rows, head, 0] = torch.where(alone[:, None], heads[0, head, 0], z.to(heads.dtype))
        self.refused[kind, layer] = alone.cpu()


def _expanded(keys_values: Any, n: int) -> Any:
    return keys_values and tuple(each[:1].expand(n, -1, -1, -1) for each in keys_values)


def _by_runs(
    checkpoint: Checkpoint,
    text: str,
    sources: Ids,
    targets: Ids,
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> Arrows:
    """The same with edits in force: a whole run for each arrow, in batches.

    Raises InputError where these are too many, EditError.
    """
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
    if len(cuts) > MOST_RUNS:
        raise InputError(
            f"Under edits the model runs once for each arrow that is cut: these are {len(cuts)} "
            f"runs, and at most {MOST_RUNS} are made. Shorten the text, or take the edits back."
        )
    groups = [edits, *((*edits, cut) for cut in cuts)]
    parts = scored(checkpoint, Output(text, tokens, tokens), groups, on_step=on_step)
    log_probs = torch.cat([part.log_probs for part in parts])[:, -1].double()
    for cut, after in zip(cuts, log_probs[1:], strict=True):
        costs[cut.place, cut.layer][cut.head, cut.key] = log_probs[0] - after
    return Arrows(len(targets) - 1, query, float(log_probs[0]), costs)


def _read(checkpoint: Checkpoint, sources: Ids, targets: Ids) -> Ids:
    return checkpoint.family.forced_pass(checkpoint.config, sources, targets).inputs[-1]


def _n_heads(checkpoint: Checkpoint) -> int:
    config: Any = checkpoint.config
    n_heads: int = config.n_heads
    return n_heads


# Every arrow of one written token forecast by one backward pass, where no row can be run alone.
#
# A cut arrow's weight is shared out among the others, so that what its head gives becomes (z - a
# v) / (1 - a). The gradient of the token's log-probability at z says what that does to it, as far
# as it is linear. It holds well for small weights, and badly near 1: then cut the arrow.


@dataclass(frozen=True, eq=False)
class Forecast(Arrows):
    """Costs of arrows to the first order; NaN where a query looks at one key alone."""

    error: float = 0.0
    """The largest distance from 0 of the sum over a row of (1 - a) times its forecasts: 0 wherever
    weights and values are those that the model has used."""


@dataclass
class _Tap:
    """A joint of a model between the heads of a layer and W_O, in one pass."""

    place: Place
    query: int
    leaf: Tensor
    """[H * d_value], zeros: what is added to the row of the query, for its gradient."""
    heads: Tensor | None = None
    """[H * d_value], what the heads gave there; None: it was not met."""

    def join(self, x: Tensor) -> Tensor:
        """The input of W_O [..., Q, H * d_value] with the leaf in its row."""
        rows = x.reshape(-1, self.leaf.numel())
        self.heads = rows[self.query].detach().float()
        added = torch.zeros_like(rows)
        added[self.query] = self.leaf.to(rows.dtype)
        return (rows + added).view_as(x)


@dataclass
class _Taps:
    """The joints of a module that projects heads, in the order of its calls in this thread: others
    run the same model, and know nothing of them."""

    thread: int = field(default_factory=get_ident)
    taps: list[_Tap] = field(default_factory=list)
    n_calls: int = 0

    def hook(self, module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if get_ident() != self.thread:
            return None
        n, self.n_calls = self.n_calls, self.n_calls + 1
        return (self.taps[n].join(inputs[0]), *inputs[1:]) if n < len(self.taps) else None


def forecast(
    checkpoint: Checkpoint, text: str, target: str | Sequence[Token], step: int
) -> Forecast:
    """Forecast what each arrow of the row takes that writes the target's token number `step`.

    Raises InputError where a model writes nothing, or where the matrix that joins its heads is
    not one of a module that takes them as they are.
    """
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: there is no word to ask for.")
    sources = source_ids(checkpoint, text)
    targets = target_ids(checkpoint, target, len(sources)) or []
    if not 0 <= step < len(targets):
        raise InputError(f"There is no step {step}: the target has {len(targets)}, from 0.")
    recording = record(checkpoint, text, target)
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    query = len(forced.inputs[-1]) - len(targets) + step
    calls = _calls(checkpoint, recording, query)
    taps = {place: _tap(place, query, call) for place, call in calls.items()}
    rows = [torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs]
    with torch.inference_mode(False), torch.enable_grad():
        with _tapped(checkpoint, calls, taps):
            logits = _logits(checkpoint, rows)[-len(targets) :][step]
        log_prob = logits.float().log_softmax(-1)[targets[step]]
        leaves = [tap.leaf for tap in taps.values()]
        slopes = torch.autograd.grad(log_prob, leaves, allow_unused=True)
    costs, errors = {}, [0.0]
    for (place, tap), slope in zip(taps.items(), slopes, strict=True):
        if tap.heads is None:
            raise InputError(_NOT_MET.format(name=checkpoint.name))
        slope = torch.zeros_like(tap.leaf) if slope is None else slope
        own, error = _costs(calls[place], query, tap.heads, slope)
        costs[place] = own if place[0] == "cross" else own[:, : query + 1]  # what is there already
        errors.append(error)
    return Forecast(step, query, float(log_prob.detach()), costs, max(errors))


_NOT_MET = (
    "{name} joins its heads where no gradient can be asked for: its arrows have no forecast. Cut "
    "them one by one."
)


def _calls(checkpoint: Checkpoint, recording: Recording, query: int) -> dict[Place, AttentionCall]:
    kinds = [kind for kind in recording.attentions if kind != "encoder_self"]
    calls = {
        (kind, layer): call
        for kind in kinds
        for layer, call in enumerate(recording.attentions[kind].calls)
        if call.q.size(1) > query
    }
    if not calls or any(call.projection is None or not call.v.size(-1) for call in calls.values()):
        raise InputError(_NOT_MET.format(name=checkpoint.name))
    return calls


def _tap(place: Place, query: int, call: AttentionCall) -> _Tap:
    leaf = torch.zeros(call.n_heads * call.v.size(-1), device=call.v.device)
    return _Tap(place, query, leaf.requires_grad_())


@contextmanager
def _tapped(
    checkpoint: Checkpoint, calls: Mapping[Place, AttentionCall], taps: Mapping[Place, _Tap]
) -> Iterator[None]:
    """Hooks before the modules whose weights are the matrices W_O of these calls.

    A model may use one module for several layers, in their order.
    """
    model: Any = checkpoint.model
    modules = {
        weight.data_ptr(): module
        for module in model.modules()
        if isinstance(weight := getattr(module, "weight", None), Tensor) and weight.dim() == 2
    }
    hooks: dict[nn.Module, _Taps] = {}
    for place, call in calls.items():
        assert call.projection is not None
        module = modules.get(call.projection.data_ptr())
        if module is None:
            raise InputError(_NOT_MET.format(name=checkpoint.name))
        hooks.setdefault(module, _Taps()).taps.append(taps[place])
    handles = [module.register_forward_pre_hook(each.hook) for module, each in hooks.items()]
    try:
        with as_written():
            yield
    finally:
        for handle in handles:
            handle.remove()


def _logits(checkpoint: Checkpoint, rows: Sequence[Tensor]) -> Tensor:
    """[T, V]. Raises InputError for a model that keeps tensors without gradients."""
    model: Any = checkpoint.model
    try:
        logits: Tensor = model(*rows)[0]
    except RuntimeError as error:
        if "nference tensor" not in str(error):
            raise
        raise InputError(_NOT_MET.format(name=checkpoint.name)) from error
    if not logits.requires_grad:
        raise InputError(_NOT_MET.format(name=checkpoint.name))
    return logits


def _costs(call: AttentionCall, query: int, heads: Tensor, slope: Tensor) -> tuple[Tensor, float]:
    """Costs of cutting each arrow [H, K] in float64; and how far from 0 the rows' sums are."""
    row = call.at(torch.tensor([query], device=call.q.device))
    weights, is_open = row.weights()[:, 0].double().cpu(), row.allowed()[:, 0].cpu()
    n_heads = call.n_heads
    v = call.v.double().cpu().repeat_interleave(n_heads // call.v.size(0), 0)  # [H, K, d_value]
    z, g = (each.double().cpu().view(n_heads, -1) for each in (heads, slope))
    lost = weights * ((v @ g[..., None])[..., 0] - (z * g).sum(-1, keepdim=True))
    rest = 1 - weights
    costs = torch.where((rest > 0) & is_open, lost / rest, torch.nan)
    return costs, float(lost.sum(-1).abs().max())
