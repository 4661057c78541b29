"""Direct logit attribution, and what is written when the decoder reads a lower layer."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from transformer.analysis.lenses.lenses import head_values
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.steps import Decoding
from transformer.inputs import InputError, source_ids, target_ids
from transformer.layers.norm import BatchNorm, NoNorm
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.token import Token

# Direct logit attribution: a logit as the sum of what each part of the model added to it.
#
# The parts of one row are carried up beside it, from the embedding to the logit: each norm is
# taken as the linear map that it is at this row's own mean and deviation. So the sum is exact, in
# any order of the norms. Behind a norm of the sum ("post") little is left of what came before, so
# there it says something of the last layer only.

INPUT, BIASES, FEED_FORWARD = "input", "biases", "feed_forward"

Name = tuple[str, int, int]
"""Kind of attention or FEED_FORWARD, layer and head; INPUT and BIASES stand in no layer: -1."""


@dataclass(frozen=True)
class Direct:
    """The direct parts of the logit of one written token, or of its lead over another one."""

    token: Token
    logit: float
    """The model's own; with another token the difference of both."""
    parts: dict[Name, float]
    """The sum of each one's vector with the output's: not what it does through later parts."""
    last_layer_only: bool
    """True: norms stand behind the sums, so that lower layers hardly reach the logit directly."""

    @property
    def error(self) -> float:
        """The distance of the parts' sum from the logit."""
        return abs(sum(self.parts.values()) - self.logit)


def direct(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token],
    step: int,
    other: int | None = None,
) -> Direct:
    """Take apart the logit of the target's token number `step`.

    other: the id of a token whose logit is taken off, as of the runner-up. Raises InputError, also
    for a model that is not a decoder of ours.
    """
    if checkpoint.family.is_watched or not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} is not a decoder of ours: its sums are not known.")
    sources = source_ids(checkpoint, text)
    targets = target_ids(checkpoint, target, len(sources)) or []
    if not 0 <= step < len(targets):
        raise InputError(f"There is no step {step}: the target has {len(targets)}, from 0.")
    if other is not None and not 0 <= other < checkpoint.config.vocab_size:
        raise InputError(f"There is no token {other}: the vocabulary has as many entries as ids.")
    recording = record(checkpoint, text, target)
    read = checkpoint.family.forced_pass(checkpoint.config, sources, targets).inputs[-1]
    query = len(read) - len(targets) + step
    with torch.inference_mode():
        stream = _carried(checkpoint, recording, read, query)
        weight, bias = _writer(checkpoint.model, targets[step], other)
    values = (torch.stack(list(stream.parts.values())) @ weight).tolist()
    parts = dict(zip(stream.parts, values, strict=True))
    parts[BIASES, -1, -1] += bias
    logits = recording.require_logits()[-len(targets) :][step].double().cpu()
    logit = float(logits[targets[step]] - (0 if other is None else logits[other]))
    config: Any = checkpoint.config
    is_post = config.norm_order == "post"
    return Direct(recording.target[step], logit, parts, is_post)


class _Stream:
    """One row of the residual stream as parts [D] that sum to it, in float64."""

    def __init__(self, row: Tensor) -> None:
        row = row.double().cpu()
        self.parts: dict[Name, Tensor] = {
            (INPUT, -1, -1): row,
            (BIASES, -1, -1): torch.zeros_like(row),
        }

    def row(self) -> Tensor:
        return torch.stack(list(self.parts.values())).sum(0)

    def add(self, parts: dict[Name, Tensor]) -> None:
        """Biases are added up, all others stand beside each other."""
        for name, part in parts.items():
            self.parts[name] = self.parts[name] + part if name in self.parts else part

    def pass_norm(self, norm: nn.Module) -> None:
        self.parts = _normed(self.parts, norm)


def _normed(parts: dict[Name, Tensor], norm: nn.Module) -> dict[Name, Tensor]:
    """Pass each part through a norm, at the statistics of their sum; its bias joins the biases."""
    if isinstance(norm, NoNorm):
        return parts
    own: Any = norm
    row = torch.stack(list(parts.values())).sum(0)
    bias, gain = own.bias.double().cpu(), own.weight.double().cpu()
    if isinstance(norm, BatchNorm):
        gain = gain * (own.running_variance.double().cpu() + own.eps).rsqrt()
        bias = bias - own.running_mean.double().cpu() * gain
        result = {name: part * gain for name, part in parts.items()}
    else:
        gain = gain / _deviation(own, row)
        result = {name: (part - part.mean()) * gain for name, part in parts.items()}
    result[BIASES, -1, -1] = result.get((BIASES, -1, -1), torch.zeros_like(row)) + bias
    return result


def _deviation(norm: Any, row: Tensor) -> Tensor:
    if isinstance(norm, nn.LayerNorm):
        return (row.var(correction=0) + norm.eps).sqrt()
    deviation: Tensor = row.std(correction=norm.correction) + norm.eps
    return deviation


def _carried(
    checkpoint: Checkpoint, recording: Recording, read: Sequence[int], query: int
) -> _Stream:
    """The row of a query behind the last layer and the closing norm."""
    model: Any = checkpoint.model
    ids = torch.tensor([read], device=checkpoint.device)
    stream = _Stream(model.embed(ids)[0, query])
    stream.pass_norm(model.decoder.embedding_norm)
    for number, layer in enumerate(model.decoder.layers):
        branches = [("decoder_self", layer.self_attention, layer.self_residual)]
        if layer.cross_attention is not None:
            branches.append(("cross", layer.cross_attention, layer.cross_residual))
        for kind, attention, residual in branches:
            _join(stream, residual, _heads(recording, kind, number, query, attention))
        _join(stream, layer.feed_residual, _fed(stream, layer, number))
    stream.pass_norm(model.decoder.norm)
    return stream


def _join(stream: _Stream, residual: Any, parts: dict[Name, Tensor]) -> None:
    """Add a sublayer's parts in the order of its norm."""
    if residual.norm_order == "sublayer":
        parts = _normed(parts, residual.norm)
    stream.add(parts)
    if residual.norm_order == "post":
        stream.pass_norm(residual.norm)


def _heads(
    recording: Recording, kind: str, layer: int, query: int, attention: Any
) -> dict[Name, Tensor]:
    """Collect what each head adds to the row, and the bias of W_O."""
    recorded = recording.attentions[kind]
    weights, call = recorded.weights(layer)[:, query].double(), recorded.calls[layer]
    parts: dict[Name, Tensor] = {}
    for head in range(recorded.n_heads):
        added = weights[head] @ head_values(call, head).double()
        if call.output is None:  # each head writes where no other does
            whole = added.new_zeros(recorded.n_heads, len(added))
            whole[head] = added
            added = whole.flatten()
        parts[kind, layer, head] = added
    bias = getattr(attention.output, "bias", None)
    return parts if bias is None else parts | {(BIASES, -1, -1): bias.double().cpu()}


def _fed(stream: _Stream, layer: Any, number: int) -> dict[Name, Tensor]:
    row = stream.row().to(next(layer.feed_forward.parameters()))
    if layer.feed_residual.norm_order == "pre":
        row = layer.feed_residual.norm(row[None, None])[0, 0]
    return {(FEED_FORWARD, number, -1): layer.feed_forward(row[None, None])[0, 0].double().cpu()}


def _writer(model: Any, token: int, other: int | None) -> tuple[Tensor, float]:
    """The vector [D] and the number that make a logit of a row, or the difference of two."""
    matrix = model.embedding.weight if model.output is None else model.output.weight
    biases = model.output_bias if model.output is None else model.output.bias

    def of(id: int) -> tuple[Tensor, float]:
        return matrix[id].double().cpu(), 0.0 if biases is None else float(biases[id])

    vector, bias = of(token)
    if other is None:
        return vector, bias
    taken, less = of(other)
    return vector - taken, bias - less


# DecoderLens (Langedijk et al. 2024): what is written when the decoder reads a lower layer.
#
# A picture of what each layer of the encoder adds; no proof, since no decoder was trained to read
# these layers.


def decoder_lens(
    checkpoint: Checkpoint, text: str, method: str = "greedy", **options: Any
) -> tuple[Decoding, ...]:
    """Decode the text once for each number of encoder layers, 0 first and all of them last.

    Each is what `decode` gives of `with_encoder_layers`; of no layers the decoder reads embeddings.
    Raises InputError.
    """
    numbers = range(_config(checkpoint).n_encoder_layers + 1)
    lower = (with_encoder_layers(checkpoint, n) for n in numbers)
    return tuple(decode(each, text, method=method, **options) for each in lower)


def with_encoder_layers(checkpoint: Checkpoint, n: int) -> Checkpoint:
    """The checkpoint whose decoder reads what the first n encoder layers give.

    A closing norm of the encoder stays. It shares all weights. Raises InputError where it is no
    encoder-decoder of ours, or has no such number of layers.
    """
    config = _config(checkpoint)
    if not 0 <= n <= config.n_encoder_layers:
        raise InputError(
            f"{checkpoint.name} has {config.n_encoder_layers} encoder layers: the decoder can read "
            f"0 to {config.n_encoder_layers} of them, not {n}."
        )
    whole = checkpoint.model
    tensors = {id(each): each for each in chain(whole.parameters(), whole.buffers())}
    model: Any = deepcopy(whole, tensors)
    del model.encoder.layers[n:]
    model.config = replace(config, n_encoder_layers=n)
    return replace(checkpoint, model=model, config=model.config)


def _config(checkpoint: Checkpoint) -> Any:
    """The sizes of an encoder-decoder of ours. Raises InputError."""
    if checkpoint.family.is_watched or checkpoint.family.reads != "source":
        raise InputError(
            f"{checkpoint.name} is not an encoder-decoder of ours: no decoder can be given a lower "
            "layer of an encoder."
        )
    return checkpoint.config
