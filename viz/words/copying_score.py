"""A copying score."""

from viz.words.word import Word

WORD = Word(
    name="copying_score",
    title="copying score",
    sentence=(
        "How far a head copies: near 1, looking at a token makes that same token more likely "
        "and no other."
    ),
    formula=(
        r"\frac{\sum \mathrm{Re} \lambda}{\sum \vert \lambda \vert}, \quad "
        r"\lambda \text{ of } W_E W_V W_O W_U"
    ),
    source="Elhage et al. 2021",
)
