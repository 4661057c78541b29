"""Greedy decoding: at each step the most probable token."""

from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.left_to_right import OnToken, left_to_right
from transformer.decoding.method import Method, Model, Search


def greedy(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> one hypothesis; its score is its log-probability."""
    most_probable = [lambda row: int(row.argmax())]
    return left_to_right(model, source, most_probable, "greedy", max_len, on_token, course)


METHOD = Method(
    name="greedy",
    title="Greedy",
    run=greedy,
    explain="At each step the most probable token is written, and none is ever taken back.",
    formula=r"y_t = \mathrm{argmax}_w \, p(w \vert y_1 \dots y_{t-1}, x)",
    streams=True,
)
