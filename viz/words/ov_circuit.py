"""An OV circuit."""

from viz.words.word import Word

WORD = Word(
    name="ov_circuit",
    title="OV circuit",
    sentence=(
        "What a head writes once it looks at a token, by its matrices only: which next tokens "
        "become more likely."
    ),
    formula="W_E W_V W_O W_U",
    source="Elhage et al. 2021",
)
