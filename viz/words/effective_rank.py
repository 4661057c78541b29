"""An effective rank."""

from viz.words.word import Word

WORD = Word(
    name="effective_rank",
    title="effective rank",
    sentence=(
        "How many directions carry a matrix, from 1 to its rank: where all singular values σ "
        "are equal, it is their number."
    ),
    formula=r"\exp(-\sum_i p_i \ln p_i), \quad p_i = \frac{\sigma_i}{\sum_k \sigma_k}",
    source="Roy and Vetterli 2007",
)
