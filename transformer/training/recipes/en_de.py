"""English to German, the checkpoint of the first screen.

python -m transformer train en-de --data DIR
"""

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.config import TrainingConfig
from transformer.training.evaluation.parts import PARTS, SCORED, evaluate
from transformer.training.task import Recipe
from transformer.training.translation import prepare

RECIPE = Recipe(
    name="en-de",
    about=About(
        title="English to German",
        recipe="en-de",
        tokenizer="sentencepiece",
        examples=(
            "The animal didn't cross the street because it was too tired.",
            "I would like a cup of coffee, please.",
            "She didn't come to school yesterday because she was ill.",
        ),
        opens_at=("cross", 2, 3),
    ),
    model=ModelConfig(
        vocab_size=8000,
        d_model=256,
        d_ff=1024,
        n_heads=8,
        n_encoder_layers=3,
        n_decoder_layers=3,
        dropout=0.1,
    ),
    training=TrainingConfig(
        steps=16000,
        tokens_per_batch=1400,
        learning_rate=1.2e-3,
        warmup_steps=400,
        decay_fraction=0.6,
        average_decay=0.998,
        validate_every=1500,
    ),
    prepare=prepare,
    evaluate=evaluate,
    parts=PARTS,
    scored=SCORED,
    data=(
        "Sentence pairs of [Tatoeba](https://tatoeba.org), as selected by "
        "[ManyThings.org](https://www.manythings.org/anki/), licence "
        "[CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/). "
        "No sentence of a validation or test set, compared in lower case by letters and digits, "
        "is in the training set. Multi30k (research and education only) is used to evaluate, "
        "never to train."
    ),
)
