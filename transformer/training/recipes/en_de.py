"""English to German, the checkpoint of the first screen: sentences, a dictionary and news.

python -m transformer train en-de --data DIR --from OLD

OLD is a checkpoint whose weights the run begins with; without it they are random. The shipped
weights are an average of those after the last three of twelve runs: their card tells of all.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.config import TrainingConfig
from transformer.training.evaluation.parts import PARTS, SCORED, evaluate
from transformer.training.task import Recipe, Task, TrainingError


def preparing(
    shares: Mapping[str, tuple[float, float]], **choices: Any
) -> Callable[[Recipe, Path | None, Path], Task]:
    """Make the mixture with these `Shares`, those left out being as usual, for a recipe.

    What makes it is imported only then, as it is not installed: that ends in a TrainingError.
    """

    def prepare(recipe: Recipe, data: Path | None, work: Path) -> Task:
        try:
            from transformer.training.recipes.en_de_data import mixture
        except ModuleNotFoundError as error:
            raise TrainingError(
                f"{recipe.name} is trained in a copy of the repository: what makes its data is "
                "not installed."
            ) from error
        return mixture.prepare(recipe, data, work, mixture.Shares(**shares), **choices)

    return prepare


RECIPE = Recipe(
    name="en-de",
    about=About(
        title="English to German",
        recipe="en-de",
        tokenizer="sentencepiece",
        examples=(
            "The animal didn't cross the street because it was too tired.",
            "I have never seen such a beautiful house.",
            "She didn't come to school yesterday because she was ill.",
        ),
    ),
    model=ModelConfig(
        vocab_size=12000,
        d_model=256,
        d_ff=1024,
        n_heads=8,
        n_encoder_layers=3,
        n_decoder_layers=3,
        dropout=0.1,
    ),
    training=TrainingConfig(
        steps=9000,
        tokens_per_batch=2000,
        learning_rate=8e-4,
        warmup_steps=300,
        decay_fraction=0.8,
        loss_pieces=3000,
        average_decay=0.998,
        validate_every=1500,
    ),
    prepare=preparing({}),
    evaluate=evaluate,
    parts=PARTS,
    scored=SCORED,
    data=(
        "Sentence pairs of [Tatoeba](https://tatoeba.org), as selected by "
        "[ManyThings.org](https://www.manythings.org/anki/), licence "
        "[CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/). "
        "Words, phrases and example sentences of the dictionary Ding (Frank Richter, TU Chemnitz), "
        "licence GPL, version 2 or later. The news test sets of WMT 2008-2020 except that of 2014, "
        "freely available for research. Three thousand sentences such as people type, three "
        "hundred about attention, talks and the world, a hundred with gaps, and seven hundred "
        "everyday nouns to fill them, written for this project (`world.tsv`, `talk.tsv`, "
        "`patterns.tsv` and `nouns.tsv` in `transformer/training/recipes/en_de_data`). Some "
        "sentences are changed on the way: joined, in lower case, with no final stop, with other "
        "names, nouns, verbs, numbers or spelling. No sentence of a validation or test set, of "
        "newstest2014 or of the stage sets, compared in lower case by letters and digits, is in "
        "the training set. Multi30k (research and education only) is used to "
        "evaluate, never to train."
    ),
)
