"""The Kullback-Leibler divergence."""

from viz.words.word import Word

WORD = Word(
    name="kl_divergence",
    title="KL divergence",
    sentence=(
        "How far the prediction is from the target that is asked for: the part of the loss that "
        "training can still remove."
    ),
    formula=r"\mathrm{KL}(p \parallel q) = \sum_w p_w \ln \frac{p_w}{q_w}",
    source="Kullback and Leibler 1951",
)
