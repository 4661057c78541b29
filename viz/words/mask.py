"""A mask."""

from viz.words.word import Word

WORD = Word(
    name="mask",
    title="mask",
    sentence=(
        "What a query may not look at: the score becomes −∞ and the weight 0. A decoder must "
        "not see tokens that come later."
    ),
    formula="A_{ij} = 0",
    source="Vaswani et al. 2017, section 3.2.3",
    spellings=("masked",),
    stands_in=("head_grid", "head_map", "cell_steps", "snapshot_player"),
)
