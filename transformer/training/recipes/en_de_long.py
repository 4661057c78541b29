"""English to German, for long sentences too: news, parliament, novels and manuals beside the rest.

python -m transformer train en-de-long --data DIR --from en-de

The encoder has three layers more than that of en-de; they begin as ones that change next to
nothing. Each digit is a piece. The rate stays level for half of the steps, so that their number may
be changed until then.

From random weights six post-norm layers ask for a slower warm-up (Xiong et al. 2020, "On layer
normalization in the Transformer architecture"): a run that rose to 1.2e-3 in 780 steps, in
batches of 25,000 tokens, had one vector for all positions of a source after 417 million tokens.
"""

from dataclasses import replace

from transformer.training.config import TrainingConfig
from transformer.training.recipes.en_de import RECIPE as EN_DE
from transformer.training.recipes.en_de import preparing

SHARES = {
    "words": (0.04, 0.03),
    "rare": (0.01, 0.00),
    "substituted": (0.09, 0.07),
    "sentences": (0.26, 0.40),
    "joined": (0.04, 0.04),
    "examples": (0.03, 0.03),
    "news": (0.10, 0.10),
    "talk": (0.01, 0.01),
    "world": (0.07, 0.09),
    "patterns": (0.05, 0.05),
    "general": (0.10, 0.11),
    "parliament": (0.08, 0.06),
    "narrative": (0.15, 0.12),
    "bible": (0.02, 0.01),
    "technical": (0.08, 0.06),
    "neighbours": (0.03, 0.03),
}
RECIPE = replace(
    EN_DE,
    name="en-de-long",
    about=replace(EN_DE.about, recipe="en-de-long"),
    model=replace(EN_DE.model, vocab_size=14_000, n_encoder_layers=6),
    training=TrainingConfig(
        steps=20_000,
        tokens_per_batch=6000,
        learning_rate=8e-4,
        warmup_steps=400,
        decay_fraction=0.5,
        loss_pieces=3300,
        average_decay=0.999,
        validate_every=1000,
    ),
    prepare=preparing(SHARES, splits_digits=True),
    data=(
        f"{EN_DE.data} Beside these, pairs of long sentences, each source under its own licence: "
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
