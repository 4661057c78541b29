"""What a row of a decoder is named by."""

from viz.words.word import HEADS, Word

WORD = Word(
    name="row",
    title="writing, reading",
    sentence=(
        "A row of the decoder is one step, which has just read one token and writes the next: "
        "it is named by the one that it writes, or by the one that it has read."
    ),
    source="Vaswani et al. 2017, section 3.1",
    spellings=("writing", "reading"),
    illustration="row",
    stands_in=HEADS,
)
