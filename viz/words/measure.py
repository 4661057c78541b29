"""A measure, which the code calls lens."""

from viz.words.word import Word

WORD = Word(
    name="measure",
    title="measure",
    sentence=(
        "What a cell of a map shows for a query and a key: the weight, or another quantity that "
        "is made from it."
    ),
)
