"""Code that names its parts after letters: E embeds, layers count from 1, W_q projects."""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, holds, layered

LAYER = {
    "W_q": "self_attention.query",
    "W_k": "self_attention.key",
    "W_v": "self_attention.value",
    "W_o": "self_attention.output",
    "N_1": "self_residual.norm",
    "F_1": "feed_forward.inner",
    "F_2": "feed_forward.outer",
    "N_2": "feed_residual.norm",
}


def configure(weights: Weights) -> ModelConfig:
    """Sizes from the shapes; every head is four wide."""
    vocab_size, d_model = weights.shape("E.weight")
    return ModelConfig(
        family="decoder_only",
        vocab_size=vocab_size,
        d_model=d_model,
        d_ff=weights.shape("layer_1.F_1.weight")[0],
        n_heads=d_model // 4,
        n_encoder_layers=0,
        n_decoder_layers=weights.layers("layer_*."),
        max_len=32,
        tied="none",
        eos_id=None,
    )


MAPPING = CodeMapping(
    name="plain_names",
    title="Letters for names",
    tells=holds("layer_1.W_q.weight"),
    names=layered("layer_*. -> decoder.layers.*.", LAYER),
    embeddings=Embeddings(None, "E.weight", "U.weight"),
    configure=configure,
    first_layer=1,
)
