"""gordicaleksa/pytorch-original-transformer, as its training_script.py saves it.

{"dataset_name", "language_direction", "num_of_epochs", "batch_size", "state_dict"}. Norms before
each sublayer, and one that closes each stack.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import TORCHTEXT, CodeMapping, Embeddings, holds, layered

SOURCE, TARGET = "src_embedding.embeddings_table.weight", "trg_embedding.embeddings_table.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, "decoder_generator.linear.weight")
_ATTENTION = {
    "qkv_nets.0": "query",
    "qkv_nets.1": "key",
    "qkv_nets.2": "value",
    "out_projection_net": "output",
}
_FEED = {
    "pointwise_net.linear1": "feed_forward.inner",
    "pointwise_net.linear2": "feed_forward.outer",
}
NAMES = {
    "encoder.norm": "encoder.norm",
    "decoder.norm": "decoder.norm",
    **layered(
        "encoder.encoder_layers.*. -> encoder.layers.*.",
        {
            **layered("multi_headed_attention. -> self_attention.", _ATTENTION),
            **_FEED,
            "sublayers.0.norm": "self_residual.norm",
            "sublayers.1.norm": "feed_residual.norm",
        },
    ),
    **layered(
        "decoder.decoder_layers.*. -> decoder.layers.*.",
        {
            **layered("trg_multi_headed_attention. -> self_attention.", _ATTENTION),
            **layered("src_multi_headed_attention. -> cross_attention.", _ATTENTION),
            **_FEED,
            "sublayers.0.norm": "self_residual.norm",
            "sublayers.1.norm": "cross_residual.norm",
            "sublayers.2.norm": "feed_residual.norm",
        },
    ),
}


def configure(weights: Weights) -> ModelConfig:
    """No shape says the heads."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.encoder_layers.0.pointwise_net.linear1.weight")[0],
        n_heads=weights.heads("number_of_heads"),
        n_encoder_layers=weights.layers("encoder.encoder_layers.*."),
        n_decoder_layers=weights.layers("decoder.decoder_layers.*."),
        max_len=5000,
        norm_order="pre",
        tied="none",
        **TORCHTEXT,
    )


MAPPING = CodeMapping(
    name="original_transformer",
    title="gordicaleksa/pytorch-original-transformer",
    tells=holds("encoder.encoder_layers.0.multi_headed_attention.qkv_nets.0.weight", SOURCE),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    tables=(
        "src_pos_embedding.positional_encodings_table",
        "trg_pos_embedding.positional_encodings_table",
    ),
)
