"""Tasks on the scale of attention: a row without it, the slope of softmax, the spread of scores."""

from torch import Tensor

from viz.lessons.subject import Subject
from viz.lessons.task import Reason, Reply, Task, percent_of
from viz.lessons.tasks.arithmetic import is_of_paper, scale_lines

# The task about a row without the scale.

SAME = 0.02
"""Weights that differ by less are called the same."""
OPTIONS = ("less", "about the same", "more")
UNSCALED = {
    "ask": "‘{word}’ gets {got} from ‘{row}’. What would it get without the scale?",
    "hint": "Every difference between two scores would be {root} times as large.",
    "explain": "Without the scale it would get {without} instead of {now}.",
    "less": "The others' scores would grow, too, but less than the largest one does.",
    "same": "All scores grow by the same factor, but softmax takes their differences.",
    "more": "Its lead would grow, but it leaves the others next to nothing already.",
}
"""Words of the task: pages without a server say it, too (viz/lessons/own.py)."""


def ask_unscaled(subject: Subject) -> str:
    word, got = subject.tokens[subject.strongest_token], percent_of(subject.token_weights.max())
    return UNSCALED["ask"].format(word=word, got=got, row=subject.row_word)


def _without(subject: Subject) -> float:
    """The same key's weight where the scale is 1; what the model adds to a score stays."""
    cell, place = subject.cell(), subject.place
    k = subject.attention.calls[place.layer].only(place.head).k[0].float().cpu()  # [K, d_key]
    scores = cell.scores + (1 - cell.scale) * (k @ cell.q)  # [K]
    return float(scores[subject.open_keys].double().softmax(-1)[subject.strongest_token])


def truth_unscaled(subject: Subject) -> int:
    change = _without(subject) - float(subject.token_weights[subject.strongest_token])
    return 1 if abs(change) < SAME else 2 * (change > 0)


def hint_unscaled(subject: Subject, answer: Reply) -> str:
    root = 1 / subject.cell().scale
    return UNSCALED["hint"].format(root=f"{root:.1f}")


def explain_unscaled(subject: Subject) -> str:
    now, without = percent_of(subject.token_weights.max()), percent_of(_without(subject))
    return UNSCALED["explain"].format(without=without, now=now)


UNSCALED_TASK = Task(
    "unscaled",
    "choice",
    ask_unscaled,
    truth_unscaled,
    hint_unscaled,
    explain_unscaled,
    options=lambda subject: OPTIONS,
    needs=("scores", "scale"),
    reasons=(
        Reason(
            lambda it: 0 if truth_unscaled(it) == 2 else None,
            lambda it: UNSCALED["less"],
        ),
        Reason(
            lambda it: 1 if truth_unscaled(it) == 2 else None,
            lambda it: UNSCALED["same"],
        ),
        Reason(
            lambda it: 2 if truth_unscaled(it) == 1 else None,
            lambda it: UNSCALED["more"],
        ),
    ),
)


# The task about a weight that moves with its score: the derivative of softmax.


def ask_slope(subject: Subject) -> str:
    return f"Softmax has the slope a · (1 − a) at a weight a. What is it at ‘{_word(subject)}’?"


def _word(subject: Subject) -> str:
    return subject.tokens[subject.strongest_token]


def material_slope(subject: Subject) -> tuple[tuple[str, str], ...]:
    weight = float(subject.token_weights[subject.strongest_token])
    return (
        (f"a, the weight of ‘{_word(subject)}’ in the row ‘{subject.row_word}’", f"{weight:.4f}"),
    )


def truth_slope(subject: Subject) -> float:
    weight = float(subject.token_weights[subject.strongest_token])
    return weight * (1 - weight)


def hint_slope(subject: Subject, answer: Reply) -> str:
    rest = 1 - float(subject.token_weights[subject.strongest_token])
    return f"1 − a is {rest:.4f}: multiply both."


def explain_slope(subject: Subject) -> str:
    return (
        f"The slope is {truth_slope(subject):.3f}. "
        "It is 0.25 at most, at a weight of one half, and next "
        "to nothing where a row is sure: such a row hardly learns any more."
    )


SLOPE_TASK = Task(
    "slope",
    "number",
    ask_slope,
    truth_slope,
    hint_slope,
    explain_slope,
    material_slope,
    decimals=3,
    reasons=(
        Reason(lambda it: float(it.token_weights.max()), lambda it: "That is the weight a itself."),
        Reason(
            lambda it: 1 - float(it.token_weights.max()),
            lambda it: "That is only 1 − a.",
        ),
    ),
)


# The task about the scale: the standard deviation of a head's scores, before and after it.


def ask_deviation(subject: Subject) -> str:
    n = len(subject.attention.queries) * len(subject.attention.keys)
    call = subject.attention.calls[subject.place.layer]
    do = "Divide by √d_k" if is_of_paper(call.q.size(-1), call.scale) else "Multiply by the scale"
    return f"{do}: what is the standard deviation of all {n:,} scores of {subject.head_name} then?"


def _products(subject: Subject) -> Tensor:
    """q · k of every pair of the head [Q, K], whether a mask closes it or not."""
    call = subject.attention.calls[subject.place.layer].only(subject.place.head)
    products: Tensor = call.q[0].float() @ call.k[0].float().mT
    return products.cpu()


def material_deviation(subject: Subject) -> tuple[tuple[str, str], ...]:
    call = subject.attention.calls[subject.place.layer]
    before = f"{float(_products(subject).std(correction=0)):.2f}"
    return (("standard deviation of q · k", before), *scale_lines(call.q.size(-1), call.scale))


def truth_deviation(subject: Subject) -> float:
    scale = subject.attention.calls[subject.place.layer].scale
    return float((_products(subject) * scale).std(correction=0))


def hint_deviation(subject: Subject, answer: Reply) -> str:
    scale = subject.attention.calls[subject.place.layer].scale
    return f"Every score is {scale:.4f} times its product, so their deviation is, too."


def explain_deviation(subject: Subject) -> str:
    scale = subject.attention.calls[subject.place.layer].scale
    before = float(_products(subject).std(correction=0))
    return (
        f"{before:.2f} × {scale:.4f} = {truth_deviation(subject):.2f}. "
        "Softmax depends on the differences "
        "between scores only, and these change by the same factor."
    )


DEVIATION_TASK = Task(
    "deviation",
    "number",
    ask_deviation,
    truth_deviation,
    hint_deviation,
    explain_deviation,
    material_deviation,
    decimals=2,
    needs=("scores", "scale"),
    of_row=False,
    reasons=(
        Reason(
            lambda it: truth_deviation(it) * it.attention.calls[it.place.layer].scale,
            lambda it: "That is scaled twice: divided by d_k, and not by its root.",
        ),
    ),
)


TASK = (UNSCALED_TASK, SLOPE_TASK, DEVIATION_TASK)
