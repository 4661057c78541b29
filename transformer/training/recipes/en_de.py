"""English to German: the checkpoint of the first screen, and its relatives."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.training.evaluation.parts import PARTS, SCORED, evaluate
from transformer.training.task import Recipe, Task, TrainingConfig, TrainingError

# English to German, the checkpoint of the first screen: sentences, a dictionary and news.
#
# python -m transformer train en-de --data DIR --from OLD
#
# OLD is a checkpoint whose weights the run begins with; without it they are random. The shipped
# weights are an average of those after the last three of twelve runs: their card tells of all.


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


EN_DE_RECIPE = Recipe(
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


# English to German, for long sentences too: news, parliament, novels and manuals beside the rest.
#
# python -m transformer train en-de-long --data DIR
#
# The shipped `en-de`: eleven minutes of a GPU, which another run shared. Each digit is a piece.
# At this size a wider model was better than a deeper one (d_model 384 with 3+3 layers against 320
# with 6+3), and from so many tokens random weights serve: no run of fewer came near.

SHARES = {
    "words": (0.05, 0.03),
    "rare": (0.02, 0.00),
    "substituted": (0.09, 0.07),
    "sentences": (0.28, 0.42),
    "joined": (0.05, 0.05),
    "examples": (0.04, 0.04),
    "news": (0.08, 0.08),
    "talk": (0.01, 0.01),
    "world": (0.06, 0.08),
    "patterns": (0.04, 0.04),
    "general": (0.07, 0.07),
    "parliament": (0.05, 0.05),
    "narrative": (0.15, 0.12),
    "bible": (0.02, 0.01),
    "technical": (0.09, 0.06),
    "neighbours": (0.04, 0.03),
}
EN_DE_LONG_RECIPE = replace(
    EN_DE_RECIPE,
    name="en-de-long",
    about=replace(
        EN_DE_RECIPE.about,
        recipe="en-de-long",
        # With few heads off other words are written of each: the tour names these heads.
        examples=(
            EN_DE_RECIPE.about.examples[0],
            "The old man did not sell the house because it was too beautiful.",
            "He has two small dogs and a big black cat.",
        ),
        # Of 1.0 to 5.0 the best on held-out news and half of the long sentences; .6 lost words.
        decoding={"beam": {"length_penalty": 2.0}},
    ),
    model=replace(EN_DE_RECIPE.model, d_model=384, dropout=0.15),
    training=replace(
        EN_DE_RECIPE.training,
        steps=13_677,
        tokens_per_batch=32_000,
        learning_rate=1e-3,
        warmup_steps=2000,
        decay_fraction=0.55,
        loss_pieces=0,
        average_decay=0.999,
        validate_every=1500,
    ),
    prepare=preparing(SHARES, splits_digits=True),
    data=(
        f"{EN_DE_RECIPE.data} "
        "Beside these, pairs of long sentences, each source under its own licence: "
        "the news and general test sets of WMT 2021-2023, freely available for research; the "
        "first 18,000 pairs of Europarl v7, free of known copyright; XQuAD (CC BY-SA 4.0); the "
        "guides of opensource.guide (CC BY 4.0); African Storybook (CC BY); novels and tales of "
        "Project Gutenberg and others, in the public domain; the Bible in the translations of "
        "Menge and of the World English Bible, in the public domain; the texts of the games Battle "
        "for Wesnoth, Widelands and Freeciv (GPL, version 2 or later), FreeOrion (CC BY-SA 3.0, "
        "GPL, LGPL) and Cataclysm: Dark Days Ahead (CC BY-SA 3.0); the manuals of LibreOffice (MPL "
        "2.0), GNOME (CC BY-SA 3.0), GIMP and LilyPond (GFDL), Debian (GPL; Evolution CC BY-SA "
        "3.0, GnuCash GFDL), Tails (GPL, version 3 or later), PHP (CC BY 3.0), the manual pages of "
        "Linux (GPL, version 3 or later, and the licences of their originals) and the messages of "
        "MediaWiki (GPL, version 2 or later). Two or three sentences that follow each other in a "
        "text are joined at times. The 100 long sentences of FLORES-200 are used to evaluate, "
        "never to train."
    ),
)


# English to German with an encoder twice as deep, for whoever has a GPU or much time.
#
# python -m transformer train en-de-deep --data DIR --from en-de
#
# The encoder has three layers more than that of en-de; they begin as ones that change next to
# nothing.
#
# From random weights six post-norm layers ask for a slower warm-up (Xiong et al. 2020, "On layer
# normalization in the Transformer architecture"): a run that rose to 1.2e-3 in 780 steps, in
# batches of 25,000 tokens, had one vector for all positions of a source after 417 million tokens.
# Another, of d_model 320, that rose to 9e-4 in 3,500 steps from projections of .6 of Glorot's
# width, kept them apart.

EN_DE_DEEP_RECIPE = replace(
    EN_DE_LONG_RECIPE,
    name="en-de-deep",
    about=replace(EN_DE_LONG_RECIPE.about, recipe="en-de-deep"),
    model=replace(EN_DE_LONG_RECIPE.model, vocab_size=14_000, n_encoder_layers=6),
    training=replace(
        EN_DE_LONG_RECIPE.training,
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


# English to German, small enough to ship with snapshots of its training.

EN_DE_SMALL_RECIPE = replace(
    EN_DE_RECIPE,
    name="en-de-small",
    about=replace(
        EN_DE_RECIPE.about,
        title="English to German, small",
        recipe="en-de-small",
    ),
    model=replace(EN_DE_RECIPE.model, vocab_size=4000, d_model=128, d_ff=512, n_heads=4),
    training=replace(EN_DE_RECIPE.training, steps=12000, tokens_per_batch=2400, snapshots=12),
)


RECIPE = (
    EN_DE_RECIPE,
    EN_DE_DEEP_RECIPE,
    EN_DE_LONG_RECIPE,
    EN_DE_SMALL_RECIPE,
)
