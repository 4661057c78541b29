"""How much where a head looks depends on positions."""

from viz.words.word import Word

WORD = Word(
    name="position_dependence",
    title="position dependence",
    sentence=(
        "How differently a head looks once positions are changed: the Jensen-Shannon divergence of "
        "its rows from those of the run without edits, mean over queries, in bits."
    ),
    formula=r"\frac{1}{Q} \sum_i JS(A_i, A'_i)",
    source="after Sinha et al. 2022",
)
