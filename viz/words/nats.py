"""A nat."""

from viz.words.word import Word

WORD = Word(
    name="nats",
    title="nat",
    sentence=(
        "The unit of information where logarithms are natural: 1 nat is 1.44 bits. Losses are "
        "given in nats."
    ),
    formula=r"-\ln p",
    source="Shannon 1948",
    spellings=("nats",),
    stands_in=("snapshot_player",),
)
