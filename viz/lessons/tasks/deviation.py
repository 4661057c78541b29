"""The task about the scale: the standard deviation of a head's scores, before and after it."""

from torch import Tensor

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task
from viz.lessons.tasks.score import is_of_paper, scale_lines


def ask(subject: Subject) -> str:
    n = len(subject.attention.queries) * len(subject.attention.keys)
    call = subject.attention.calls[subject.place.layer]
    do = "Divide by √d_k" if is_of_paper(call.q.size(-1), call.scale) else "Multiply by the scale"
    return f"{do}: what is the standard deviation of all {n:,} scores of {subject.head_name} then?"


def _products(subject: Subject) -> Tensor:
    """q · k of every pair of the head [Q, K], whether a mask closes it or not."""
    call = subject.attention.calls[subject.place.layer].only(subject.place.head)
    products: Tensor = call.q[0].float() @ call.k[0].float().mT
    return products.cpu()


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    call = subject.attention.calls[subject.place.layer]
    before = f"{float(_products(subject).std(correction=0)):.2f}"
    return (("standard deviation of q · k", before), *scale_lines(call.q.size(-1), call.scale))


def truth(subject: Subject) -> float:
    scale = subject.attention.calls[subject.place.layer].scale
    return float((_products(subject) * scale).std(correction=0))


def hint(subject: Subject, answer: Reply) -> str:
    scale = subject.attention.calls[subject.place.layer].scale
    return f"Every score is {scale:.4f} times its product, so their deviation is, too."


def explain(subject: Subject) -> str:
    scale = subject.attention.calls[subject.place.layer].scale
    before = float(_products(subject).std(correction=0))
    return (
        f"{before:.2f} × {scale:.4f} = {truth(subject):.2f}. Softmax depends on the differences "
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
