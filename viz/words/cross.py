"""Cross-attention."""

from viz.words.word import Word

WORD = Word(
    name="cross",
    title="cross-attention",
    sentence=(
        "Each token of the target looks at the source: queries come from the decoder, keys and "
        "values from the encoder."
    ),
    formula=r"Q = Y W_Q, \quad K = X W_K",
    source="Vaswani et al. 2017, section 3.2.3",
    spellings=("Cross",),
    stands_in=("head_grid", "head_map", "snapshot_player"),
)
