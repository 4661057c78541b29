"""A head."""

from viz.words.word import HEADS, Word

WORD = Word(
    name="head",
    title="head",
    sentence=(
        "One of several attentions that a layer runs side by side, each with queries, keys and "
        "values of its own. Layers and heads count from 0."
    ),
    formula="o^h = A^h V^h",
    source="Vaswani et al. 2017, section 3.2.2",
    spellings=("heads",),
    illustration="head",
    stands_in=HEADS,
)
