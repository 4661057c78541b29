"""A run that starts from trained weights, or grows a deeper encoder; and what tells that one is
lost.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.formats.opening import load_checkpoint
from transformer.tokenizer import Tokenizer
from transformer.training.task import TrainingError

# A deeper encoder from a trained one: what is new begins as layers that change next to nothing.
#
# They stand behind the first layer. Their queries, keys, values and inner weights are those of
# the old layers in turn, so that they have something to look at; the outputs of both of their
# parts are zero, so that they add nothing yet. What is left of a layer is its norms. After one of
# gain g and bias b a position's values have about the mean of b, and about the mean of g squared
# and the variance of b as their variance: with these as gain and bias, a norm leaves them nearly
# as they are. Behind later layers it would not: there some positions, above all the end of the
# source, have a far smaller variance than others (.06 of .17), and that they are small is what
# the decoder goes by.

_LAYER = re.compile(r"encoder\.layers\.(\d+)\.(.+)")


def deepened(weights: Mapping[str, Tensor], n_layers: int) -> dict[str, Tensor]:
    """The weights of a post-norm encoder with n_layers; as they are if it has as many or more."""
    parts = [match for name in weights if (match := _LAYER.fullmatch(name))]
    n_old = len({match[1] for match in parts})
    n_new = max(0, n_layers - n_old) if n_old else 0
    result = {name: value for name, value in weights.items() if not _LAYER.fullmatch(name)}
    for match in parts:
        layer = int(match[1])
        at = layer + n_new if layer else 0
        result[f"encoder.layers.{at}.{match[2]}"] = weights[match[0]]
    for new in range(n_new):
        layer = new % n_old
        for part in {match[2] for match in parts}:
            begun = _begun(weights, f"encoder.layers.{layer}.{part}")
            result[f"encoder.layers.{1 + new}.{part}"] = begun
    return result


def _begun(weights: Mapping[str, Tensor], name: str) -> Tensor:
    """A weight of a new layer, from that of an old one."""
    value = weights[name].float()
    if re.search(r"self_attention\.output|feed_forward\.outer", name):
        return torch.zeros_like(value)
    if ".norm." not in name:
        return value.clone()
    last = "encoder.layers.0.feed_residual.norm"
    gain, bias = weights[f"{last}.weight"].float(), weights[f"{last}.bias"].float()
    if name.endswith("bias"):
        return torch.full_like(value, float(bias.mean()))
    return torch.full_like(value, float((gain.square().mean() + bias.var(correction=0)).sqrt()))


# A run that starts from trained weights, with a vocabulary of its own.

SPACE = "▁"


def start_from(model: nn.Module, tokenizer: Tokenizer, checkpoint: Path) -> None:
    """Copy the weights of a checkpoint; a new piece begins as the mean of its old pieces.

    The layers that a post-norm encoder has more than the old one begin as `deepened` says.
    Raises TrainingError where the checkpoint does not open or is of another shape.
    """
    try:
        old = load_checkpoint(checkpoint, "cpu")
    except CheckpointError as error:
        raise TrainingError(f"--from: {error}") from error
    weights = dict(old.model.state_dict())
    table = model.state_dict().get("embedding.weight")
    if table is None or "embedding.weight" not in weights:
        raise TrainingError(f"--from: {old.name} has no embedding that could be carried over.")
    weights["embedding.weight"] = embeddings(old, tokenizer, weights["embedding.weight"])
    if (config := getattr(model, "config", None)) and config.norm_order == "post":
        weights = deepened(weights, config.n_encoder_layers)
    try:
        model.load_state_dict({name: value.float() for name, value in weights.items()})
    except RuntimeError as error:
        raise TrainingError(
            f"--from: {old.name} has layers of another shape than this recipe's."
        ) from error


def embeddings(old: Checkpoint, tokenizer: Tokenizer, table: Tensor) -> Tensor:
    """The old table [V_old, D] for a new vocabulary: [V_new, D]."""
    old_ids = {old.tokenizer.token(id).piece: id for id in range(old.tokenizer.vocab_size)}
    rows = []
    for id in range(tokenizer.vocab_size):
        token = tokenizer.token(id)
        ids = (
            [old_ids[token.piece]] if token.piece in old_ids else _split(old.tokenizer, token.piece)
        )
        rows.append(table[ids].float().mean(0))
    return torch.stack(rows)


def _split(tokenizer: Tokenizer, piece: str) -> list[int]:
    """The old pieces of a new one, without the space that every text begins with."""
    ids = tokenizer.encode(piece.replace(SPACE, " ").strip(), "text")
    if not piece.startswith(SPACE) and tokenizer.token(ids[0]).piece == SPACE:
        ids = ids[1:] or ids
    return ids


# A measure of how far an encoder tells positions apart: a run whose encoder does not is lost.
#
# Where the rate rises too fast, a deep post-norm encoder comes to give every position of a source
# the same vector (rank collapse; Dong, Cordonnier and Loukas 2021, "Attention is not all you
# need"). The loss still falls, as a decoder learns to write without looking, so it does not tell.

COLLAPSED = 0.1
"""A spread below which a decoder has nowhere to look: the encoders shipped here have .9 or more."""
ADVICE = (
    "the encoder gives all positions of a source nearly the same vector: start again with a lower "
    "rate or a longer warm-up"
)


def spread(states: Tensor, mask: Tensor | None) -> float:
    """The length of what sets positions apart from their source's mean, as a share of the whole.

    states: [B, S, D]; mask: [B, 1, 1, S], False at padding. 0 where all positions are one vector.
    """
    real = torch.ones(states.shape[:2]) if mask is None else mask[:, 0, 0]
    weights = real.to(states.device, torch.float32)[..., None]
    mean = (states * weights).sum(1, keepdim=True) / weights.sum(1, keepdim=True)
    return float(((states - mean) * weights).norm() / (states * weights).norm())


@contextmanager
def spreads(model: nn.Module) -> Iterator[list[float]]:
    """Collect the spread of every pass of a model's encoder; nothing where it has none."""
    result: list[float] = []

    def measure(_: nn.Module, inputs: tuple[Tensor, Tensor | None], states: Tensor) -> None:
        result.append(spread(states.detach(), inputs[1]))

    encoder = getattr(model, "encoder", None)
    handle = encoder.register_forward_hook(measure) if isinstance(encoder, nn.Module) else None
    try:
        yield result
    finally:
        if handle is not None:
            handle.remove()
