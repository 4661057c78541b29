"""Small models: generators of sentences and of plays, and classifiers of reviews."""

from dataclasses import replace

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.classification import evaluate, prepare
from transformer.training.generation import (
    evaluate_sentences,
    evaluate_windows,
    prepare_sentences,
    prepare_windows,
)
from transformer.training.task import Recipe, TrainingConfig

# A generator of everyday English sentences, piece by piece.
#
# python -m transformer train everyday --data DIR

EVERYDAY_RECIPE = Recipe(
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


# A generator of characters in the manner of Shakespeare's plays.
#
# python -m transformer train shakespeare --data DIR

SHAKESPEARE_RECIPE = Recipe(
    name="shakespeare",
    about=About(
        title="Goes on in Shakespeare's manner, character by character",
        recipe="shakespeare",
        tokenizer="characters",
        examples=("ROMEO: O, she doth teach", "KING RICHARD: My lord, I", "To be, or not to be"),
    ),
    model=ModelConfig(
        family="decoder_only",
        vocab_size=66,
        d_model=192,
        d_ff=768,
        n_heads=6,
        n_encoder_layers=0,
        n_decoder_layers=4,
        dropout=0.1,
        max_len=160,
        norm_order="pre",
        activation="gelu",
        positions="learned",
        eos_id=None,
    ),
    training=TrainingConfig(
        steps=2200,
        tokens_per_batch=2560,
        learning_rate=2e-3,
        warmup_steps=100,
        decay_fraction=0.7,
        label_smoothing=0.0,
        weight_decay=0.1,
        average_decay=0.99,
        validate_every=500,
    ),
    prepare=prepare_windows,
    evaluate=evaluate_windows,
    scored="Mean negative log-likelihood of each character given up to 159 before it.",
    data=(
        "Tiny Shakespeare, 1.1 million characters of the plays, as collected for "
        "[char-rnn](https://github.com/karpathy/char-rnn); the plays are in the public domain. "
        "The last tenth is held out."
    ),
)


# A classifier of film reviews, trained only on MR.
#
# python -m transformer train sentiment --data DIR

SENTIMENT_RECIPE = Recipe(
    name="sentiment",
    about=About(
        title="Says whether a sentence about a film is positive or negative",
        recipe="sentiment",
        tokenizer="sentencepiece",
        examples=(
            "A gorgeous, witty and moving film.",
            "The plot is dull and it goes on far too long.",
            "The acting is fine, but the story never comes to life.",
        ),
    ),
    model=ModelConfig(
        family="encoder_classifier",
        vocab_size=6000,
        d_model=64,
        d_ff=128,
        n_heads=4,
        n_encoder_layers=1,
        n_decoder_layers=0,
        dropout=0.4,
        max_len=96,
        positions="learned",
        scaled_embeddings=False,
        pooling="max",
        classes=("negative", "positive"),
    ),
    training=TrainingConfig(
        steps=2400,
        tokens_per_batch=2048,
        learning_rate=2e-3,
        warmup_steps=100,
        decay_fraction=1.0,
        weight_decay=0.1,
        average_decay=0.995,
        validate_every=200,
    ),
    prepare=prepare,
    evaluate=evaluate,
    scored="The share of sentences whose more probable class is the one stated.",
    data=(
        "Sentence polarity dataset v1.0 of Bo Pang and Lillian Lee (2005), film reviews in single "
        "sentences, licence [CC BY 4.0](https://creativecommons.org/licenses/by/4.0/), and nothing "
        "else; split at random into 8,660 to train, 1,000 to validate and 1,000 to test."
    ),
)


# The classifier of film reviews once more, with mean pooling.
#
# python -m transformer train sentiment-mean --data DIR

SENTIMENT_MEAN_RECIPE = replace(
    SENTIMENT_RECIPE,
    name="sentiment-mean",
    about=replace(
        SENTIMENT_RECIPE.about,
        recipe="sentiment-mean",
        title=f"{SENTIMENT_RECIPE.about.title} (mean pooling)",
    ),
    model=replace(SENTIMENT_RECIPE.model, pooling="mean"),
)


RECIPE = (
    EVERYDAY_RECIPE,
    SHAKESPEARE_RECIPE,
    SENTIMENT_RECIPE,
    SENTIMENT_MEAN_RECIPE,
)
