"""A word of the text hidden: nobody looks at it."""

from transformer.edits.edit import EditKind

EDIT = EditKind(
    name="hide",
    title="Hide a word",
    of="read word",
    explain=(
        "Nothing looks at any piece of the word, in any layer or head, as if padding stood there; "
        "the other words keep their positions. What mixes words in another way than by attention, "
        "as convolution or a mean within somebody else's model, still has it."
    ),
    formula=r"s_{ij} = -\infty \quad (j \in G)",
    closes={"source": ("encoder_self", "cross"), "text": ("encoder_self", "decoder_self", "cross")},
)
