"""pbloem/former: CTransformer, which says what a text is; its pooling takes the maximum."""

from dataclasses import replace

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.former_generator import (
    BLOCK,
    EMBEDDING,
    IGNORED,
    OUTPUT,
    SHARED,
    is_former,
    is_generator,
    scale,
    sizes,
)
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, layered


def configure(weights: Weights) -> ModelConfig:
    """The configuration; classes are called by their numbers unless the sidecar names them."""
    config = sizes(weights)
    return replace(
        config,
        family="encoder_classifier",
        n_encoder_layers=config.n_decoder_layers,
        n_decoder_layers=0,
        pooling="max",
        pad_id=min(1, config.vocab_size - 1),  # torchtext's
        classes=tuple(f"class {i}" for i in range(weights.shape(OUTPUT)[0])),
    )


MAPPING = CodeMapping(
    name="former_classifier",
    title="pbloem/former (CTransformer)",
    tells=lambda weights: is_former(weights) and not is_generator(weights),
    names={
        **SHARED,
        "toprobs": "classify",
        **layered("tblocks.*. -> encoder.layers.*.", BLOCK),
    },
    embeddings=Embeddings(None, EMBEDDING, None),
    configure=configure,
    ignored=IGNORED,
    assumed=scale,
)
