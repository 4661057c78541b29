"""The Annotated Transformer (Harvard NLP; Rush 2018, Huang et al. 2022).

x + sublayer(norm(x)), and a norm that closes each stack: a_2 (x - mean) / (deviation + eps) + b_2
with the unbiased deviation.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, holds, layered

EMBEDDINGS = Embeddings("src_embed.0.lut.weight", "tgt_embed.0.lut.weight", "generator.proj.weight")
_ATTENTION = {f"linears.{i}": part for i, part in enumerate(("query", "key", "value", "output"))}
_NORM = {"a_2": "weight", "b_2": "bias"}
_LAYER = {
    **layered("self_attn. -> self_attention.", _ATTENTION),
    **layered("sublayer.0.norm. -> self_residual.norm.", _NORM),
    "feed_forward.w_1": "feed_forward.inner",
    "feed_forward.w_2": "feed_forward.outer",
}
NAMES = {
    **layered("encoder.norm. -> encoder.norm.", _NORM),
    **layered("decoder.norm. -> decoder.norm.", _NORM),
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {**_LAYER, **layered("sublayer.1.norm. -> feed_residual.norm.", _NORM)},
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **_LAYER,
            **layered("src_attn. -> cross_attention.", _ATTENTION),
            **layered("sublayer.1.norm. -> cross_residual.norm.", _NORM),
            **layered("sublayer.2.norm. -> feed_residual.norm.", _NORM),
        },
    ),
}


def configure(weights: Weights) -> ModelConfig:
    """No shape says the heads h. Ids as `build_vocabulary` sets them: 0 start, 1 end, 2 padding."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.feed_forward.w_1.weight")[0],
        n_heads=weights.heads("h"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=5000,
        norm_order="pre",
        norm="deviation",
        norm_eps=1e-6,
        tied="none",
        pad_id=2,
        bos_id=0,
        eos_id=1,
    )


MAPPING = CodeMapping(
    name="annotated",
    title="The Annotated Transformer",
    tells=holds("encoder.layers.0.self_attn.linears.0.weight", "src_embed.0.lut.weight"),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    tables=("src_embed.1.pe", "tgt_embed.1.pe"),
    frames_source=(True, True),
)
