"""Named configurations: the models of the paper, and the variants of it that others wrote up.

>>> PRESETS["pre-norm"].config.norm_order
'pre'
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from transformer.config import ModelConfig


@dataclass(frozen=True)
class Preset:
    """A configuration with a name and a line that says what is special about it."""

    name: str
    explain: str
    config: ModelConfig


_BASE = ModelConfig()

_ANNOTATED = replace(_BASE, norm="scalar", norm_eps=1e-6, norm_order="sublayer", tied="none")

_CLASSIFIER = ModelConfig(
    family="encoder_classifier",
    vocab_size=50_000,
    d_model=128,
    d_ff=512,
    n_heads=8,
    n_encoder_layers=6,
    n_decoder_layers=0,
    dropout=0.0,
    max_len=512,
    d_key=128,
    d_value=128,
    attention_scale="fourth_root",
    attention_bias="output",
    positions="learned",
    tied="none",
    scaled_embeddings=False,
    pooling="max",
    classes=("negative", "positive"),
)

_ALL = (
    Preset(
        "aiayn-base",
        'The base model of "Attention Is All You Need" (table 3), 37,000 joint pieces.',
        replace(_BASE, vocab_size=37_000),
    ),
    Preset(
        "aiayn-big",
        "The big model of the same table: twice as wide, 16 heads, dropout 0.3.",
        replace(_BASE, vocab_size=37_000, d_model=1024, d_ff=4096, n_heads=16, dropout=0.3),
    ),
    Preset(
        "annotated",
        "After The Annotated Transformer: norms of one gain and one bias, applied to what a "
        "sublayer gives; three separate embeddings.",
        _ANNOTATED,
    ),
    Preset(
        "copy-task",
        "The same for the copy task: 7 numbers of an alphabet of 12, where 0 pads and 1 starts.",
        replace(_ANNOTATED, vocab_size=12, d_ff=256, max_len=7, eos_id=None),
    ),
    Preset(
        "post-norm",
        "The paper's order: the norm of the residual sum, after each sublayer.",
        replace(_BASE, norm_order="post"),
    ),
    Preset(
        "pre-norm",
        "The norm before each sublayer and once more after the last: trains without warm-up.",
        replace(_BASE, norm_order="pre"),
    ),
    Preset(
        "batch-norm",
        "Norms over the positions of a batch in place of each position's dimensions.",
        replace(_BASE, norm="batch"),
    ),
    Preset(
        "plain-self-attention",
        "softmax(X X^T) X: attention without a parameter, one head, no positions.",
        replace(
            _CLASSIFIER,
            n_heads=1,
            n_encoder_layers=1,
            d_key=None,
            d_value=None,
            projections=False,
            attention_scale="none",
            positions="none",
            pooling="mean",
        ),
    ),
    Preset(
        "former-generator",
        "The generator of pbloem/former: each head as wide as the model, q and k scaled apart.",
        replace(
            _CLASSIFIER,
            family="decoder_only",
            vocab_size=256,
            n_encoder_layers=0,
            n_decoder_layers=12,
            max_len=256,
            classes=(),
            eos_id=None,
        ),
    ),
    Preset(
        "former-classifier",
        "The classifier of pbloem/former: the same blocks without a mask, then max pooling.",
        _CLASSIFIER,
    ),
    Preset(
        "concatenated-positions",
        "That classifier with positions beside the token embeddings, projected back together.",
        replace(_CLASSIFIER, positions="concatenated"),
    ),
    Preset(
        "separate-key-value-sizes",
        "Keys and values of sizes of their own; a norm closes the encoder, the decoder's "
        "feed-forward sublayer has none.",
        replace(
            _BASE,
            norm_order="sublayer",
            d_key=32,
            d_value=128,
            encoder_norm=True,
            decoder_feed_norm=False,
        ),
    ),
    Preset(
        "marian",
        "Marian as Hugging Face builds it by default, except the order of the sinusoids: "
        "theirs start with all sines.",
        ModelConfig(
            vocab_size=58_101,
            d_model=1024,
            d_ff=4096,
            n_heads=16,
            n_encoder_layers=12,
            n_decoder_layers=12,
            max_len=1024,
            activation="gelu",
            scaled_embeddings=False,
            pad_id=58_100,
            bos_id=58_100,
            eos_id=0,
        ),
    ),
    Preset(
        "gpt2",
        "GPT-2, the smallest: pre-norm, tanh's approximation of GELU, learned positions.",
        ModelConfig(
            family="decoder_only",
            vocab_size=50_257,
            d_model=768,
            d_ff=3072,
            n_heads=12,
            n_encoder_layers=0,
            n_decoder_layers=12,
            max_len=1024,
            norm_order="pre",
            decoder_norm=True,
            activation="gelu_tanh",
            positions="learned",
            tied="output",
            scaled_embeddings=False,
            pad_id=50_256,
            bos_id=50_256,
            eos_id=50_256,
        ),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _ALL})
"""name -> preset."""
