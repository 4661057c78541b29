"""karpathy/llama2.c, as its train.py saves it: {"model", "model_args", "optimizer", ...}.

Llama's layers, whose rotation turns neighbouring dimensions of a head; the library's turns the two
halves, so that rows of queries and keys change places. A story begins and ends with `<s>`, where
its own run.c stops as well.
"""

from typing import Any

from torch import Tensor

from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import LibraryMapping, holds, layered, same

EMBEDDING, OUTPUT = "tok_embeddings.weight", "output.weight"
FIRST = "layers.0.attention.wq.weight"
NAMES = {
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


def prepare(weights: Weights) -> Weights:
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
    d_model, n_heads = weights.shape(EMBEDDING)[1], weights.heads("n_heads")
    if d_model % n_heads or d_model // n_heads % 2:
        raise Misfit(f"has d_model {d_model}, which is not {n_heads} heads of an even size")
    return d_model // n_heads


def configure(weights: Weights) -> dict[str, Any]:
    """Everything is in model_args and in the shapes."""
    vocab_size, d_model = weights.shape(EMBEDDING)
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
        "tie_word_embeddings": weights.has(EMBEDDING, OUTPUT)
        and same(weights.tensors[EMBEDDING], weights.tensors[OUTPUT]),
        "bos_token_id": bos_id,
        "eos_token_id": choice("eos_id", bos_id),
        "pad_token_id": choice("pad_id", 0),
    }


MAPPING = LibraryMapping(
    name="llama2_c",
    title="karpathy/llama2.c",
    tells=holds(FIRST, "layers.0.feed_forward.w3.weight"),
    names=NAMES,
    configure=configure,
    prepare=prepare,
    named_ids=("bos_id",),
    starts_prompts=True,
)
