"""A value."""

from viz.words.word import Word

WORD = Word(
    name="value",
    title="value",
    sentence=(
        "The vector that a token hands to every query that looks at it, in proportion to the "
        "weight."
    ),
    formula=r"v_j = x_j W_V, \quad o_i = \sum_j A_{ij} v_j",
    source="Vaswani et al. 2017, section 3.2",
    spellings=("values",),
    illustration="row",
    stands_in=("cell_steps",),
)
