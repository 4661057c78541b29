"""torch.nn.Transformer as PyTorch's translation tutorial has it (Seq2SeqTransformer).

The tutorial: "Language Translation with nn.Transformer". Its norms follow each sublayer, and the
encoder and the decoder end in one more.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, Names, holds, layered

EMBEDDINGS = Embeddings(
    "src_tok_emb.embedding.weight", "tgt_tok_emb.embedding.weight", "generator.weight"
)
_SPLIT = ("query", "key", "value")
_ATTENTION: Names = {
    "in_proj_weight": tuple(f"{part}.weight" for part in _SPLIT),
    "in_proj_bias": tuple(f"{part}.bias" for part in _SPLIT),
    "out_proj": "output",
}
_FEED = {"linear1": "feed_forward.inner", "linear2": "feed_forward.outer"}
_SELF = layered("self_attn. -> self_attention.", _ATTENTION) | {"norm1": "self_residual.norm"}
NAMES = {
    "transformer.encoder.norm": "encoder.norm",
    "transformer.decoder.norm": "decoder.norm",
    **layered(
        "transformer.encoder.layers.*. -> encoder.layers.*.",
        {**_SELF, **_FEED, "norm2": "feed_residual.norm"},
    ),
    **layered(
        "transformer.decoder.layers.*. -> decoder.layers.*.",
        {
            **_SELF,
            **layered("multihead_attn. -> cross_attention.", _ATTENTION),
            **_FEED,
            "norm2": "cross_residual.norm",
            "norm3": "feed_residual.norm",
        },
    ),
}


def configure(weights: Weights) -> ModelConfig:
    """No shape says nhead. Ids as in the tutorial: 0 unknown, 1 padding, 2 start, 3 end."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("transformer.encoder.layers.0.linear1.weight")[0],
        n_heads=weights.heads("nhead", "n_head", "num_heads"),
        n_encoder_layers=weights.layers("transformer.encoder.layers.*."),
        n_decoder_layers=weights.layers("transformer.decoder.layers.*."),
        max_len=5000,
        encoder_norm=True,
        decoder_norm=True,
        tied="none",
        pad_id=1,
        bos_id=2,
        eos_id=3,
    )


MAPPING = CodeMapping(
    name="torch_transformer",
    title="torch.nn.Transformer (PyTorch's translation tutorial)",
    tells=holds(
        "transformer.encoder.layers.0.self_attn.in_proj_weight", "src_tok_emb.embedding.weight"
    ),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    tables=("positional_encoding.pos_embedding",),
    frames_source=(True, True),
)
