"""The softmax."""

from viz.words.word import Word

WORD = Word(
    name="softmax",
    title="softmax",
    sentence=(
        "Turns a row of scores into weights that are positive and sum to 1; a score that is 1 "
        "higher gets 2.72 times the weight."
    ),
    formula=r"A_{ij} = \frac{e^{s_{ij}}}{\sum_{j'} e^{s_{ij'}}}",
    source="Vaswani et al. 2017, section 3.2.1",
    illustration="row",
    stands_in=("cell_steps",),
)
