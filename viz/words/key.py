"""A key."""

from viz.words.word import HEADS, Word

WORD = Word(
    name="key",
    title="key",
    sentence=(
        "The vector by which a token is found: the better it fits a query, the more that query "
        "looks at its token. Columns are keys."
    ),
    formula="k_j = x_j W_K",
    source="Vaswani et al. 2017, section 3.2",
    spellings=("keys", "looks at"),
    illustration="row",
    stands_in=HEADS,
)
