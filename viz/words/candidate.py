"""A candidate."""

from viz.words.word import Word

WORD = Word(
    name="candidate",
    title="candidate",
    sentence=(
        "A token that this step could have written, with the probability that the model gives it."
    ),
    formula=r"p(w \vert y_1 \dots y_{t-1}, x)",
    source="Vaswani et al. 2017, section 3.4",
    spellings=("candidates",),
    illustration="candidates",
    stands_in=("decode_player",),
)
