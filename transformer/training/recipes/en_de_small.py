"""English to German, small enough to ship with snapshots of its training."""

from dataclasses import replace

from transformer.training.recipes.en_de import RECIPE as EN_DE

RECIPE = replace(
    EN_DE,
    name="en-de-small",
    about=replace(
        EN_DE.about,
        title="English to German, small",
        recipe="en-de-small",
    ),
    model=replace(EN_DE.model, vocab_size=4000, d_model=128, d_ff=512, n_heads=4),
    training=replace(EN_DE.training, steps=12000, tokens_per_batch=2400, snapshots=12),
)
