"""At each step the token of one rank: 1 is greedy, 2 takes the second most probable."""

from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.method import Method, Model, Option, Search
from transformer.decoding.steps import OnToken, left_to_right


def ranked(
    model: Model,
    source: Tensor,
    rank: int = 2,
    max_len: int | None = None,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> one hypothesis; its score is its log-probability."""

    def choose(log_probs: Tensor) -> int:
        return int(log_probs.topk(rank).indices[-1])

    return left_to_right(model, source, [choose], "greedy", max_len, on_token, course)


METHOD = Method(
    name="ranked",
    title="Ranked",
    run=ranked,
    explain="At each step the token of the same rank.",
    options=(Option("rank", "Rank", 2, 1, 10, "1 is the most probable token."),),
    first_for=("text",),
    streams=True,
)
