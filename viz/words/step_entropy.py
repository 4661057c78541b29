"""The entropy of a step of decoding."""

from viz.words.word import Word

WORD = Word(
    name="step_entropy",
    title="entropy of a step",
    sentence=(
        "How unsure the model is of the next token: 0 bits if one candidate is certain, 1 bit "
        "as for a fair coin."
    ),
    formula=r"H = -\sum_w p_w \log_2 p_w",
    source="Shannon 1948",
    spellings=("entropy",),
    illustration="candidates",
    stands_in=("decode_player",),
)
