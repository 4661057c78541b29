"""hyunwoongko/transformer, as its train.py saves it: a state dict, saved/model-LOSS.pt.

Norms follow each sublayer, with an eps of 1e-12, and nothing closes a stack; embeddings are not
scaled, and sinusoids are not saved. Before December 2022 (9c5515d, 2eb96c7) its mask hid nothing
and its norm divided by the unbiased deviation: such models are not told apart.
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

SOURCE, TARGET = "encoder.emb.tok_emb.weight", "decoder.emb.tok_emb.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, "decoder.linear.weight")
_ATTENTION = {"w_q": "query", "w_k": "key", "w_v": "value", "w_concat": "output"}


def _norm(theirs: str, ours: str) -> Names:
    return {f"{theirs}.gamma": f"{ours}.norm.weight", f"{theirs}.beta": f"{ours}.norm.bias"}


_FEED = {"ffn.linear1": "feed_forward.inner", "ffn.linear2": "feed_forward.outer"}
NAMES = {
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("attention. -> self_attention.", _ATTENTION),
            **_FEED,
            **_norm("norm1", "self_residual"),
            **_norm("norm2", "feed_residual"),
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("self_attention. -> self_attention.", _ATTENTION),
            **layered("enc_dec_attention. -> cross_attention.", _ATTENTION),
            **_FEED,
            **_norm("norm1", "self_residual"),
            **_norm("norm2", "cross_residual"),
            **_norm("norm3", "feed_residual"),
        },
    ),
}


def configure(weights: Weights) -> ModelConfig:
    """No shape says n_heads."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.ffn.linear1.weight")[0],
        n_heads=weights.heads("n_heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=256,
        norm_eps=1e-12,
        tied="none",
        scaled_embeddings=False,
        **TORCHTEXT,
    )


MAPPING = CodeMapping(
    name="hyunwoongko",
    title="hyunwoongko/transformer",
    tells=holds("encoder.layers.0.attention.w_concat.weight", SOURCE),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    frames_source=(True, True),
)
