"""The task about the scale: the standard deviation of a head's scores, before and after it."""

from torch import Tensor

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task
from viz.lessons.tasks.score import is_of_paper, scale_lines


def ask(seen: Seen) -> str:
    n = len(seen.attention.queries) * len(seen.attention.keys)
    call = seen.attention.calls[seen.place.layer]
    do = (
        "Divide by √d_head" if is_of_paper(call.q.size(-1), call.scale) else "Multiply by the scale"
    )
    return f"{do}: what is the standard deviation of all {n:,} scores of {seen.head_name} then?"


def _products(seen: Seen) -> Tensor:
    """q · k of every pair of the head [Q, K], whether a mask closes it or not."""
    call = seen.attention.calls[seen.place.layer].only(seen.place.head)
    products: Tensor = call.q[0].float() @ call.k[0].float().mT
    return products.cpu()


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    call = seen.attention.calls[seen.place.layer]
    before = f"{float(_products(seen).std(correction=0)):.2f}"
    return (("standard deviation of q · k", before), *scale_lines(call.q.size(-1), call.scale))


def truth(seen: Seen) -> float:
    scale = seen.attention.calls[seen.place.layer].scale
    return float((_products(seen) * scale).std(correction=0))


def hint(seen: Seen, answer: Reply) -> str:
    scale = seen.attention.calls[seen.place.layer].scale
    return f"Every score is {scale:.4f} times its product, so their deviation is, too."


def explain(seen: Seen) -> str:
    scale = seen.attention.calls[seen.place.layer].scale
    before = float(_products(seen).std(correction=0))
    return (
        f"{before:.2f} × {scale:.4f} = {truth(seen):.2f}. Softmax depends on the differences "
        "between scores only, and these change by the same factor."
    )


TASK = Task(
    "deviation",
    "number",
    ask,
    truth,
    hint,
    explain,
    material,
    decimals=2,
    needs=("scores", "scale"),
    of_row=False,
)
