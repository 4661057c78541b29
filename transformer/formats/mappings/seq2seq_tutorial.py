"""bentrevett/pytorch-seq2seq, tutorial 6, as the notebook saves it: a state dict, tut6-model.pt.

Norms follow each sublayer; encoder and decoder each learn positions of their own.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import TORCHTEXT, CodeMapping, Embeddings, holds, layered

SOURCE, TARGET = "encoder.tok_embedding.weight", "decoder.tok_embedding.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, "decoder.fc_out.weight")
TABLES = ("encoder.pos_embedding.weight", "decoder.pos_embedding.weight")
_ATTENTION = {"fc_q": "query", "fc_k": "key", "fc_v": "value", "fc_o": "output"}
_LAYER = {
    **layered("self_attention. -> self_attention.", _ATTENTION),
    "self_attn_layer_norm": "self_residual.norm",
    "ff_layer_norm": "feed_residual.norm",
    "positionwise_feedforward.fc_1": "feed_forward.inner",
    "positionwise_feedforward.fc_2": "feed_forward.outer",
}
NAMES = {
    TABLES[0]: "source_positions.table",
    TABLES[1]: "positions.table",
    **layered("encoder.layers.*. -> encoder.layers.*.", _LAYER),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **_LAYER,
            **layered("encoder_attention. -> cross_attention.", _ATTENTION),
            "enc_attn_layer_norm": "cross_residual.norm",
        },
    ),
}


def prepare(weights: Weights) -> Weights:
    """Tables of one length, the shorter one's: positions beyond it have nothing to meet."""
    n = min(weights.shape(name)[0] for name in TABLES)
    return weights.having(
        {**weights.tensors, **{name: weights.tensors[name][:n] for name in TABLES}}
    )


def configure(weights: Weights) -> ModelConfig:
    """No shape says n_heads."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.positionwise_feedforward.fc_1.weight")[0],
        n_heads=weights.heads("n_heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=weights.shape(TABLES[1])[0],
        positions="learned",
        source_positions=True,
        tied="none",
        **TORCHTEXT,
    )


MAPPING = CodeMapping(
    name="seq2seq_tutorial",
    title="bentrevett/pytorch-seq2seq (tutorial 6)",
    tells=holds("encoder.layers.0.self_attention.fc_q.weight", SOURCE),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    prepare=prepare,
    frames_source=(True, True),
)
