"""A score taken apart by what made it: the contents of query and key, and their positions.

Where positions are added to embeddings, x = e + p and the first layer's score is a sum of four
products: (e_i + p_i) W_Q W_K^T (e_j + p_j)^T (Dai et al. 2019, section 3.3; Ke et al. 2021). What
holds a bias of a projection or of a norm is a fifth. A norm before the attention is linear once
each token's deviation is taken as it is in this very run: the sum is right, and the parts are those
of the model with its norm frozen.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from transformer.analysis.watched_terms import watched_parts
from transformer.checkpoint import Checkpoint
from transformer.editing.ours import places
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.layers.norm import BatchNorm, DeviationNorm, NoNorm
from transformer.layers.positions import Concatenated
from transformer.recording import PositionalEncoding, Recording
from transformer.refusal import Refusal

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
        raise NoTerms("Here the model computed attention by hand: only its weights are known.")
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
