"""English to German with an encoder twice as deep, for whoever has a GPU or much time.

python -m transformer train en-de-deep --data DIR --from en-de

The encoder has three layers more than that of en-de; they begin as ones that change next to
nothing.

From random weights six post-norm layers ask for a slower warm-up (Xiong et al. 2020, "On layer
normalization in the Transformer architecture"): a run that rose to 1.2e-3 in 780 steps, in
batches of 25,000 tokens, had one vector for all positions of a source after 417 million tokens.
Another, of d_model 320, that rose to 9e-4 in 3,500 steps from projections of .6 of Glorot's width,
kept them apart.
"""

from dataclasses import replace

from transformer.training.recipes.en_de import preparing
from transformer.training.recipes.en_de_long import RECIPE as EN_DE_LONG
from transformer.training.recipes.en_de_long import SHARES

RECIPE = replace(
    EN_DE_LONG,
    name="en-de-deep",
    about=replace(EN_DE_LONG.about, recipe="en-de-deep"),
    model=replace(EN_DE_LONG.model, vocab_size=14_000, n_encoder_layers=6),
    training=replace(
        EN_DE_LONG.training,
        steps=20_000,
        tokens_per_batch=6000,
        learning_rate=8e-4,
        warmup_steps=400,
        loss_pieces=3300,
        decay_fraction=0.5,
        average_decay=0.999,
        validate_every=1000,
    ),
    prepare=preparing(SHARES, splits_digits=True),
)
