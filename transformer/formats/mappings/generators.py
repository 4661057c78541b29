"""Generators and a classifier: pbloem's former, nanoGPT and llama2.c."""

from dataclasses import replace
from typing import Any

from torch import Tensor

from transformer.config import ModelConfig
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import (
    CodeMapping,
    Embeddings,
    LibraryMapping,
    holds,
    layered,
    same,
    with_zero_biases,
)

# pbloem/former: GTransformer, which goes on with a text (Bloem, "Transformers from scratch").
#
# Norms follow each sublayer; keys, queries and values have no bias. Its heads come "wide", each
# as large as the model, which shapes show, or narrow, which they do not. Scores are divided by
# the root of a head's size; before May 2024 (e3125a4) by that of the whole embedding, which
# differs where heads are narrow. Its first version concatenates the embeddings of tokens and
# positions and projects them back (`unify_embeddings`); its heads are all wide.

FORMER_GENERATOR_EMBEDDING, FORMER_GENERATOR_OUTPUT = "token_embedding.weight", "toprobs.weight"
JOIN = "unify_embeddings.weight"
SHARED = {"pos_embedding.weight": "positions.table", "unify_embeddings": "join.project"}
"""The names that generator and classifier share, beside their blocks."""
BLOCK = {
    "attention.toqueries": "self_attention.query",
    "attention.tokeys": "self_attention.key",
    "attention.tovalues": "self_attention.value",
    "attention.unifyheads": "self_attention.output",
    "norm1": "self_residual.norm",
    "ff.0": "feed_forward.inner",
    "ff.2": "feed_forward.outer",
    "norm2": "feed_residual.norm",
}
IGNORED = (r"tblocks\.\d+\.attention\.mask",)


def is_former(weights: Weights) -> bool:
    """Tell whether these are tensors of this code: of its generator or of its classifier."""
    return weights.has(FORMER_GENERATOR_EMBEDDING) and any(
        name.startswith("tblocks.") for name in weights.tensors
    )


def is_generator(weights: Weights) -> bool:
    """Tell whether it gives one probability per token of the vocabulary: the generator does."""
    return is_former(weights) and (
        not weights.has(FORMER_GENERATOR_OUTPUT)
        or weights.shape(FORMER_GENERATOR_OUTPUT) == weights.shape(FORMER_GENERATOR_EMBEDDING)
    )


def sizes(weights: Weights) -> ModelConfig:
    """The configuration, as far as generator and classifier have it in common."""
    vocab_size, d_model = weights.shape(FORMER_GENERATOR_EMBEDDING)
    wide = weights.shape("tblocks.0.attention.toqueries.weight")[0]
    is_joined = weights.has(JOIN)
    is_wide = wide > d_model or is_joined
    n_heads = wide // d_model if is_wide else weights.heads("heads", "num_heads")
    return ModelConfig(
        family="decoder_only",
        vocab_size=vocab_size,
        d_model=d_model,
        d_ff=weights.shape("tblocks.0.ff.0.weight")[0],
        n_heads=n_heads,
        d_key=d_model if is_wide else None,
        d_value=d_model if is_wide else None,
        n_encoder_layers=0,
        n_decoder_layers=weights.layers("tblocks.*."),
        max_len=weights.shape("pos_embedding.weight")[0],
        attention_bias="output",
        positions="concatenated" if is_joined else "learned",
        tied="none",
        scaled_embeddings=False,
        pad_id=0,
        bos_id=0,
        eos_id=None,
    )


def scale(config: ModelConfig) -> str:
    """Name the one of two scales that narrow heads were given, for the title."""
    if config.d_key == config.d_model:
        return ""
    return f"scores / √{'d_model' if config.attention_scale == 'd_model' else 'd_head'}"


FORMER_GENERATOR_MAPPING = CodeMapping(
    name="former_generator",
    title="pbloem/former (GTransformer)",
    tells=is_generator,
    names={
        **SHARED,
        **layered("tblocks.*. -> decoder.layers.*.", BLOCK),
    },
    embeddings=Embeddings(None, FORMER_GENERATOR_EMBEDDING, FORMER_GENERATOR_OUTPUT),
    configure=sizes,
    ignored=IGNORED,
    assumed=scale,
)


# pbloem/former: CTransformer, which says what a text is; its pooling takes the maximum.


def configure_former_classifier(weights: Weights) -> ModelConfig:
    """The configuration; classes are called by their numbers unless the sidecar names them."""
    config = sizes(weights)
    return replace(
        config,
        family="encoder_classifier",
        n_encoder_layers=config.n_decoder_layers,
        n_decoder_layers=0,
        pooling="max",
        pad_id=min(1, config.vocab_size - 1),  # torchtext's
        classes=tuple(f"class {i}" for i in range(weights.shape(FORMER_GENERATOR_OUTPUT)[0])),
    )


FORMER_CLASSIFIER_MAPPING = CodeMapping(
    name="former_classifier",
    title="pbloem/former (CTransformer)",
    tells=lambda weights: is_former(weights) and not is_generator(weights),
    names={
        **SHARED,
        "toprobs": "classify",
        **layered("tblocks.*. -> encoder.layers.*.", BLOCK),
    },
    embeddings=Embeddings(None, FORMER_GENERATOR_EMBEDDING, None),
    configure=configure_former_classifier,
    ignored=IGNORED,
    assumed=scale,
)


# nanoGPT (Karpathy), as its train.py saves it: {"model", "model_args", "optimizer", ...}.
#
# GPT-2's blocks with the exact GELU. Without `bias` nothing in it has one, norms included. minGPT
# names its tensors alike; its GELU is tanh's approximation, which the sidecar can say.

NANO_GPT_EMBEDDING, NANO_GPT_OUTPUT = "transformer.wte.weight", "lm_head.weight"
BIASED = (".ln_1.bias", ".ln_2.bias", ".ln_f.bias", ".c_attn.bias", ".c_proj.bias", ".c_fc.bias")
GPT2_SIZES, GPT2_END = (50257, 50304), 50256

NANO_GPT_NAMES = {
    "transformer.wpe.weight": "positions.table",
    "transformer.ln_f": "decoder.norm",
    **layered(
        "transformer.h.*. -> decoder.layers.*.",
        {
            "ln_1": "self_residual.norm",
            "attn.c_attn.weight": tuple(
                f"self_attention.{part}.weight" for part in ("query", "key", "value")
            ),
            "attn.c_attn.bias": tuple(
                f"self_attention.{part}.bias" for part in ("query", "key", "value")
            ),
            "attn.c_proj": "self_attention.output",
            "ln_2": "feed_residual.norm",
            "mlp.c_fc": "feed_forward.inner",
            "mlp.c_proj": "feed_forward.outer",
        },
    ),
}


def prepare_nano_gpt(weights: Weights) -> Weights:
    """`bias=False` takes every bias away; ours are then 0, but for those of attention."""
    if any(name.endswith(BIASED) for name in weights.tensors):
        return weights
    return with_zero_biases(weights, r"transformer\.(ln_f|h\.\d+\.(ln_\d|mlp\.c_fc|mlp\.c_proj))")


def configure_nano_gpt(weights: Weights) -> ModelConfig:
    """The number of heads, n_head, is not in any shape."""
    vocab_size, d_model = weights.shape(NANO_GPT_EMBEDDING)
    end = GPT2_END if vocab_size in GPT2_SIZES else None
    return ModelConfig(
        family="decoder_only",
        vocab_size=vocab_size,
        d_model=d_model,
        d_ff=weights.shape("transformer.h.0.mlp.c_fc.weight")[0],
        n_heads=weights.heads("n_head"),
        n_encoder_layers=0,
        n_decoder_layers=weights.layers("transformer.h.*."),
        max_len=weights.shape("transformer.wpe.weight")[0],
        norm_order="pre",
        decoder_norm=True,
        activation="gelu",
        attention_bias="all" if weights.has("transformer.h.0.attn.c_attn.bias") else "none",
        positions="learned",
        scaled_embeddings=False,
        pad_id=end or 0,
        bos_id=end or 0,
        eos_id=end,
    )


NANO_GPT_MAPPING = CodeMapping(
    name="nano_gpt",
    title="nanoGPT",
    tells=holds("transformer.wpe.weight", "transformer.h.0.mlp.c_fc.weight"),  # not lit-llama's
    names=NANO_GPT_NAMES,
    embeddings=Embeddings(None, NANO_GPT_EMBEDDING, NANO_GPT_OUTPUT),
    configure=configure_nano_gpt,
    prepare=prepare_nano_gpt,
    reads_bpe=True,
    ignored=(r"transformer\.h\.\d+\.attn\.(bias|masked_bias)",),
)


# karpathy/llama2.c, as its train.py saves it: {"model", "model_args", "optimizer", ...}.
#
# Llama's layers, whose rotation turns neighbouring dimensions of a head; the library's turns the
# two halves, so that rows of queries and keys change places. A story begins and ends with `<s>`,
# where its own run.c stops as well.

LLAMA2_C_EMBEDDING, LLAMA2_C_OUTPUT = "tok_embeddings.weight", "output.weight"
FIRST = "layers.0.attention.wq.weight"
LLAMA2_C_NAMES = {
    "tok_embeddings": "model.embed_tokens",
    "norm": "model.norm",
    "output": "lm_head",
    **layered(
        "layers.*. -> model.layers.*.",
        {
            "attention.wq": "self_attn.q_proj",
            "attention.wk": "self_attn.k_proj",
            "attention.wv": "self_attn.v_proj",
            "attention.wo": "self_attn.o_proj",
            "feed_forward.w1": "mlp.gate_proj",
            "feed_forward.w2": "mlp.down_proj",
            "feed_forward.w3": "mlp.up_proj",
            "attention_norm": "input_layernorm",
            "ffn_norm": "post_attention_layernorm",
        },
    ),
}


def prepare_llama2_c(weights: Weights) -> Weights:
    """Put first the even rows of each head's queries and keys, then the odd ones."""
    d_head = _d_head(weights)
    turned = (".attention.wq.weight", ".attention.wk.weight")
    tensors = {
        n: _halved(t, d_head) if n.endswith(turned) else t for n, t in weights.tensors.items()
    }
    return weights.having(tensors)


def _halved(weight: Tensor, d_head: int) -> Tensor:
    """[H * d, D] -> the same; row 2 i + j of a head becomes row j d / 2 + i."""
    if weight.dim() != 2 or weight.size(0) % d_head:
        raise Misfit(f"has a matrix of {list(weight.shape)}, which is not heads of {d_head} rows")
    return weight.unflatten(0, (-1, d_head // 2, 2)).transpose(1, 2).flatten(0, 2)


def _d_head(weights: Weights) -> int:
    d_model, n_heads = weights.shape(LLAMA2_C_EMBEDDING)[1], weights.heads("n_heads")
    if d_model % n_heads or d_model // n_heads % 2:
        raise Misfit(f"has d_model {d_model}, which is not {n_heads} heads of an even size")
    return d_model // n_heads


def configure_llama2_c(weights: Weights) -> dict[str, Any]:
    """Everything is in model_args and in the shapes."""
    vocab_size, d_model = weights.shape(LLAMA2_C_EMBEDDING)
    choice, n_layers = weights.choices.get, weights.layers("layers.*.")
    n_groups = weights.shape("layers.0.attention.wk.weight")[0] // _d_head(weights)
    for name, n in (("n_layers", n_layers), ("n_kv_heads", n_groups)):
        if choice(name) not in (None, n):
            raise Misfit(f"says {name} {choice(name)}, and has {n}")
    bos_id = choice("bos_id", 1)
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": vocab_size,
        "hidden_size": d_model,
        "intermediate_size": weights.shape("layers.0.feed_forward.w1.weight")[0],
        "num_hidden_layers": n_layers,
        "num_attention_heads": weights.heads("n_heads"),
        "num_key_value_heads": n_groups,
        "max_position_embeddings": int(weights.number("max_seq_len", 2048)),
        "rms_norm_eps": weights.number("norm_eps", 1e-5),
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
        "tie_word_embeddings": weights.has(LLAMA2_C_EMBEDDING, LLAMA2_C_OUTPUT)
        and same(weights.tensors[LLAMA2_C_EMBEDDING], weights.tensors[LLAMA2_C_OUTPUT]),
        "bos_token_id": bos_id,
        "eos_token_id": choice("eos_id", bos_id),
        "pad_token_id": choice("pad_id", 0),
    }


LLAMA2_C_MAPPING = LibraryMapping(
    name="llama2_c",
    title="karpathy/llama2.c",
    tells=holds(FIRST, "layers.0.feed_forward.w3.weight"),
    names=LLAMA2_C_NAMES,
    configure=configure_llama2_c,
    prepare=prepare_llama2_c,
    named_ids=("bos_id",),
    starts_prompts=True,
)


MAPPING = (
    FORMER_GENERATOR_MAPPING,
    FORMER_CLASSIFIER_MAPPING,
    NANO_GPT_MAPPING,
    LLAMA2_C_MAPPING,
)
