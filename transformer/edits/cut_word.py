"""A word of the source that the decoder may not read."""

from transformer.edits.edit import EditKind

EDIT = EditKind(
    name="cut-word",
    title="Cut a word off from the decoder",
    of="read word",
    explain=(
        "Cross-attention sees no piece of the word, in any layer or head; the encoder does, and "
        "may have carried what it says to other words."
    ),
    formula=r"s_{ij} = -\infty \quad (j \in G)",
    source="attention knockout: Geva et al. 2023",
    closes={"cross": ("cross",)},
)
