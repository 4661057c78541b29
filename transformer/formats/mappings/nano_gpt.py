"""nanoGPT (Karpathy), as its train.py saves it: {"model", "model_args", "optimizer", ...}.

GPT-2's blocks with the exact GELU. Without `bias` nothing in it has one, norms included. minGPT
names its tensors alike; its GELU is tanh's approximation, which the sidecar can say.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import (
    CodeMapping,
    Embeddings,
    holds,
    layered,
    with_zero_biases,
)

EMBEDDING, OUTPUT = "transformer.wte.weight", "lm_head.weight"
BIASED = (".ln_1.bias", ".ln_2.bias", ".ln_f.bias", ".c_attn.bias", ".c_proj.bias", ".c_fc.bias")
GPT2_SIZES, GPT2_END = (50257, 50304), 50256

NAMES = {
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


def prepare(weights: Weights) -> Weights:
    """`bias=False` takes every bias away; ours are then 0, but for those of attention."""
    if any(name.endswith(BIASED) for name in weights.tensors):
        return weights
    return with_zero_biases(weights, r"transformer\.(ln_f|h\.\d+\.(ln_\d|mlp\.c_fc|mlp\.c_proj))")


def configure(weights: Weights) -> ModelConfig:
    """The number of heads, n_head, is not in any shape."""
    vocab_size, d_model = weights.shape(EMBEDDING)
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


MAPPING = CodeMapping(
    name="nano_gpt",
    title="nanoGPT",
    tells=holds("transformer.wpe.weight", "transformer.h.0.mlp.c_fc.weight"),  # not lit-llama's
    names=NAMES,
    embeddings=Embeddings(None, EMBEDDING, OUTPUT),
    configure=configure,
    prepare=prepare,
    reads_bpe=True,
    ignored=(r"transformer\.h\.\d+\.attn\.(bias|masked_bias)",),
)
