"""Self-attention of a decoder."""

from viz.words.word import Word

WORD = Word(
    name="decoder_self",
    title="decoder self-attention",
    sentence=(
        "Each token of the target looks at itself and at those before it; the mask hides what "
        "is not written yet."
    ),
    formula=r"A_{ij} = 0 \quad \text{for } j > i",
    source="Vaswani et al. 2017, section 3.2.3",
    spellings=("Decoder",),
    stands_in=("head_grid", "head_map", "snapshot_player"),
)
