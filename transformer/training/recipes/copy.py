"""The copy task, in minutes to 100 % exact copies."""

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.classification import evaluate_copying, prepare_copying
from transformer.training.task import Recipe, TrainingConfig

RECIPE = Recipe(
    name="copy",
    about=About(
        title="Copies a sequence of numbers from 2 to 11",
        recipe="copy",
        tokenizer="numbers",
        examples=("3 7 2 9 4 11 5", "2 2 2 5 5 5 2", "11 10 9 8"),
    ),
    model=ModelConfig(
        vocab_size=12,
        d_model=64,
        d_ff=128,
        n_heads=4,
        n_encoder_layers=2,
        n_decoder_layers=2,
        dropout=0.0,
        max_len=7,
        eos_id=None,
    ),
    training=TrainingConfig(
        steps=2000,
        tokens_per_batch=900,
        learning_rate=2e-3,
        warmup_steps=100,
        average_decay=0.99,
        validate_every=500,
        snapshots=12,
    ),
    prepare=prepare_copying,
    evaluate=evaluate_copying,
    scored="Greedy decoding; a copy is exact when every number is right.",
    data="Generated: random sequences of the numbers 2 to 11; 1,000 are held out for the test.",
)
