"""An attention sink."""

from viz.words.word import HEADS, Word

WORD = Word(
    name="sink",
    title="attention sink",
    sentence="A key that gets weight where no other key deserves it, often the first one.",
    source="Xiao et al. 2023",
    stands_in=HEADS,
    illustration="row",
)
