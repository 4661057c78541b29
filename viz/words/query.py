"""A query."""

from viz.words.word import Word

WORD = Word(
    name="query",
    title="query",
    sentence=(
        "The vector of the token that looks: it is compared with the key of every token that it "
        "may look at. Rows are queries."
    ),
    formula="q_i = x_i W_Q",
    source="Vaswani et al. 2017, section 3.2",
    spellings=("queries",),
    illustration="row",
    stands_in=("head_view", "cell_steps"),
)
