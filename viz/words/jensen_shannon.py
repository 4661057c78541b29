"""The Jensen-Shannon divergence of two heads."""

from viz.words.word import Word

WORD = Word(
    name="jensen_shannon",
    title="Jensen-Shannon divergence",
    sentence=(
        "How different the rows of two heads are, mean over queries: 0 bits where they are the "
        "same, 1 bit where they share no key."
    ),
    formula=r"H(\frac{a + b}{2}) - \frac{H(a) + H(b)}{2}",
    source="Lin 1991",
)
