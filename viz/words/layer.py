"""A layer."""

from viz.words.word import HEADS, Word

WORD = Word(
    name="layer",
    title="layer",
    sentence=(
        "One stage of the model: attention, then a feed-forward network, each added to what "
        "came in. Layers and heads count from 0."
    ),
    source="Vaswani et al. 2017, section 3.1",
    spellings=("layers",),
    illustration="layer",
    stands_in=HEADS,
)
