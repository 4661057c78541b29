"""A QK circuit."""

from viz.words.word import Word

WORD = Word(
    name="qk_circuit",
    title="QK circuit",
    sentence=(
        "What a head would look at, by its matrices only: how well the key of each token fits the "
        "query of every other."
    ),
    formula=r"W_E W_Q W_K^\top W_E^\top",
    source="Elhage et al. 2021",
)
