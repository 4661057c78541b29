"""pbloem/former: GTransformer, which goes on with a text (Bloem, "Transformers from scratch").

Norms follow each sublayer; keys, queries and values have no bias. Its heads come "wide", each as
large as the model, which shapes show, or narrow, which they do not. Scores are divided by the root
of a head's size; before May 2024 (e3125a4) by that of the whole embedding, which differs where
heads are narrow. Its first version concatenates the embeddings of tokens and positions and
projects them back (`unify_embeddings`); its heads are all wide.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, layered

EMBEDDING, OUTPUT = "token_embedding.weight", "toprobs.weight"
JOIN = "unify_embeddings.weight"
SHARED = {"pos_embedding.weight": "positions.table", "unify_embeddings": "join.project"}
"""The names that generator and classifier share, beside their blocks."""
BLOCK = {
    "attention.toqueries": "self_attention.query",
    "attention.tokeys": "self_attention.key",
    "attention.tovalues": "self_attention.value",
    "attention.unifyheads": "self_attention.output",
    "norm1": "self_residual.norm",
    "ff.0": "feed_forward.inner",
    "ff.2": "feed_forward.outer",
    "norm2": "feed_residual.norm",
}
IGNORED = (r"tblocks\.\d+\.attention\.mask",)


def is_former(weights: Weights) -> bool:
    """Tell whether these are tensors of this code: of its generator or of its classifier."""
    return weights.has(EMBEDDING) and any(name.startswith("tblocks.") for name in weights.tensors)


def is_generator(weights: Weights) -> bool:
    """Tell whether it gives one probability per token of the vocabulary: the generator does."""
    return is_former(weights) and (
        not weights.has(OUTPUT) or weights.shape(OUTPUT) == weights.shape(EMBEDDING)
    )


def sizes(weights: Weights) -> ModelConfig:
    """The configuration, as far as generator and classifier have it in common."""
    vocab_size, d_model = weights.shape(EMBEDDING)
    wide = weights.shape("tblocks.0.attention.toqueries.weight")[0]
    is_joined = weights.has(JOIN)
    is_wide = wide > d_model or is_joined
    n_heads = wide // d_model if is_wide else weights.heads("heads", "num_heads")
    return ModelConfig(
        family="decoder_only",
        vocab_size=vocab_size,
        d_model=d_model,
        d_ff=weights.shape("tblocks.0.ff.0.weight")[0],
        n_heads=n_heads,
        d_key=d_model if is_wide else None,
        d_value=d_model if is_wide else None,
        n_encoder_layers=0,
        n_decoder_layers=weights.layers("tblocks.*."),
        max_len=weights.shape("pos_embedding.weight")[0],
        attention_bias="output",
        positions="concatenated" if is_joined else "learned",
        tied="none",
        scaled_embeddings=False,
        pad_id=0,
        bos_id=0,
        eos_id=None,
    )


def scale(config: ModelConfig) -> str:
    """Name the one of two scales that narrow heads were given, for the title."""
    if config.d_key == config.d_model:
        return ""
    return f"scores / √{'d_model' if config.attention_scale == 'd_model' else 'd_head'}"


MAPPING = CodeMapping(
    name="former_generator",
    title="pbloem/former (GTransformer)",
    tells=is_generator,
    names={
        **SHARED,
        **layered("tblocks.*. -> decoder.layers.*.", BLOCK),
    },
    embeddings=Embeddings(None, EMBEDDING, OUTPUT),
    configure=sizes,
    ignored=IGNORED,
    assumed=scale,
)
