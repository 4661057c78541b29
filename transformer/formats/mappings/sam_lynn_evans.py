"""SamLynnEvans/Transformer, as its train.py saves it: a state dict, weights/model_weights.

Norms like The Annotated Transformer's, before each sublayer and at the end of each stack. The
cosine beside a sine has another wavelength than it, so that its positions are no rotations.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import (
    TORCHTEXT,
    CodeMapping,
    Embeddings,
    Names,
    holds,
    layered,
)

SOURCE, TARGET = "encoder.embed.embed.weight", "decoder.embed.embed.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, "out.weight")
_ATTENTION = {"q_linear": "query", "k_linear": "key", "v_linear": "value", "out": "output"}


def _norm(theirs: str, ours: str) -> Names:
    return {f"{theirs}.alpha": f"{ours}.weight", f"{theirs}.bias": f"{ours}.bias"}


_FEED = {"ff.linear_1": "feed_forward.inner", "ff.linear_2": "feed_forward.outer"}
NAMES = {
    **_norm("encoder.norm", "encoder.norm"),
    **_norm("decoder.norm", "decoder.norm"),
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("attn. -> self_attention.", _ATTENTION),
            **_FEED,
            **_norm("norm_1", "self_residual.norm"),
            **_norm("norm_2", "feed_residual.norm"),
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("attn_1. -> self_attention.", _ATTENTION),
            **layered("attn_2. -> cross_attention.", _ATTENTION),
            **_FEED,
            **_norm("norm_1", "self_residual.norm"),
            **_norm("norm_2", "cross_residual.norm"),
            **_norm("norm_3", "feed_residual.norm"),
        },
    ),
}


def configure(weights: Weights) -> ModelConfig:
    """No shape says the heads."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.ff.linear_1.weight")[0],
        n_heads=weights.heads("heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=200,
        norm_order="pre",
        norm="deviation",
        norm_eps=1e-6,
        tied="none",
        **TORCHTEXT,
    )


MAPPING = CodeMapping(
    name="sam_lynn_evans",
    title="SamLynnEvans/Transformer",
    tells=holds("encoder.layers.0.attn.q_linear.weight", SOURCE),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    tables=("encoder.pe.pe", "decoder.pe.pe"),
)
