"""A score taken apart by what made it, and queries and keys in one space."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.editing.editor import Editor
from transformer.editing.ours import places
from transformer.edits.edit import Edit
from transformer.edits.spelling import edit_kinds, edits_of
from transformer.layers.embedding import Concatenated
from transformer.layers.norm import BatchNorm, DeviationNorm, NoNorm
from transformer.recording import AttentionCall, PositionalEncoding, Recording
from transformer.recording.calls import ONLY_WEIGHTS, NotRecorded
from transformer.recording.watched import edited_calls, plan_of
from transformer.refusal import Refusal
from transformer.watch.capture.operators import watching

# Queries and keys of a first layer as sums, in a model that runs as its own code says.
#
# From embeddings e and encodings p to a query nothing but linear maps and norms stands. With each
# norm's deviation taken as it is in this run, a query is f(e + p) for an affine f; so runs with p
# taken away, with e taken away and with both say what of it is content, position and bias. That f
# is affine is not believed but checked: what p adds must be the same with and without e.

MOST_ERROR = 1e-3
"""A share of the largest number: what positions add may differ so far with and without contents."""


@dataclass(frozen=True, eq=False)
class Parts:
    """A head's queries or keys [T, d_head] in double precision; their sum is what was recorded."""

    content: Tensor
    position: Tensor
    biases: Tensor


@dataclass(frozen=True, eq=False)
class WatchedParts:
    """Both sums, and whether a norm stands before, whose deviations are taken as in this run."""

    query: Parts
    key: Parts
    is_frozen: bool


def watched_parts(
    checkpoint: Checkpoint,
    recording: Recording,
    kind: str,
    head: int,
    side: str,
    edits: Sequence[Edit] = (),
) -> WatchedParts | None:
    """Split q and k of a kind's first layer, which reads this side; None where they are no sums.

    edits: those of the recording.
    """
    ids = [[token.id for token in each] for each in (recording.source, recording.target)]
    forced = checkpoint.family.forced_pass(checkpoint.config, ids[0], ids[1] or None)
    plan, model = plan_of(checkpoint, forced), checkpoint.model
    if side not in plan.sides or kind not in plan.sizes:
        return None
    moved = [each for each in edits if each.place == side and edit_kinds()[each.name].of == "side"]
    moved = [each for each in moved if edit_kinds()[each.name].words is None]  # they are read so

    def first(factor: float) -> AttentionCall:
        scaled = Edit("positions-scale", side, (), (factor,))
        calls = edited_calls(checkpoint, forced, plan, Editor([*moved, scaled]))
        first = [(spot, call) for spot, call in calls if (spot.kind, spot.layer) == (kind, 0)]
        spot, call = [each for each in first if each[0].first_head <= head][-1]
        return call.only(head - spot.first_head)

    with frozen_norms(model) as freeze:
        runs = [first(1.0)]
        freeze()
        runs.append(first(0.0))
        with without_embeddings(model):
            runs += [first(1.0), first(0.0)]
    query, key = (
        _parts_watched_terms(*(getattr(run, name)[0].double().cpu() for run in runs))
        for name in ("q", "k")
    )
    if query is None or key is None:
        return None
    free = first(0.0)
    is_frozen = any(
        not torch.allclose(getattr(free, name), getattr(runs[1], name), rtol=1e-4, atol=1e-5)
        for name in ("q", "k")
    )
    return WatchedParts(query, key, is_frozen)


def _parts_watched_terms(
    whole: Tensor, content: Tensor, position: Tensor, nothing: Tensor
) -> Parts | None:
    """Make parts of f(e + p), f(e), f(p) and f(0) [T, d]; None where f is not affine."""
    of_position = whole - content
    error = (of_position - (position - nothing)).abs().max()
    if not bool(error <= MOST_ERROR * whole.abs().max().clamp(min=1.0)):
        return None
    return Parts(content - nothing, of_position, nothing)


@contextmanager
def frozen_norms(model: nn.Module) -> Iterator[Callable[[], None]]:
    """While entered, layer norms keep how they divide in the first run of this thread.

    Yields what is to be called after it: from then on they divide as they did.
    """
    thread, norms, n_calls = threading.get_ident(), dict[tuple[int, int], Tensor](), Counter[int]()
    is_frozen = False

    def begin(module: nn.Module, inputs: Any) -> None:
        if threading.get_ident() == thread:
            n_calls.clear()

    def hook(norm: Any, inputs: Any, output: Tensor) -> Tensor | None:
        if threading.get_ident() != thread or not inputs:
            return None
        place = id(norm), n_calls[id(norm)]
        n_calls[id(norm)] += 1
        with watching(None):
            x, axes = inputs[0].float(), tuple(range(-len(norm.normalized_shape), 0))
            if not is_frozen:
                variance = x.var(axes, correction=0, keepdim=True)
                norms[place] = (variance + norm.eps).rsqrt()
                return None
            x = (x - x.mean(axes, keepdim=True)) * norms[place]
            x = x if norm.weight is None else x * norm.weight
            return (x if norm.bias is None else x + norm.bias).to(output.dtype)

    def freeze() -> None:
        nonlocal is_frozen
        is_frozen = True

    with ExitStack() as hooks:
        hooks.callback(model.register_forward_pre_hook(begin).remove)
        for norm in model.modules():
            if isinstance(norm, nn.LayerNorm):
                hooks.callback(norm.register_forward_hook(hook).remove)
        yield freeze


@contextmanager
def without_embeddings(model: nn.Module) -> Iterator[None]:
    """While entered, tables of embeddings give zeros to runs of this thread."""
    thread = threading.get_ident()

    def hook(table: nn.Module, inputs: Any, rows: Tensor) -> Tensor | None:
        if threading.get_ident() != thread:
            return None
        with watching(None):
            return torch.zeros_like(rows)

    with ExitStack() as hooks:
        for table in model.modules():
            if isinstance(table, nn.Embedding):
                hooks.callback(table.register_forward_hook(hook).remove)
        yield


# A score taken apart by what made it: the contents of query and key, and their positions.
#
# Where positions are added to embeddings, x = e + p and the first layer's score is a sum of four
# products: (e_i + p_i) W_Q W_K^T (e_j + p_j)^T (Dai et al. 2019, section 3.3; Ke et al. 2021).
# What holds a bias of a projection or of a norm is a fifth. A norm before the attention is linear
# once each token's deviation is taken as it is in this very run: the sum is right, and the parts
# are those of the model with its norm frozen.

CONTENT, POSITION, BIASES = "content", "position", "biases"
FOUR = tuple((of, to) for of in (CONTENT, POSITION) for to in (CONTENT, POSITION))
"""The part of the query, and the part of the key that it meets."""


class NoTerms(Refusal):
    """A score that cannot be taken apart; the message says in a sentence why."""


@dataclass(frozen=True, eq=False)
class ScoreTerms:
    """The scores of one head [Q, K] and what they are the sum of, in double precision."""

    score: Tensor
    """The scores as recorded: scaled, before the mask."""
    four: Mapping[tuple[str, str], Tensor]
    """(of the query, of the key) -> its part [Q, K]; only content-content without encodings."""
    biases: Tensor
    """Whatever holds a bias of a projection or a norm."""
    others: Tensor
    """The additions to the products: a relative bias, ALiBi, and what edits add."""
    is_frozen: bool
    """True: a norm stands before, whose deviations are taken as they are in this run."""

    @property
    def error(self) -> float:
        """The largest difference of the sum from the recorded score."""
        total = sum(self.four.values(), self.biases + self.others)
        return float((total - self.score).abs().max())


def score_terms(
    checkpoint: Checkpoint,
    recording: Recording,
    kind: str,
    head: int,
    edits: Iterable[Edit | str] = (),
) -> ScoreTerms:
    """The parts of a head's scores in the first layer of self-attention.

    edits: those of the recording, which a model that is not ours is run with again. Raises NoTerms.
    """
    attention = recording.attentions[kind]
    if attention.is_cross:
        raise NoTerms("A cross head's queries and keys are states of two stacks, not embeddings.")
    call = attention.calls[0].only(head)
    if not call.knows_scores:
        raise NoTerms(ONLY_WEIGHTS)
    score = call.scores()[0].double().cpu()
    products = _products(call.q[0], call.k[0], call.scale)
    others = score - products
    side = _side(recording, kind)
    if side is None:  # no encodings: the products are of contents only
        nothing = torch.zeros_like(score)
        return ScoreTerms(score, {(CONTENT, CONTENT): products}, nothing, others, is_frozen=False)
    if checkpoint.family.is_watched:
        result = watched_parts(checkpoint, recording, kind, head, side, edits_of(edits))
        if result is None:
            raise NoTerms(
                "What this model does between its embeddings and its first queries is not a sum of "
                "contents and positions, even with its layer norms frozen."
            )
        q, k = (
            {CONTENT: of.content, POSITION: of.position, BIASES: of.biases}
            for of in (result.query, result.key)
        )
        return _terms(score, others, q, k, call.scale, result.is_frozen)
    whole, norms = _first_layer(checkpoint, kind)
    parts = _parts(checkpoint.model, recording.positions[side])
    for norm in norms:
        parts = _normed(norm, parts)
    q, k = (_projected(each, parts, whole.n_heads, head) for each in (whole.query, whole.key))
    is_frozen = any(not isinstance(norm, NoNorm | BatchNorm) for norm in norms)
    return _terms(score, others, q, k, call.scale, is_frozen)


def _terms(
    score: Tensor,
    others: Tensor,
    q: Mapping[str, Tensor],
    k: Mapping[str, Tensor],
    scale: float,
    is_frozen: bool,
) -> ScoreTerms:
    """Multiply queries and keys [T, d], sums of content, position and biases."""
    four = {(of, to): _products(q[of], k[to], scale) for of, to in FOUR}
    rest = [_products(q[BIASES], each, scale) for each in k.values()]
    rest += [_products(q[of], k[BIASES], scale) for of in (CONTENT, POSITION)]
    return ScoreTerms(score, four, torch.stack(rest).sum(0), others, is_frozen)


def _products(q: Tensor, k: Tensor, scale: float) -> Tensor:
    """q [Q, d], k [K, d] -> [Q, K] in double precision, on the CPU."""
    return q.double().cpu() @ k.double().cpu().mT * scale


def _side(recording: Recording, kind: str) -> str | None:
    """The side whose words this kind reads, where encodings were added to it."""
    own = "source" if kind == "encoder_self" else "target"
    return next((side for side in ("text", own) if side in recording.positions), None)


def _first_layer(checkpoint: Checkpoint, kind: str) -> tuple[Any, list[nn.Module]]:
    """The first attention of a kind, and the norms that stand before it."""
    model: Any = checkpoint.model
    path, _ = places(model, checkpoint.family)[kind][0]
    attention, layer = (model.get_submodule(".".join(path.split(".")[:-n])) for n in (1, 2))
    stack = model.get_submodule(path.split(".")[0])
    norms = [stack.embedding_norm]
    if layer.self_residual.norm_order == "pre":
        norms.append(layer.self_residual.norm)
    return attention, norms


def _parts(model: Any, joined: PositionalEncoding) -> dict[str, Tensor]:
    """Split what the first layer reads [T, D] into a sum: of contents, positions and biases."""
    e, p = joined.embeddings.double(), joined.encodings.double()
    if not isinstance(model.join, Concatenated):
        return {CONTENT: e, POSITION: p, BIASES: torch.zeros_like(e)}
    matrix, bias = (each.detach().double().cpu() for each in model.join.project.parameters())
    of_content, of_position = matrix.chunk(2, dim=1)
    return {CONTENT: e @ of_content.mT, POSITION: p @ of_position.mT, BIASES: bias.expand_as(e)}


def _normed(norm: Any, parts: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same sum after a norm; its own bias joins the biases."""
    if isinstance(norm, NoNorm):
        return parts
    weight, bias = norm.weight.detach().double().cpu(), norm.bias.detach().double().cpu()
    x = sum(parts.values(), torch.zeros(()))
    if isinstance(norm, BatchNorm):  # each dimension by itself, with numbers that are known
        mean = norm.running_mean.double().cpu()
        gain = weight * (norm.running_variance.double().cpu() + norm.eps).rsqrt()
        after = {name: gain * part for name, part in parts.items()}
        return after | {BIASES: after[BIASES] - gain * mean + bias}
    if isinstance(norm, DeviationNorm):
        deviation = x.std(-1, keepdim=True, correction=norm.correction) + norm.eps
    else:
        deviation = (x.var(-1, keepdim=True, correction=0) + norm.eps).sqrt()
    after = {
        name: weight * (part - part.mean(-1, keepdim=True)) / deviation
        for name, part in parts.items()
    }
    return after | {BIASES: after[BIASES] + bias}


def _projected(
    projection: nn.Module, parts: dict[str, Tensor], n_heads: int, head: int
) -> dict[str, Tensor]:
    """The sum of a head's queries or keys [T, d_head]."""
    if not isinstance(projection, nn.Linear):  # the heads split the input itself
        return {name: part.unflatten(-1, (n_heads, -1))[:, head] for name, part in parts.items()}
    matrix = projection.weight.detach().double().cpu().unflatten(0, (n_heads, -1))[head]  # [d, D]
    result = {name: part @ matrix.mT for name, part in parts.items()}
    if projection.bias is not None:
        bias = projection.bias.detach().double().cpu().unflatten(0, (n_heads, -1))[head]
        result[BIASES] = result[BIASES] + bias
    return result


# Queries and keys of one head in one space, in which the nearest key is the most attended one.
#
# A score is a dot product, and a map shows distances. With one dimension more both are the same:
# q' = [q, 0] and k' = [k, sqrt(M^2 - |k|^2)] with M = max |k| give |q' - k'|^2 = |q|^2 + M^2 - 2
# q k, so that the order of the distances from a query is that of its scores (the reduction of
# Bachrach et al. 2014). Nothing is lost before the projection to a plane, and what that loses is
# counted.


@dataclass(frozen=True, eq=False)
class JointMap:
    """The queries and keys of a head, exactly and on a plane."""

    queries: Tensor
    """q' [Q, d + 1]"""
    keys: Tensor
    """k' [K, d + 1]"""
    query_points: Tensor
    """[Q, 2]: both projected to the two directions in which they vary most (PCA)."""
    key_points: Tensor
    """[K, 2]"""
    first: Tensor
    """[Q]: the key with the largest weight; -1 where a row may look at nothing."""
    nearest: Tensor
    """[Q]: the key that is nearest on the plane, of those that the row may look at."""
    variance: float
    """The share of the variance of all points that the plane keeps."""

    @property
    def is_kept(self) -> Tensor:
        """[Q]: the nearest key on the plane is the most attended one."""
        return (self.nearest == self.first) & (self.first >= 0)

    @property
    def share(self) -> float:
        """The share of queries for which it is; NaN without any."""
        counted = int((self.first >= 0).sum())
        return float(self.is_kept.sum()) / counted if counted else float("nan")


def joint_map(call: AttentionCall) -> JointMap:
    """Map the first head of a call, as `call.only(head)` gives it.

    Keys are moved so that both clouds have one centre, which adds the same number to all scores of
    a query, and both are scaled to one size, q / c and c k (Yeh et al. 2023): neither changes a
    weight. Raises NotRecorded where scores are not known, or have a bias beside q k.
    """
    if not call.knows_scores or call.bias is not None or call.low is not None:
        raise NotRecorded("The scores of this head are more than the products of queries and keys.")
    q, k = call.q[0].double().cpu(), call.k[0].double().cpu()
    sizes = [(each - each.mean(0)).norm().clamp_min(1e-9) / len(each) ** 0.5 for each in (q, k)]
    balance = (sizes[0] / sizes[1]).sqrt()
    q, k = q / balance, k * balance
    k = k + (q.mean(0) - k.mean(0))
    queries, keys = exact(q, k)
    points, variance = _plane(torch.cat([queries, keys]))
    query_points, key_points = points[: len(q)], points[len(q) :]
    allowed = call.allowed()[0].cpu()
    is_any = allowed.any(-1)
    scores = (q @ k.mT).masked_fill(~allowed, -torch.inf)
    apart = torch.cdist(query_points, key_points).masked_fill(~allowed, torch.inf)
    first, nearest = (
        each.masked_fill(~is_any, -1) for each in (scores.argmax(-1), apart.argmin(-1))
    )
    return JointMap(queries, keys, query_points, key_points, first, nearest, variance)


def exact(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """q [Q, d] and k [K, d] -> q' [Q, d + 1] and k' [K, d + 1], whose distances order as scores."""
    lengths = k.norm(dim=-1)
    last = (lengths.max() ** 2 - lengths**2).clamp_min(0).sqrt()
    return torch.cat([q, q.new_zeros(len(q), 1)], -1), torch.cat([k, last[:, None]], -1)


def _plane(points: Tensor) -> tuple[Tensor, float]:
    """[N, D] -> [N, 2] along the two largest directions, and the share of variance they keep."""
    centred = points - points.mean(0)
    _, values, directions = torch.linalg.svd(centred, full_matrices=False)
    plane = directions[:2]
    # A direction's sign is arbitrary: the largest part points up, so that a map stays as it is.
    signs = plane.gather(1, plane.abs().argmax(1, keepdim=True)).sign()
    total = float((values**2).sum())
    share = float((values[:2] ** 2).sum()) / total if total else 1.0
    return centred @ (plane * signs).mT, share
