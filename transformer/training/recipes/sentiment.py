"""A classifier of film reviews, trained only on MR.

python -m transformer train sentiment --data DIR
"""

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.classification import evaluate, prepare
from transformer.training.config import TrainingConfig
from transformer.training.task import Recipe

RECIPE = Recipe(
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
