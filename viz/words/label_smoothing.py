"""Label smoothing."""

from viz.words.word import Word

WORD = Word(
    name="label_smoothing",
    title="label smoothing",
    sentence=(
        "The target keeps most of its probability, and a little, ε, is spread evenly over the "
        "whole vocabulary."
    ),
    formula=r"p_w = (1 - \varepsilon) [w = y] + \frac{\varepsilon}{V}",
    source="Vaswani et al. 2017, section 5.4",
)
