"""Lightning-AI/litgpt: Llama's layers, and GPT-NeoX's."""

from typing import Any

import torch
from torch import Tensor

from transformer.files.foreign_text import clean
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import LibraryMapping, holds, layered, same

# Lightning-AI/litgpt: lit_model.pth, and its options in model_config.yaml beside it.
#
# Here models with Llama's layers (RMSNorm, LLaMAMLP): Llama, TinyLlama, Mistral, Qwen 2.5.
# Queries, keys and values are one matrix, in this order; older files keep them group by group.

SETTINGS = "model_config.yaml"
EMBEDDING, OUTPUT = "transformer.wte.weight", "lm_head.weight"
PARTS = ("query", "key", "value")
JOINED, GROUPED = "attn.qkv.", "attn.attn."
ASSUMED: dict[str, Any] = {
    **dict.fromkeys(("norm_qk", "post_attention_norm", "post_mlp_norm"), False),
    **dict.fromkeys(("shared_attention_norm", "rope_interleave"), False),
    **dict.fromkeys(("scale_embeddings", "lm_head_bias"), False),
    **dict.fromkeys(("norm_1", "norm_2"), True),
    **dict.fromkeys(("attention_scores_scalar", "sliding_window_size"), None),
    **dict.fromkeys(("attention_logit_softcapping", "final_logit_softcapping"), None),
    **dict.fromkeys(("rope_local_base_freq", "latent_attention"), None),
    "rope_condense_ratio": 1,
    "n_expert": 0,
}
"""Choices in which the models that open are alike."""
LIKE_LLAMA = {"norm_class_name": "RMSNorm", "parallel_residual": False, "rotary_percentage": 1.0}
LITGPT_LLAMA_NAMES = {
    "transformer.wte": "model.embed_tokens",
    "transformer.ln_f": "model.norm",
    "lm_head": "lm_head",
    **layered(
        "transformer.h.*. -> model.layers.*.",
        {
            "norm_1": "input_layernorm",
            "attn.query": "self_attn.q_proj",
            "attn.key": "self_attn.k_proj",
            "attn.value": "self_attn.v_proj",
            "attn.proj": "self_attn.o_proj",
            "norm_2": "post_attention_layernorm",
            "mlp.fc_1": "mlp.gate_proj",
            "mlp.fc_2": "mlp.up_proj",
            "mlp.proj": "mlp.down_proj",
        },
    ),
}


def apart(weights: Weights) -> Weights:
    """With queries, keys and values under names of their own."""
    heads, groups = sizes(weights)
    tensors: dict[str, Tensor] = {}
    for name, tensor in weights.tensors.items():
        joined = next((each for each in (JOINED, GROUPED) if each in name), None)
        if joined is None:
            tensors[name] = tensor
            continue
        n_rows = tensor.size(0) if tensor.dim() else 0
        if not n_rows or n_rows % (heads + 2 * groups):
            raise Misfit(
                f"has {name} of {list(tensor.shape)}, which is not {heads} queries and {groups} "
                "keys and values"
            )
        parts = (heads, groups, groups)
        if joined == JOINED:
            d_head = n_rows // sum(parts)
            cut = tensor.split([n * d_head for n in parts])
        else:
            each_group = tensor.unflatten(0, (groups, heads // groups + 2, -1))
            cut = each_group.split([heads // groups, 1, 1], dim=1)
            cut = tuple(part.flatten(0, 2) for part in cut)
        for part, rows in zip(PARTS, cut, strict=True):
            tensors[name.replace(joined, f"attn.{part}.")] = rows
    return weights.having(tensors)


def sizes(weights: Weights) -> tuple[int, int]:
    """Count the heads, and the groups of them that share keys and values. Raises Misfit."""
    if "n_head" not in weights.options:
        raise Misfit(f"needs {SETTINGS} beside it, which its code writes: it says the heads")
    heads = weights.heads("n_head")
    groups = weights.options.get("n_query_groups") or heads
    if not isinstance(groups, int) or groups < 1 or heads % groups:
        raise Misfit(f"has {heads} heads in {clean(groups)} groups")
    return heads, groups


def require(weights: Weights, **further: Any) -> None:
    """Its options must be what opens. Raises Misfit, which names one that is not."""
    for name, usual in {**ASSUMED, **further}.items():
        value = weights.options.get(name, usual)
        if value != usual or any(each.startswith(f"{name}.") for each in weights.options):
            raise Misfit(
                f"has {name}: {clean(value)} in {SETTINGS}, which is not known here; what opens "
                f"has {clean(usual)}"
            )
    if "Gemma" in str(weights.options.get("name")):  # its norms multiply by 1 + weight
        raise Misfit("is a Gemma in litgpt's form, which is not known here")


def common(weights: Weights) -> dict[str, Any]:
    """Fields that the library has for any of its models."""
    vocab_size, d_model = weights.shape(EMBEDDING)
    choice = weights.choices.get
    return {
        "vocab_size": vocab_size,
        "hidden_size": d_model,
        "num_hidden_layers": weights.layers("transformer.h.*."),
        "num_attention_heads": sizes(weights)[0],
        "max_position_embeddings": int(weights.number("block_size", 4096)),
        "tie_word_embeddings": weights.has(EMBEDDING, OUTPUT)
        and same(weights.tensors[EMBEDDING], weights.tensors[OUTPUT]),
        "bos_token_id": choice("bos_id"),
        "eos_token_id": choice("eos_id"),
        "pad_token_id": choice("pad_id"),
    }


STRETCHED = {
    "factor": "factor",
    "low_freq_factor": "low_freq_factor",
    "high_freq_factor": "high_freq_factor",
    "original_max_seq_len": "original_max_position_embeddings",
}
"""The numbers by which Llama 3.1 turns slow pairs more slowly: their name -> the library's."""


def rotation(weights: Weights) -> dict[str, Any]:
    """The library's rope_parameters. Raises Misfit for what Llama 3 does not do."""
    prefix = "rope_adjustments."
    options = {
        n.removeprefix(prefix): v for n, v in weights.options.items() if n.startswith(prefix)
    }
    base: dict[str, Any] = {"rope_theta": weights.number("rope_base", 10000)}
    if not options:
        return base | {"rope_type": "default"}
    if set(options) != set(STRETCHED):
        names = ", ".join(sorted(options))
        raise Misfit(f"has rope_adjustments of {clean(names)}, which is not known here")
    numbers = {STRETCHED[name]: weights.number(prefix + name, 1) for name in STRETCHED}
    return base | {"rope_type": "llama3"} | numbers


def configure_litgpt_llama(weights: Weights) -> dict[str, Any]:
    """A Qwen 2 has biases of queries, keys and values; a Llama all of them or none."""
    require(weights, **LIKE_LLAMA)
    option = weights.options.get
    heads, groups = sizes(weights)
    is_qwen = option("attn_bias") is True and option("bias") is not True
    has_bias = {} if is_qwen else dict.fromkeys(("attention_bias", "mlp_bias"), option("bias"))
    return common(weights) | {
        "architectures": ["Qwen2ForCausalLM" if is_qwen else "LlamaForCausalLM"],
        "model_type": "qwen2" if is_qwen else "llama",
        "num_key_value_heads": groups,
        "head_dim": weights.shape("transformer.h.0.attn.proj.weight")[1] // heads,
        "intermediate_size": weights.shape("transformer.h.0.mlp.fc_1.weight")[0],
        "rms_norm_eps": weights.number("norm_eps", 1e-5),
        "rope_parameters": rotation(weights),
        **has_bias,
    }


LITGPT_LLAMA_MAPPING = LibraryMapping(
    name="litgpt_llama",
    title="Lightning-AI/litgpt (Llama)",
    tells=holds("transformer.h.0.mlp.fc_1.weight"),
    names=LITGPT_LLAMA_NAMES,
    configure=configure_litgpt_llama,
    prepare=apart,
    settings=SETTINGS,
    named_ids=("bos_id", "eos_id"),
    reads_bpe=True,
    starts_prompts=True,
)


# Lightning-AI/litgpt with GPT-NeoX's layers (LayerNorm, GptNeoxMLP): Pythia.

LITGPT_NEOX_NAMES = {
    "transformer.wte": "gpt_neox.embed_in",
    "transformer.ln_f": "gpt_neox.final_layer_norm",
    "lm_head": "lm_head",
    **layered(
        "transformer.h.*. -> gpt_neox.layers.*.",
        {
            "norm_1": "input_layernorm",
            "attn.qkv": "attention.query_key_value",
            "attn.proj": "attention.dense",
            "norm_2": "post_attention_layernorm",
            "mlp.fc": "mlp.dense_h_to_4h",
            "mlp.proj": "mlp.dense_4h_to_h",
        },
    ),
}
ACTIVATIONS = {"none": "gelu", "tanh": "gelu_pytorch_tanh"}


def prepare(weights: Weights) -> Weights:
    """Each head's queries, keys and values together, as the library has them."""
    heads, groups = sizes(weights)
    if heads != groups:
        raise Misfit(f"has {heads} heads in {groups} groups, and a GPT-NeoX has no groups")
    parts = apart(weights).tensors
    tensors: dict[str, Tensor] = {}
    for name, tensor in parts.items():
        if ".attn.query." in name:
            each = (parts[name.replace("query", part)] for part in PARTS)
            by_head = [part.unflatten(0, (heads, -1)) for part in each]
            tensors[name.replace("query", "qkv")] = torch.stack(by_head, 1).flatten(0, 2)
        elif ".attn.key." not in name and ".attn.value." not in name:
            tensors[name] = tensor
    return weights.having(tensors)


def configure_litgpt_neox(weights: Weights) -> dict[str, Any]:
    """Its residual sums stand beside each other or follow each other, as an option says."""
    require(weights, norm_class_name="LayerNorm", bias=True, rope_adjustments=None)
    option = weights.options.get
    activation = option("gelu_approximate", "none")
    if activation not in ACTIVATIONS:
        raise Misfit(f"has gelu_approximate: {activation!r:.40}, which is not known here")
    rope = {"rope_type": "default", "rope_theta": weights.number("rope_base", 10000)}
    return common(weights) | {
        "architectures": ["GPTNeoXForCausalLM"],
        "model_type": "gpt_neox",
        "intermediate_size": weights.shape("transformer.h.0.mlp.fc.weight")[0],
        "layer_norm_eps": weights.number("norm_eps", 1e-5),
        "hidden_act": ACTIVATIONS[activation],
        "use_parallel_residual": option("parallel_residual", True),
        "rope_parameters": rope
        | {"partial_rotary_factor": weights.number("rotary_percentage", 0.25)},
    }


LITGPT_NEOX_MAPPING = LibraryMapping(
    name="litgpt_neox",
    title="Lightning-AI/litgpt (GPT-NeoX)",
    tells=holds("transformer.h.0.mlp.fc.weight", "transformer.h.0.attn.qkv.bias"),
    names=LITGPT_NEOX_NAMES,
    configure=configure_litgpt_neox,
    prepare=prepare,
    settings=SETTINGS,
    named_ids=("bos_id", "eos_id"),
    reads_bpe=True,
)


MAPPING = (
    LITGPT_LLAMA_MAPPING,
    LITGPT_NEOX_MAPPING,
)
