"""OpenNMT-py from version 3 on: {"model", "generator", "vocab", "opt"}.

Norms before each sublayer and one that closes each stack. Older versions kept their vocabulary as
Python objects, which are never loaded: `transformer/files/weights_file.py` says what to do.
"""

from transformer.config import ModelConfig
from transformer.files.foreign_text import clean
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import (
    CodeMapping,
    Embeddings,
    holds,
    layered,
    with_zero_biases,
)

_EMBEDDING = "embeddings.make_embedding.emb_luts.0.weight"
SOURCE, TARGET, OUTPUT = f"encoder.{_EMBEDDING}", f"decoder.{_EMBEDDING}", "generator.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, OUTPUT)
TABLES = (
    "encoder.embeddings.make_embedding.pe.pe",
    "decoder.embeddings.make_embedding.pe.pe",
)

ASSUMED = {
    "max_relative_positions": 0,
    "parallel_residual": False,
    "layer_norm": "standard",
    "num_kv": 0,
    "copy_attn": False,
    "self_attn_type": ("scaled-dot", "scaled-dot-flash"),
    "pos_ffn_activation_fn": ("relu", "gelu"),
}
"""Choices in which the models that open are alike."""


_ATTENTION = {
    "linear_query": "query",
    "linear_keys": "key",
    "linear_values": "value",
    "final_linear": "output",
}
_LAYER = {
    **layered("self_attn. -> self_attention.", _ATTENTION),
    "feed_forward.w_1": "feed_forward.inner",
    "feed_forward.w_2": "feed_forward.outer",
    "feed_forward.layer_norm": "feed_residual.norm",
}
NAMES = {
    "encoder.layer_norm": "encoder.norm",
    "decoder.layer_norm": "decoder.norm",
    **layered(
        "encoder.transformer.*. -> encoder.layers.*.",
        {**_LAYER, "layer_norm": "self_residual.norm"},
    ),
    **layered(
        "decoder.transformer_layers.*. -> decoder.layers.*.",
        {
            **_LAYER,
            **layered("context_attn. -> cross_attention.", _ATTENTION),
            "layer_norm_1": "self_residual.norm",
            "layer_norm_2": "cross_residual.norm",
        },
    ),
}


def prepare(weights: Weights) -> Weights:
    """Older files keep the generator in a list; biases that an option removes become 0."""
    tensors = {n.replace("generator.0.", "generator."): t for n, t in weights.tensors.items()}
    return with_zero_biases(weights.having(tensors), r".*\.feed_forward\.w_\d")


def configure(weights: Weights) -> ModelConfig:
    """Token ids follow its own vocabulary files: <unk>, <blank>, <s>, </s>."""
    option = weights.options.get
    for name, usual in ASSUMED.items():
        every = usual if isinstance(usual, tuple) else (usual,)
        if option(name, every[0]) not in every:
            raise Misfit(f"has the option {name}: {clean(option(name))}, which is not known here")
    first = "encoder.transformer.0.self_attn"
    biased = [
        part for part in ("linear_query", "final_linear") if weights.has(f"{first}.{part}.bias")
    ]
    has_positions = weights.has(TABLES[0]) or option("position_encoding") is True
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
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


MAPPING = CodeMapping(
    name="open_nmt",
    title="OpenNMT-py (version 3)",
    tells=holds(SOURCE, "encoder.transformer.0.self_attn.linear_keys.weight"),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    prepare=prepare,
    tables=TABLES,
)
