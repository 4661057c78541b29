"""The classifier of film reviews once more, with mean pooling.

python -m transformer train sentiment-mean --data DIR
"""

from dataclasses import replace

from transformer.training.recipes.sentiment import RECIPE as MAX

RECIPE = replace(
    MAX,
    name="sentiment-mean",
    about=replace(MAX.about, recipe="sentiment-mean", title=f"{MAX.about.title} (mean pooling)"),
    model=replace(MAX.model, pooling="mean"),
)
