"""A head's QK or OV circuit between chosen tokens."""

from collections.abc import Sequence

from torch import Tensor

from transformer.token import Token
from viz.exhibits.chart import Axis, Chart
from viz.exhibits.shading import differences
from viz.figures.heat_map import heat_map
from viz.labels import number, word_label

TITLES = {
    "qk": ("QK", "score before the softmax", "query", "key"),
    "ov": ("OV", "what attending adds", "attended token", "token whose logit it moves"),
}
"""Circuit -> its name, what a cell is, and its two sides."""

SMALL = 20
"""Labels of a side where two circuits and the copying scores share a row."""


def chart(circuit: str, values: Tensor, tokens: Sequence[Token], most_labels: int = 64) -> Chart:
    """values: [N, N] between N tokens. circuit: "qk" or "ov"."""
    name, what, rows, columns = TITLES[circuit]
    return heat_map(
        f"circuit {circuit}",
        (name, f": {what}"),
        values,
        Axis(rows, labels=tokens, most_labels=most_labels),
        Axis(columns, labels=tokens, most_labels=most_labels),
        differences("score" if circuit == "qk" else "logit", float(values.abs().amax()) or 1.0),
        is_square=True,
    ).in_words


def describe(circuit: str, values: Tensor, tokens: Sequence[Token]) -> str:
    name, what, *_ = TITLES[circuit]
    row, column = divmod(int(values.argmax()), len(tokens))
    of = f"{word_label(tokens[row])} and {word_label(tokens[column])}"
    return (
        f"{name} circuit between {len(tokens)} tokens, {what}: the largest value is "
        f"{number(values[row, column], 4)}, of {of}; "
        f"the smallest is {number(values.min(), 4)}."
    )
