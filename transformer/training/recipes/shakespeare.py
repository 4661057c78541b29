"""A generator of characters in the manner of Shakespeare's plays.

python -m transformer train shakespeare --data DIR
"""

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.config import TrainingConfig
from transformer.training.generation import evaluate_windows, prepare_windows
from transformer.training.task import Recipe

RECIPE = Recipe(
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
