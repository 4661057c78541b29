"""Lightning-AI/litgpt with GPT-NeoX's layers (LayerNorm, GptNeoxMLP): Pythia."""

from typing import Any

import torch
from torch import Tensor

from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.litgpt_llama import (
    PARTS,
    SETTINGS,
    apart,
    common,
    require,
    sizes,
)
from transformer.formats.mappings.mapping import LibraryMapping, holds, layered

NAMES = {
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


def configure(weights: Weights) -> dict[str, Any]:
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


MAPPING = LibraryMapping(
    name="litgpt_neox",
    title="Lightning-AI/litgpt (GPT-NeoX)",
    tells=holds("transformer.h.0.mlp.fc.weight", "transformer.h.0.attn.qkv.bias"),
    names=NAMES,
    configure=configure,
    prepare=prepare,
    settings=SETTINGS,
    named_ids=("bos_id", "eos_id"),
    reads_bpe=True,
)
