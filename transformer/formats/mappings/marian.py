"""Marian (Junczys-Dowmunt et al. 2018): model.npz with its options inside.

Matrices stand [in, out], biases [1, out], layers count from 1. Decoding starts from a vector of
zeros, which is a token here: one more than the vocabulary has, and never written.
"""

import re

import torch
from torch import Tensor

from transformer.config import Activation, ModelConfig
from transformer.files.foreign_text import clean
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, holds, layered

SOURCE, TARGET = "encoder_Wemb", "decoder_Wemb"
OUTPUT, OUTPUT_BIAS = "decoder_ff_logit_out_weight", "decoder_ff_logit_out_bias"
BIAS, UNTIED, SHARED = "decoder_ff_logit_out_b", "decoder_ff_logit_out_W", "Wemb"
NEVER = -1e4
"""The start token's logit: its probability is 0, exactly."""

ASSUMED = {
    "type": ("transformer",),
    "transformer-preprocess": ("",),
    "transformer-postprocess": ("dan",),
    "transformer-postprocess-emb": ("d", ""),
    "transformer-postprocess-top": ("",),
    "transformer-decoder-autoreg": ("self-attention",),
    "transformer-ffn-depth": ("2",),
    "transformer-no-projection": ("false",),
    "transformer-train-position-embeddings": ("false",),
    "transformer-train-positions": ("false",),
}
"""Choices in which the models that open are alike: layers like those of AIAYN."""
ACTIVATIONS: dict[str, Activation] = {"relu": "relu", "swish": "swish", "gelu": "gelu"}


def _attention(theirs: str, ours: str, residual: str) -> dict[str, str]:
    parts = {"q": "query", "k": "key", "v": "value", "o": "output"}
    named = {f"{theirs}_W{letter}": f"{ours}.{part}.weight" for letter, part in parts.items()}
    named |= {f"{theirs}_b{letter}": f"{ours}.{part}.bias" for letter, part in parts.items()}
    return named | {
        f"{theirs}_Wo_ln_scale": f"{residual}.norm.weight",
        f"{theirs}_Wo_ln_bias": f"{residual}.norm.bias",
    }


_LAYER = {
    **_attention("self", "self_attention", "self_residual"),
    "ffn_W1": "feed_forward.inner.weight",
    "ffn_b1": "feed_forward.inner.bias",
    "ffn_W2": "feed_forward.outer.weight",
    "ffn_b2": "feed_forward.outer.bias",
    "ffn_ffn_ln_scale": "feed_residual.norm.weight",
    "ffn_ffn_ln_bias": "feed_residual.norm.bias",
}
_CROSS = _attention("context", "cross_attention", "cross_residual")
NAMES = {
    **layered("encoder_l*_ -> encoder.layers.*.", _LAYER),
    **layered("decoder_l*_ -> decoder.layers.*.", {**_LAYER, **_CROSS}),
}


def prepare(weights: Weights) -> Weights:
    """Matrices transposed to [out, in], and tied embeddings under each name that uses them."""
    turned = {name: _turned(name, tensor) for name, tensor in weights.tensors.items()}
    shared = turned.pop(SHARED, None)
    if shared is not None:
        turned |= {SOURCE: shared, TARGET: shared}
    if TARGET in turned:
        turned[OUTPUT] = turned.pop(UNTIED, turned[TARGET])
    if BIAS in turned:
        turned[OUTPUT_BIAS] = turned.pop(BIAS)
    elif str(weights.options.get("output-omit-bias")) == "true" and TARGET in turned:
        turned[OUTPUT_BIAS] = torch.zeros(turned[TARGET].size(0))
    else:
        raise Misfit(f"is missing tensors: {BIAS}")
    return weights.having(_started(turned))


def _turned(name: str, tensor: Tensor) -> Tensor:
    if tensor.dim() != 2:
        return tensor
    if re.search(r"_W(\d|[qkvo]|)$", name):
        return tensor.T
    return tensor[0] if tensor.size(0) == 1 else tensor


def _started(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """With one more token, whose embedding is 0: what decoding starts from."""
    if TARGET not in tensors:
        return tensors
    starts: dict[int, Tensor] = {}  # tied matrices stay one
    for name in (SOURCE, TARGET, OUTPUT):
        tensor = tensors.get(name)
        is_own = name == SOURCE and tensor is not tensors[TARGET]
        if tensor is None or tensor.dim() != 2 or is_own:
            continue
        zero = tensor.new_zeros(1, tensor.size(1))
        tensors[name] = starts.setdefault(id(tensor), torch.cat([tensor, zero]))
    bias = tensors[OUTPUT_BIAS]
    return tensors | {OUTPUT_BIAS: torch.cat([bias, bias.new_tensor([NEVER])])}


def configure(weights: Weights) -> ModelConfig:
    """Sizes from the shapes, heads and activation from special:model.yml."""
    options = {name: str(value).strip("\"'") for name, value in weights.options.items()}
    for name, usual in ASSUMED.items():
        if options.get(name, usual[0]) not in usual:
            raise Misfit(
                f"is a Marian model with {name}: {clean(options[name])}, which is not known here; "
                f"what opens has {usual[0] or 'none'}"
            )
    activation = options.get("transformer-ffn-activation", "swish")
    if activation not in ACTIVATIONS:
        raise Misfit(f"has transformer-ffn-activation {clean(activation)}, which is not known here")
    vocab_size, d_model = weights.shape(TARGET)
    return ModelConfig(
        vocab_size=vocab_size,
        source_vocab_size=weights.shape(SOURCE)[0],
        d_model=d_model,
        d_ff=weights.shape("encoder_l1_ffn_W1")[0],
        n_heads=weights.heads("transformer-heads"),
        n_encoder_layers=weights.layers("encoder_l*_"),
        n_decoder_layers=weights.layers("decoder_l*_"),
        max_len=1024,
        norm_eps=1e-6,
        activation=ACTIVATIONS[activation],
        sinusoids="halves",
        tied="none",
        pad_id=vocab_size - 1,
        bos_id=vocab_size - 1,
        eos_id=0,
    )


MAPPING = CodeMapping(
    name="marian",
    title="Marian (model.npz)",
    tells=holds("encoder_l1_self_Wq", "decoder_l1_self_Wq"),
    names=NAMES,
    embeddings=Embeddings(SOURCE, TARGET, OUTPUT),
    configure=configure,
    prepare=prepare,
    frames_source=(False, True),
    first_layer=1,
    named_ids=("eos_id",),
    further_pieces=("<s>",),
)
