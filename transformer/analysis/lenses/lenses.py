"""The lenses: what a map of attention can show. Each is declared in LENS."""

from weakref import WeakKeyDictionary

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.recording import Attention, AttentionCall, Recording
from transformer.recording.calls import NO_VALUES, ONLY_WEIGHTS

# The attention weight itself (AIAYN, section 3.2.1).


def weight(recording: Recording, kind: str, layer: int) -> Tensor:
    """[H, Q, K]; every row sums to 1."""
    return recording.attentions[kind].weights(layer)


WEIGHT_LENS = Lens(
    name="weight",
    title="Weight",
    formula=r"A = \mathrm{softmax}(q k^\top \cdot \text{scale} + \text{mask})",
    explain=(
        "How much of its attention a query gives to a key: each row sums to 1, masked cells are 0. "
        "Residual and normalisation are ignored."
    ),
    source="Vaswani et al. 2017, section 3.2.1",
    scale="share",
    compute=weight,
    is_weights=True,
)


# The score before mask and softmax (AIAYN, section 3.2.1).


def score(recording: Recording, kind: str, layer: int) -> Tensor:
    """[H, Q, K]; 0 where a mask forbids the cell."""
    call = recording.attentions[kind].calls[layer]
    return call.scores().masked_fill(~call.allowed(), 0.0).cpu()


def _why_not_score(recording: Recording, kind: str) -> str | None:
    if not all(call.knows_scores for call in recording.attentions[kind].calls):
        return ONLY_WEIGHTS
    return None


SCORE_LENS = Lens(
    name="score",
    title="Score",
    formula=r"S = q k^\top \cdot \text{scale}",
    explain=(
        "How well a key fits its query, before the softmax: positive or negative, in nats; "
        "comparable only within a row. Includes the model's own scale and position bias "
        "(relative, ALiBi). Residual and normalisation are ignored; the mask is not applied yet, "
        "but the cells that it closes show 0."
    ),
    source="Vaswani et al. 2017, section 3.2.1",
    scale="signed",
    compute=score,
    merge="max",
    why_not=_why_not_score,
)


# The vectors that each head would add to the residual stream for a weight of 1.


def head_values(call: AttentionCall, head: int, keys: slice = slice(None)) -> Tensor:
    """v_j W_O of one head, for some keys: [K, D] in float32 on the CPU.

    v_j itself if there is no projection. v_j has the bias of the value projection already; the
    bias of W_O belongs to no head.
    """
    one = call.only(head)
    values, output = one.v[0, keys].float().cpu(), one.output
    return values if output is None else values @ output[0].float().cpu()


def why_no_values(recording: Recording, kind: str) -> str | None:
    """The `why_not` of lenses that need v and W_O of every layer."""
    calls = recording.attentions[kind].calls
    if not all(call.v.size(-1) for call in calls):
        return NO_VALUES
    if not all(call.has_output for call in calls):
        return "What projects the heads is not known, so what they add is unknown."
    return None


# The norm of the weighted value: how much a head really adds (Kobayashi et al. 2020).


def value_norm(recording: Recording, kind: str, layer: int) -> Tensor:
    """||A_ij v_j W_O|| of each head: [H, Q, K]. A weight is never below 0: A_ij ||v_j W_O||."""
    attention = recording.attentions[kind]
    call = attention.calls[layer]
    heads = range(attention.n_heads)
    norms = torch.stack([head_values(call, head).norm(dim=-1) for head in heads])  # [H, K]
    return attention.weights(layer) * norms[:, None]


VALUE_NORM_LENS = Lens(
    name="value_norm",
    title="Value-weighted norm",
    formula=r"N_{ij} = \Vert A_{ij} \, v_j W_O \Vert",
    explain=(
        "The length of the vector that a key adds to its query through this head: a large weight "
        "on a small value adds little. The bias of v is included; that of W_O, which belongs to no "
        "key, residual and normalisation are ignored. Masked cells add 0."
    ),
    source="Kobayashi et al. 2020, section 3",
    scale="size",
    compute=value_norm,
    why_not=why_no_values,
)


# The norm of what all heads of a layer add together (Kobayashi et al. 2020).

_KEYS_AT_ONCE = 64


def sum_norm(recording: Recording, kind: str, layer: int) -> Tensor:
    """||sum_h A_ij v_j W_O||: [1, Q, K].

    Squared, it is a_ij G_j a_ij, with a_ij the H weights of a cell and G_j the products of what
    the heads would add of key j: so [H, Q, K, D] is never built. In float64, since heads may
    nearly cancel, and only the difference of large squares would be left.
    """
    attention = recording.attentions[kind]
    weights = attention.weights(layer)
    norms = torch.empty(1, *weights.shape[1:])
    for keys in torch.arange(weights.size(-1)).split(_KEYS_AT_ONCE):
        products = _products(attention.calls[layer], slice(int(keys[0]), int(keys[-1]) + 1))
        shares = weights[:, :, keys].permute(2, 1, 0).double()  # [k, Q, H]
        squares = ((shares @ products) * shares).sum(-1)  # [k, Q]
        norms[0, :, keys] = squares.clamp_min(0).sqrt().mT.float()
    return norms


def _products(call: AttentionCall, keys: slice) -> Tensor:
    """Every head's v_j W_O times every other's, for some keys: [k, H, H] in float64."""
    n_heads = call.n_heads
    if call.output is None:  # each head writes where no other does
        values = call.heads(slice(None)).v[:, keys]
        squares = values.double().cpu().square().sum(-1)  # [H, k]
        return squares.mT.diag_embed()
    added = torch.stack([head_values(call, head, keys) for head in range(n_heads)], 1).double()
    return added @ added.mT  # [k, H, D] -> [k, H, H]


SUM_NORM_LENS = Lens(
    name="sum_norm",
    title="Norm of the sum over heads",
    formula=r"N_{ij} = \Vert \sum_h A^h_{ij} \, v^h_j W_O \Vert",
    explain=(
        "The length of the vector that a key adds to its query through all heads of the layer: "
        "heads that add opposite vectors cancel. The bias of W_O, residual and normalisation are "
        "ignored; masked cells add 0."
    ),
    source="Kobayashi et al. 2020, section 3",
    scale="size",
    compute=sum_norm,
    per_head=False,
    why_not=why_no_values,
)


# The cost of hiding: what each written word loses where nobody sees a word of the source.


def hidden(recording: Recording, kind: str, layer: int) -> Tensor:
    """[1, Q, K] in nats, positive where it is missed; all pieces of two words show what they cost.

    Rows that write nothing show 0.
    """
    assert recording.hidden is not None
    attention, costs = recording.attentions[kind], recording.hidden.float()
    values = torch.zeros(1, len(attention.queries), len(attention.keys))
    first = len(attention.queries) - len(recording.target)
    for row in recording.target_words:
        for column in recording.source_words:
            cells = torch.tensor(row.positions)[:, None] + first, torch.tensor(column.positions)
            values[0][cells] = costs[row.number, column.number]
    return values * attention.allowed(layer).any(0)


def _why_not_hidden(recording: Recording, kind: str) -> str | None:
    if kind != "cross" or not recording.target:
        return "The cost of hiding is of the words of a source: cross-attention shows it."
    if recording.hidden is None:
        return (
            "The cost of hiding is not known here: every word of the source has to be hidden in "
            "turn. Explore does that, and evidence() in Python."
        )
    return None


HIDDEN_LENS = Lens(
    name="hidden",
    title="Cost of hiding",
    formula=r"C_{ti} = \ln p(y_t) - \ln p(y_t \mid \text{source without } i)",
    explain=(
        "What a written word loses of its log-probability where no part of the model sees a word "
        "of the source, in nats: positive where it is needed. It is of the whole model, residual, "
        "normalisation and feed-forward included, so that every layer and head shows the same. "
        "Hiding closes the word's key in every mask, as padding does; later words keep their "
        "positions. Pieces show what their words cost."
    ),
    source="after Li et al. 2016, section 3",
    scale="signed",
    compute=hidden,
    per_head=False,
    of_output=True,
    merge="max",
    why_not=_why_not_hidden,
)


# A layer of self-attention as a mixture of its tokens: mean weights and residual, half each.


def mixing(attention: Attention, layer: int) -> Tensor:
    """rownorm(mean_h A + I): [T, T] in float32; every row sums to 1.

    A token that may attend to nothing keeps itself whole: the residual goes on without attention.
    So does a key that the model adds behind the tokens, which has a row of its own, the last.
    """
    shares = attention.weights(layer).mean(0)
    shares = F.pad(shares, (0, 0, 0, attention.n_added))
    residual = shares + torch.eye(len(shares))
    return residual / residual.sum(-1, keepdim=True)


def why_not_mixed(recording: Recording, kind: str) -> str | None:
    """The `why_not` of lenses that multiply layers: each must map a sequence to itself."""
    attention = recording.attentions[kind]
    if len(attention.queries) == len(attention.keys) - attention.n_added:
        return None
    return (
        "Rollout and flow need self-attention over one sequence; here "
        f"{len(attention.queries)} queries attend to {len(attention.keys)} keys."
    )


# Attention rollout: where what a token holds has come from (Abnar & Zuidema 2020, section 3).

_LATEST: WeakKeyDictionary[Attention, tuple[int, Tensor]] = WeakKeyDictionary()
"""The layer last asked for, and its product: a reader goes through the layers in order."""


def rollout(recording: Recording, kind: str, layer: int) -> Tensor:
    """[1, Q, K]; rows sum to 1."""
    attention = recording.attentions[kind]
    if kind == "cross":
        encoder = recording.attentions["encoder_self"]
        read = attention.weights(layer).mean(0)  # [T, S]
        rolled = read @ _product(encoder, encoder.n_layers - 1)
    else:
        rolled = _product(attention, layer)[: len(attention.queries)]
    return (rolled * attention.allowed(layer).any(0))[None]


def _product(attention: Attention, layer: int) -> Tensor:
    """B_layer ... B_1 B_0: [T, T]. Whoever gets it changes nothing in it."""
    done, product = _LATEST.get(attention, (-1, torch.eye(len(attention.keys))))
    if done > layer:
        done, product = -1, torch.eye(len(attention.keys))
    for each in range(done + 1, layer + 1):
        product = mixing(attention, each) @ product
    _LATEST[attention] = (layer, product)
    return product


def _why_not_rollout(recording: Recording, kind: str) -> str | None:
    if kind != "cross":
        return why_not_mixed(recording, kind)
    encoder = recording.attentions.get("encoder_self")
    if recording.attentions[kind].n_added or (encoder is not None and encoder.n_added):
        return "Rollout of cross-attention is of tokens only; here the model adds a key to them."
    if encoder is None or len(encoder.queries) != len(recording.attentions[kind].keys):
        return "Rollout of cross-attention needs the encoder's attention, which is not recorded."
    return why_not_mixed(recording, "encoder_self")


ROLLOUT_LENS = Lens(
    name="rollout",
    title="Attention rollout",
    formula=r"R_l = B_l R_{l-1}, \quad B = \mathrm{rownorm}(\mathrm{mean}_h A^h + I)",
    explain=(
        "How much each input token contributes to a token after this layer, if layers only mixed "
        "tokens: half of each layer is the residual, half the mean of its heads. Values, W_O, "
        "feed-forward and normalisation are ignored. Masked cells are 0; a token that may not "
        "attend to anything keeps itself. For cross-attention (our extension): the mean of this "
        "layer's heads times the rollout of the whole encoder, without the decoder's residual and "
        "lower layers, so that columns are source tokens."
    ),
    source="Abnar & Zuidema 2020, section 3",
    scale="share",
    compute=rollout,
    per_head=False,
    why_not=_why_not_rollout,
)


# Largest flows through layers of capacities, by preflow-push (Goldberg & Tarjan 1988).

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


# Attention flow: how much could pass between two tokens (Abnar & Zuidema 2020, section 3).

MOST_TOKENS = 24
"""A flow for every pair of tokens: seconds at this length through 12 layers, and the work grows
with its fourth power."""

_FLOWS: WeakKeyDictionary[Attention, dict[int, Tensor]] = WeakKeyDictionary()
"""The flows of attentions that are still in use: small, and slow to make again."""


def flow(recording: Recording, kind: str, layer: int) -> Tensor:
    """[1, T, T]; rows sum to 1."""
    attention = recording.attentions[kind]
    cache = _FLOWS.setdefault(attention, {})
    if layer not in cache:
        flows = raw_flow(attention, layer)[: len(attention.queries)] * attention.allowed(layer).any(
            0
        )
        sums = flows.sum(-1, keepdim=True)
        cache[layer] = torch.where(sums > 0, flows / sums, flows).float()
    return cache[layer][None].clone()


def raw_flow(attention: Attention, layer: int) -> Tensor:
    """The largest flow from each token after the layer to each input token: [T, T], float64."""
    capacities = torch.stack([mixing(attention, each) for each in range(layer + 1)]).double()
    return torch.stack([largest_flows(capacities, start) for start in range(len(capacities[0]))])


def _why_not_flow(recording: Recording, kind: str) -> str | None:
    if recording.attentions[kind].is_cross:
        return "Attention flow is only defined for self-attention: choose encoder or decoder."
    n_tokens = len(recording.attentions[kind].queries)
    if n_tokens > MOST_TOKENS:
        return (
            f"Attention flow is computed for up to {MOST_TOKENS} tokens; this text has {n_tokens}: "
            "shorten the text, or choose rollout."
        )
    return why_not_mixed(recording, kind)


FLOW_LENS = Lens(
    name="flow",
    title="Attention flow",
    formula=(
        r"F = \mathrm{rownorm}(\text{largest flow}), \quad "
        r"\text{capacity } B = \mathrm{rownorm}(\mathrm{mean}_h A^h + I)"
    ),
    explain=(
        "How much could pass from each input token to a token after this layer if weights were "
        "pipes, half of each layer's capacity being the residual. It is the largest flow through "
        "all layers, for each pair by itself; then each row is divided by its sum. Values, W_O, "
        "feed-forward and normalisation play no part. Masked cells are 0; a token that may attend "
        f"to nothing keeps itself. Up to {MOST_TOKENS} tokens."
    ),
    source="Abnar & Zuidema 2020, section 3",
    scale="share",
    compute=flow,
    per_head=False,
    why_not=_why_not_flow,
)


LENS = (
    WEIGHT_LENS,
    SCORE_LENS,
    VALUE_NORM_LENS,
    SUM_NORM_LENS,
    HIDDEN_LENS,
    ROLLOUT_LENS,
    FLOW_LENS,
)
