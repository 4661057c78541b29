"""Generators and a classifier: pbloem's former, nanoGPT, llama2.c and Llama in Meta's names."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from torch import Tensor

from transformer.config import ModelConfig
from transformer.files.foreign_text import some_of
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


# Llama's layers, whose rotation turns neighbouring dimensions of a head; the library's turns the
# two halves, so that rows of queries and keys change places.

NAMED = 4
LLAMA_EMBEDDING, LLAMA_OUTPUT = "tok_embeddings.weight", "output.weight"
QUERIES, KEYS = "layers.0.attention.wq.weight", "layers.0.attention.wk.weight"
GATE = "layers.0.feed_forward.w3.weight"
LLAMA_NAMES = {
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


def is_llama(weights: Weights) -> bool:
    """Tell whether these are tensors of that code."""
    return weights.has(QUERIES) or weights.has(GATE)


def prepare_llama(weights: Weights) -> Weights:
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
    n_rows, n_heads = weights.shape(QUERIES)[0], weights.heads("n_heads")
    if n_rows % n_heads or n_rows // n_heads % 2:
        raise Misfit(f"has queries of {n_rows} rows, which is not {n_heads} heads of an even size")
    return n_rows // n_heads


# Positions: Llama 3.1 divides slow frequencies by 8 (`apply_scaling` in Meta's llama-models), Llama
# 3.2 by 32 (the library's configurations); the settings say only that it is done.

LONG, SCALED = 8192, {"low_freq_factor": 1.0, "high_freq_factor": 4.0}
SCALES = ("use_scaled_rope", "rope_scaling_factor")
READ = frozenset({*SCALES, "rope_theta", "rope_high_freq_factor", "sliding_window"})
_ACTS = re.compile(r"rope|rotary|yarn|scal|window|moe|expert|lora|quant|vision|softcap|qk_norm")
"""Names of settings that change what is computed."""


def configure_llama(weights: Weights) -> dict[str, Any]:
    """The sizes are in the shapes; what the settings say of them has to agree."""
    vocab_size, d_model = weights.shape(LLAMA_EMBEDDING)
    d_head, option = _d_head(weights), weights.options.get
    sizes = {
        "dim": d_model,
        "head_dim": d_head,
        "n_layers": weights.layers("layers.*."),
        "n_kv_heads": weights.shape(KEYS)[0] // d_head,
    }
    for name, size in sizes.items():
        if option(name) not in (None, size):
            raise Misfit(f"has {name} {size}, and its settings say {option(name)}")
    window = option("sliding_window")
    kind = ("MistralForCausalLM", "mistral") if window else ("LlamaForCausalLM", "llama")
    return {
        "architectures": [kind[0]],
        "model_type": kind[1],
        "vocab_size": vocab_size,
        "hidden_size": d_model,
        "head_dim": d_head,
        "intermediate_size": weights.shape("layers.0.feed_forward.w1.weight")[0],
        "num_hidden_layers": sizes["n_layers"],
        "num_attention_heads": weights.heads("n_heads"),
        "num_key_value_heads": sizes["n_kv_heads"],
        "max_position_embeddings": _longest(weights),
        "rms_norm_eps": weights.number("norm_eps", 1e-5),
        "rope_parameters": _rope(weights),
        "tie_word_embeddings": weights.has(LLAMA_EMBEDDING, LLAMA_OUTPUT)
        and same(weights.tensors[LLAMA_EMBEDDING], weights.tensors[LLAMA_OUTPUT]),
        "pad_token_id": weights.choices.get("pad_id", 0),
        **({"sliding_window": int(weights.number("sliding_window", 0))} if window else {}),
    }


def _longest(weights: Weights) -> int:
    name = "max_position_embeddings" if "max_position_embeddings" in weights.options else ""
    usual = LONG * _factor(weights) if _is_scaled(weights) else 2048
    return int(weights.number(name or "max_seq_len", usual))


def _rope(weights: Weights) -> dict[str, Any]:
    theta = weights.number("rope_theta", 10000.0)
    if not _is_scaled(weights):
        return {"rope_type": "default", "rope_theta": theta}
    high = weights.number("rope_high_freq_factor", SCALED["high_freq_factor"])
    scaled = {"rope_type": "llama3", "rope_theta": theta, "factor": _factor(weights), **SCALED}
    return {**scaled, "high_freq_factor": high, "original_max_position_embeddings": LONG}


def _is_scaled(weights: Weights) -> bool:
    return any(map(weights.options.get, SCALES))


def _factor(weights: Weights) -> float:
    return weights.number("rope_scaling_factor", 8.0)


def notes_on_llama(weights: Weights) -> Iterator[str]:
    """Yield a sentence for each thing that is taken for granted, or is not followed."""
    if _is_scaled(weights) and "rope_scaling_factor" not in weights.options:
        yield (
            "Its settings say that slow rotary frequencies are divided, and not by what: 8 is "
            'taken, as Llama 3.1 has it; for Llama 3.2 write "rope_scaling_factor": 32 among them.'
        )
    others = sorted(name for name in weights.options if _ACTS.search(name) and name not in READ)
    if others := [name for name in others if weights.options[name]]:
        yield f"Its settings say {some_of(others, NAMED)}, not followed."


# karpathy/llama2.c, as its train.py saves it: {"model", "model_args", "optimizer", ...}.
#
# A story begins and ends with `<s>`, where its own run.c stops as well.


def configure_llama2_c(weights: Weights) -> dict[str, Any]:
    """The same, with its one special token."""
    bos_id = weights.choices.get("bos_id", 1)
    ends = {"bos_token_id": bos_id, "eos_token_id": weights.choices.get("eos_id", bos_id)}
    return configure_llama(weights) | ends


LLAMA2_C_MAPPING = LibraryMapping(
    name="llama2_c",
    title="karpathy/llama2.c",
    tells=lambda weights: is_llama(weights) and "n_heads" in weights.options,
    names=LLAMA_NAMES,
    configure=configure_llama2_c,
    notes=notes_on_llama,
    prepare=prepare_llama,
    named_ids=("bos_id",),
    starts_prompts=True,
)


# Meta's and Mistral's own folders: consolidated.00.pth or consolidated.safetensors, params.json.

PARAMS = "params.json"
OF_LLAMA_3, ENDS_3, ENDS = 128_256, (128_000, 128_001), (1, 2)


def configure_meta(weights: Weights) -> dict[str, Any]:
    """The same, with the special tokens of its vocabulary."""
    values = configure_llama(weights)
    bos_id, eos_id = ENDS_3 if values["vocab_size"] == OF_LLAMA_3 else ENDS
    choice = weights.choices.get
    ends = {"bos_token_id": choice("bos_id", bos_id), "eos_token_id": choice("eos_id", eos_id)}
    return values | ends


def prepare_meta(weights: Weights) -> Weights:
    """The same, with settings that stand under `model`, as Meta's Lingua has them."""
    options = {name.removeprefix("model."): value for name, value in weights.options.items()}
    return prepare_llama(replace(weights, options=options))


def notes_on_meta(weights: Weights) -> Iterator[str]:
    """Yield the same, and a sentence where nothing says how positions are turned."""
    if weights.options.get("rope_theta") is None:
        yield (
            f"No {PARAMS} names a rope_theta: its rotary positions are taken to have the base "
            "10,000, as Llama 2's have."
        )
    yield from notes_on_llama(weights)


META_MAPPING = LibraryMapping(
    name="llama",
    title="Llama in Meta's names",
    tells=lambda weights: is_llama(weights) and "n_heads" not in weights.options,
    names=LLAMA_NAMES,
    configure=configure_meta,
    notes=notes_on_meta,
    prepare=prepare_meta,
    ignored=(r"(layers\.\d+\.attention\.inner_attention\.)?rope\.freqs",),
    settings=PARAMS,
    starts_prompts=True,
    reads_bpe=True,
)


MAPPING = (
    FORMER_GENERATOR_MAPPING,
    FORMER_CLASSIFIER_MAPPING,
    NANO_GPT_MAPPING,
    LLAMA2_C_MAPPING,
    META_MAPPING,
)
