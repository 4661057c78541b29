"""The scale of the scores."""

from viz.words.word import Word

WORD = Word(
    name="scale",
    title="scale",
    sentence=(
        "What q·k is multiplied by, so that scores do not grow with the size of a head and the "
        "softmax stays soft."
    ),
    formula=r"\frac{1}{\sqrt{d}}",
    source="Vaswani et al. 2017, section 3.2.1",
    stands_in=("cell_steps",),
)
