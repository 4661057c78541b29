"""A bit."""

from viz.words.word import Word

WORD = Word(
    name="bits",
    title="bit",
    sentence="The unit of information: 1 bit tells two equally likely cases apart, 2 bits four.",
    formula=r"-\log_2 p",
    source="Shannon 1948",
    spellings=("bits",),
    stands_in=("decode_player",),
)
