"""A generator of everyday English sentences, piece by piece.

python -m transformer train everyday --data DIR
"""

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.config import TrainingConfig
from transformer.training.generation import evaluate_sentences, prepare_sentences
from transformer.training.task import Recipe

RECIPE = Recipe(
    name="everyday",
    about=About(
        title="Goes on with an everyday English sentence",
        recipe="everyday",
        tokenizer="sentencepiece",
        examples=("I would like to", "The weather is", "She told me that she"),
    ),
    model=ModelConfig(
        family="decoder_only",
        vocab_size=4000,
        d_model=192,
        d_ff=768,
        n_heads=6,
        n_encoder_layers=0,
        n_decoder_layers=4,
        dropout=0.1,
        max_len=64,
        norm_order="pre",
        activation="gelu",
    ),
    training=TrainingConfig(
        steps=3000,
        tokens_per_batch=1600,
        learning_rate=2e-3,
        warmup_steps=200,
        decay_fraction=0.7,
        label_smoothing=0.0,
        weight_decay=0.05,
        average_decay=0.998,
        validate_every=500,
    ),
    prepare=prepare_sentences,
    evaluate=evaluate_sentences,
    scored="Per piece, given the pieces before it; the end of the sentence counts as a piece.",
    data=(
        "English sentences of [Tatoeba](https://tatoeba.org), as selected by "
        "[ManyThings.org](https://www.manythings.org/anki/), licence "
        "[CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/). "
        "The held-out sentences are not in the training set."
    ),
)
