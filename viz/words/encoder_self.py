"""Self-attention of an encoder."""

from viz.words.word import Word

WORD = Word(
    name="encoder_self",
    title="encoder self-attention",
    sentence="Each source token looks at all source tokens, earlier and later ones.",
    formula=r"Q = X W_Q, \quad K = X W_K",
    source="Vaswani et al. 2017, section 3.2.3",
    spellings=("Encoder",),
    stands_in=("head_grid", "head_map", "snapshot_player"),
)
