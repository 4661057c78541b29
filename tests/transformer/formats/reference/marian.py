"""Marian's model.npz, from Hugging Face's MarianMTModel, and what Marian itself does otherwise.

Hugging Face's conversion (convert_marian_to_pytorch.py) takes each matrix transposed, layers from
0 and one more token of zeros to start from. Two things it does a little differently from Marian
are set here as Marian has them: the sinusoids (`inits::sinusoidalPositionEmbeddings`) and the eps
of layer norms (transformer.h, 1e-6).
"""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

PARTS = {
    "self_Wq": "self_attn.q_proj.weight",
    "self_Wk": "self_attn.k_proj.weight",
    "self_Wv": "self_attn.v_proj.weight",
    "self_Wo": "self_attn.out_proj.weight",
    "self_bq": "self_attn.q_proj.bias",
    "self_bk": "self_attn.k_proj.bias",
    "self_bv": "self_attn.v_proj.bias",
    "self_bo": "self_attn.out_proj.bias",
    "self_Wo_ln_scale": "self_attn_layer_norm.weight",
    "self_Wo_ln_bias": "self_attn_layer_norm.bias",
    "ffn_W1": "fc1.weight",
    "ffn_b1": "fc1.bias",
    "ffn_W2": "fc2.weight",
    "ffn_b2": "fc2.bias",
    "ffn_ffn_ln_scale": "final_layer_norm.weight",
    "ffn_ffn_ln_bias": "final_layer_norm.bias",
}
CROSS = {
    name.replace("self", "context"): part.replace("self_attn", "encoder_attn")
    for name, part in PARTS.items()
    if name.startswith("self")
}
YAML = """bert-mask-symbol: "[MASK]"
dec-depth: {layers}
dim-vocabs:
  - {vocab}
  - {vocab}
enc-depth: {layers}
tied-embeddings-all: true
transformer-decoder-autoreg: self-attention
transformer-ffn-activation: {activation}
transformer-heads: {heads}
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-preprocess: ""
type: transformer
version: v1.9.0"""


def marian_sinusoids(n_positions: int, d_model: int) -> Tensor:
    """As the C++ loops: a sine and a cosine at a time."""
    half = d_model // 2
    increment = math.log(10000.0) / (half - 1)
    table = torch.zeros(n_positions, d_model)
    for p in range(n_positions):
        for i in range(half):
            angle = p * math.exp(i * -increment)
            table[p, i], table[p, half + i] = math.sin(angle), math.cos(angle)
    return table


def as_marian(model: Any) -> None:
    """Give a MarianMTModel Marian's own positions, norms and start: a vector of zeros."""
    for side in (model.model.encoder, model.model.decoder):
        positions = side.embed_positions.weight
        positions.copy_(marian_sinusoids(*positions.shape))
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = 1e-6
    model.model.shared.weight[-1] = 0.0


def npz_arrays(model: Any, vocab: int) -> dict[str, np.ndarray]:
    """A MarianMTModel's weights under Marian's names, in its shapes."""
    state = model.state_dict()
    arrays = {"Wemb": state["model.shared.weight"][:vocab].numpy()}
    arrays["decoder_ff_logit_out_b"] = state["final_logits_bias"][:, :vocab].numpy()
    for side, parts in (("encoder", PARTS), ("decoder", PARTS | CROSS)):
        for layer in range(len(getattr(model.model, side).layers)):
            for name, part in parts.items():
                tensor = state[f"model.{side}.layers.{layer}.{part}"]
                array = tensor.T if tensor.dim() == 2 else tensor[None]  # [in, out]; [1, out]
                arrays[f"{side}_l{layer + 1}_{name}"] = array.contiguous().numpy()
    return arrays


def yaml_array(**values: Any) -> np.ndarray:
    """special:model.yml: text as bytes, closed by a zero."""
    return np.frombuffer(YAML.format(**values).encode() + b"\0", dtype=np.int8)
