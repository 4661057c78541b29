"""Toolkits for translation: joeynmt, Marian and OpenNMT-py."""

import re
from typing import Any

import torch
from torch import Tensor

from transformer.config import Activation, ModelConfig
from transformer.files.foreign_text import clean
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import (
    TORCHTEXT,
    CodeMapping,
    Embeddings,
    holds,
    layered,
    with_zero_biases,
)

# joeynmt, as its training saves it: best.ckpt or N.ckpt, {"model_state", "optimizer_state", ...}.
#
# Norms before each sublayer, with one that closes each stack, or after each; no bias at the
# output. What no shape shows stands in the config.yaml that it leaves beside the weights.

JOEY_NMT_SOURCE, JOEY_NMT_TARGET = "src_embed.lut.weight", "trg_embed.lut.weight"
JOEY_NMT_EMBEDDINGS = Embeddings(JOEY_NMT_SOURCE, JOEY_NMT_TARGET, "decoder.output_layer.weight")
CLOSING = ("encoder.layer_norm.weight", "decoder.layer_norm.weight")
_JOEY_NMT_ATTENTION = {
    "q_layer": "query",
    "k_layer": "key",
    "v_layer": "value",
    "output_layer": "output",
}
_FEED = {
    "feed_forward.layer_norm": "feed_residual.norm",
    "feed_forward.pwff_layer.0": "feed_forward.inner",
    "feed_forward.pwff_layer.3": "feed_forward.outer",
}
JOEY_NMT_NAMES = {
    "encoder.layer_norm": "encoder.norm",
    "decoder.layer_norm": "decoder.norm",
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("src_src_att. -> self_attention.", _JOEY_NMT_ATTENTION),
            "layer_norm": "self_residual.norm",
            **_FEED,
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("trg_trg_att. -> self_attention.", _JOEY_NMT_ATTENTION),
            **layered("src_trg_att. -> cross_attention.", _JOEY_NMT_ATTENTION),
            "x_layer_norm": "self_residual.norm",
            "dec_layer_norm": "cross_residual.norm",
            **_FEED,
        },
    ),
}


def setting(weights: Weights, name: str, encoder: Any, decoder: Any) -> Any:
    """Read a setting of both stacks, or its default. Raises Misfit where they differ."""
    sides = {"encoder": encoder, "decoder": decoder}
    values = [weights.options.get(f"model.{side}.{name}", usual) for side, usual in sides.items()]
    if values[0] != values[1]:
        raise Misfit(
            f"has {name} {clean(values[0])} in its encoder and {clean(values[1])} in its decoder, "
            "which are one here"
        )
    return values[0]


def configure_joey_nmt(weights: Weights) -> ModelConfig:
    """Without a config.yaml: embeddings are scaled, as in all those that it comes with."""
    closing = [weights.has(name) for name in CLOSING]
    is_told = "model.encoder.num_heads" in weights.options
    usual = (
        ("pre", "post") if is_told else (("post", "pre")[closing[0]], ("post", "pre")[closing[1]])
    )
    order = setting(weights, "layer_norm", *usual)
    if setting(weights, "alpha", 1.0, 1.0) != 1:
        raise Misfit("has residual sums with an alpha other than 1, which is not known here")
    setting(weights, "num_heads", None, None)
    return ModelConfig(
        **JOEY_NMT_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.feed_forward.pwff_layer.0.weight")[0],
        n_heads=weights.heads("model.encoder.num_heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=5000,
        norm_order=order,
        norm_eps=1e-6,
        encoder_norm=closing[0],
        decoder_norm=closing[1],
        activation=setting(weights, "activation", "relu", "relu"),
        tied="none",
        scaled_embeddings=setting(weights, "embeddings.scale", *[not is_told] * 2),
        **TORCHTEXT,
    )


def scale(config: ModelConfig) -> str:
    """Name the scale, which config.yaml says and its weights do not, for the title."""
    return f"embeddings {'× √d_model' if config.scaled_embeddings else 'not scaled'}"


JOEY_NMT_MAPPING = CodeMapping(
    name="joey_nmt",
    title="joeynmt",
    tells=holds("encoder.layers.0.src_src_att.q_layer.weight"),
    names=JOEY_NMT_NAMES,
    embeddings=JOEY_NMT_EMBEDDINGS,
    configure=configure_joey_nmt,
    tables=("encoder.pe.pe", "decoder.pe.pe"),
    settings="config.yaml",
    frames_source=(False, True),
    assumed=scale,
)


# Marian (Junczys-Dowmunt et al. 2018): model.npz with its options inside.
#
# Matrices stand [in, out], biases [1, out], layers count from 1. Decoding starts from a vector of
# zeros, which is a token here: one more than the vocabulary has, and never written.

MARIAN_SOURCE, MARIAN_TARGET = "encoder_Wemb", "decoder_Wemb"
MARIAN_OUTPUT, OUTPUT_BIAS = "decoder_ff_logit_out_weight", "decoder_ff_logit_out_bias"
BIAS, UNTIED, SHARED = "decoder_ff_logit_out_b", "decoder_ff_logit_out_W", "Wemb"
NEVER = -1e4
"""The start token's logit: its probability is 0, exactly."""

MARIAN_ASSUMED = {
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


_MARIAN_LAYER = {
    **_attention("self", "self_attention", "self_residual"),
    "ffn_W1": "feed_forward.inner.weight",
    "ffn_b1": "feed_forward.inner.bias",
    "ffn_W2": "feed_forward.outer.weight",
    "ffn_b2": "feed_forward.outer.bias",
    "ffn_ffn_ln_scale": "feed_residual.norm.weight",
    "ffn_ffn_ln_bias": "feed_residual.norm.bias",
}
_CROSS = _attention("context", "cross_attention", "cross_residual")
MARIAN_NAMES = {
    **layered("encoder_l*_ -> encoder.layers.*.", _MARIAN_LAYER),
    **layered("decoder_l*_ -> decoder.layers.*.", {**_MARIAN_LAYER, **_CROSS}),
}


def prepare_marian(weights: Weights) -> Weights:
    """Matrices transposed to [out, in], and tied embeddings under each name that uses them."""
    turned = {name: _turned(name, tensor) for name, tensor in weights.tensors.items()}
    shared = turned.pop(SHARED, None)
    if shared is not None:
        turned |= {MARIAN_SOURCE: shared, MARIAN_TARGET: shared}
    if MARIAN_TARGET in turned:
        turned[MARIAN_OUTPUT] = turned.pop(UNTIED, turned[MARIAN_TARGET])
    if BIAS in turned:
        turned[OUTPUT_BIAS] = turned.pop(BIAS)
    elif str(weights.options.get("output-omit-bias")) == "true" and MARIAN_TARGET in turned:
        turned[OUTPUT_BIAS] = torch.zeros(turned[MARIAN_TARGET].size(0))
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
    if MARIAN_TARGET not in tensors:
        return tensors
    starts: dict[int, Tensor] = {}  # tied matrices stay one
    for name in (MARIAN_SOURCE, MARIAN_TARGET, MARIAN_OUTPUT):
        tensor = tensors.get(name)
        is_own = name == MARIAN_SOURCE and tensor is not tensors[MARIAN_TARGET]
        if tensor is None or tensor.dim() != 2 or is_own:
            continue
        zero = tensor.new_zeros(1, tensor.size(1))
        tensors[name] = starts.setdefault(id(tensor), torch.cat([tensor, zero]))
    bias = tensors[OUTPUT_BIAS]
    return tensors | {OUTPUT_BIAS: torch.cat([bias, bias.new_tensor([NEVER])])}


def configure_marian(weights: Weights) -> ModelConfig:
    """Sizes from the shapes, heads and activation from special:model.yml."""
    options = {name: str(value).strip("\"'") for name, value in weights.options.items()}
    for name, usual in MARIAN_ASSUMED.items():
        if options.get(name, usual[0]) not in usual:
            raise Misfit(
                f"is a Marian model with {name}: {clean(options[name])}, which is not known here; "
                f"what opens has {usual[0] or 'none'}"
            )
    activation = options.get("transformer-ffn-activation", "swish")
    if activation not in ACTIVATIONS:
        raise Misfit(f"has transformer-ffn-activation {clean(activation)}, which is not known here")
    vocab_size, d_model = weights.shape(MARIAN_TARGET)
    return ModelConfig(
        vocab_size=vocab_size,
        source_vocab_size=weights.shape(MARIAN_SOURCE)[0],
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


MARIAN_MAPPING = CodeMapping(
    name="marian",
    title="Marian (model.npz)",
    tells=holds("encoder_l1_self_Wq", "decoder_l1_self_Wq"),
    names=MARIAN_NAMES,
    embeddings=Embeddings(MARIAN_SOURCE, MARIAN_TARGET, MARIAN_OUTPUT),
    configure=configure_marian,
    prepare=prepare_marian,
    frames_source=(False, True),
    first_layer=1,
    named_ids=("eos_id",),
    further_pieces=("<s>",),
)


# OpenNMT-py from version 3 on: {"model", "generator", "vocab", "opt"}.
#
# Norms before each sublayer and one that closes each stack. Older versions kept their vocabulary
# as Python objects, which are never loaded: `transformer/files/weights_file.py` says what to do.

_EMBEDDING = "embeddings.make_embedding.emb_luts.0.weight"
OPEN_NMT_SOURCE, OPEN_NMT_TARGET, OPEN_NMT_OUTPUT = (
    f"encoder.{_EMBEDDING}",
    f"decoder.{_EMBEDDING}",
    "generator.weight",
)
OPEN_NMT_EMBEDDINGS = Embeddings(OPEN_NMT_SOURCE, OPEN_NMT_TARGET, OPEN_NMT_OUTPUT)
TABLES = (
    "encoder.embeddings.make_embedding.pe.pe",
    "decoder.embeddings.make_embedding.pe.pe",
)

OPEN_NMT_ASSUMED = {
    "max_relative_positions": 0,
    "parallel_residual": False,
    "layer_norm": "standard",
    "num_kv": 0,
    "copy_attn": False,
    "self_attn_type": ("scaled-dot", "scaled-dot-flash"),
    "pos_ffn_activation_fn": ("relu", "gelu"),
}
"""Choices in which the models that open are alike."""


_OPEN_NMT_ATTENTION = {
    "linear_query": "query",
    "linear_keys": "key",
    "linear_values": "value",
    "final_linear": "output",
}
_OPEN_NMT_LAYER = {
    **layered("self_attn. -> self_attention.", _OPEN_NMT_ATTENTION),
    "feed_forward.w_1": "feed_forward.inner",
    "feed_forward.w_2": "feed_forward.outer",
    "feed_forward.layer_norm": "feed_residual.norm",
}
OPEN_NMT_NAMES = {
    "encoder.layer_norm": "encoder.norm",
    "decoder.layer_norm": "decoder.norm",
    **layered(
        "encoder.transformer.*. -> encoder.layers.*.",
        {**_OPEN_NMT_LAYER, "layer_norm": "self_residual.norm"},
    ),
    **layered(
        "decoder.transformer_layers.*. -> decoder.layers.*.",
        {
            **_OPEN_NMT_LAYER,
            **layered("context_attn. -> cross_attention.", _OPEN_NMT_ATTENTION),
            "layer_norm_1": "self_residual.norm",
            "layer_norm_2": "cross_residual.norm",
        },
    ),
}


def prepare_open_nmt(weights: Weights) -> Weights:
    """Older files keep the generator in a list; biases that an option removes become 0."""
    tensors = {n.replace("generator.0.", "generator."): t for n, t in weights.tensors.items()}
    return with_zero_biases(weights.having(tensors), r".*\.feed_forward\.w_\d")


def configure_open_nmt(weights: Weights) -> ModelConfig:
    """Token ids follow its own vocabulary files: <unk>, <blank>, <s>, </s>."""
    option = weights.options.get
    for name, usual in OPEN_NMT_ASSUMED.items():
        every = usual if isinstance(usual, tuple) else (usual,)
        if option(name, every[0]) not in every:
            raise Misfit(f"has the option {name}: {clean(option(name))}, which is not known here")
    first = "encoder.transformer.0.self_attn"
    biased = [
        part for part in ("linear_query", "final_linear") if weights.has(f"{first}.{part}.bias")
    ]
    has_positions = weights.has(TABLES[0]) or option("position_encoding") is True
    return ModelConfig(
        **OPEN_NMT_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.transformer.0.feed_forward.w_1.weight")[0],
        n_heads=weights.heads("heads"),
        n_encoder_layers=weights.layers("encoder.transformer.*."),
        n_decoder_layers=weights.layers("decoder.transformer_layers.*."),
        max_len=5000,
        norm_order="pre",
        norm_eps=float(option("norm_eps", 1e-6)),
        activation=option("pos_ffn_activation_fn", "relu"),
        attention_bias=("none", "output", "all")[len(biased)],
        positions="sinusoidal" if has_positions else "none",
        tied="none",
        scaled_embeddings=has_positions,
        pad_id=1,
        bos_id=2,
        eos_id=3,
    )


OPEN_NMT_MAPPING = CodeMapping(
    name="open_nmt",
    title="OpenNMT-py (version 3)",
    tells=holds(OPEN_NMT_SOURCE, "encoder.transformer.0.self_attn.linear_keys.weight"),
    names=OPEN_NMT_NAMES,
    embeddings=OPEN_NMT_EMBEDDINGS,
    configure=configure_open_nmt,
    prepare=prepare_open_nmt,
    tables=TABLES,
)


MAPPING = (
    JOEY_NMT_MAPPING,
    MARIAN_MAPPING,
    OPEN_NMT_MAPPING,
)
