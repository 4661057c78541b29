"""The task to count the layers of a convolution until a word hears from the farthest one."""

from transformer.complexity import Sizes, dilated_path
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task
from viz.lessons.width import sizes_of


def ask(subject: Subject) -> str:
    n, _ = sizes_of(subject.recording, subject.place)
    return (
        f"A dilated convolution sees {_kernel(subject)} tokens in its first layer, and in every "
        f"further one {_kernel(subject)} times as many. After how many layers does it see all {n}?"
    )


def _kernel(subject: Subject) -> int:
    return max(2, subject.arguments[0])


def truth(subject: Subject) -> int:
    n, d = sizes_of(subject.recording, subject.place)
    return dilated_path(n, Sizes(d, _kernel(subject)))


def hint(subject: Subject, answer: Reply) -> str:
    kernel = _kernel(subject)
    return f"Two layers see {kernel**2} tokens, three {kernel**3}."


def explain(subject: Subject) -> str:
    n, _ = sizes_of(subject.recording, subject.place)
    layers = truth(subject)
    see = "1 layer sees" if layers == 1 else f"{layers} layers see"
    steps = "1 step" if n == 1 else f"{n} steps"
    return (
        f"{see} up to {_kernel(subject) ** layers} tokens. A recurrent layer takes {steps}, "
        "self-attention 1."
    )


def opens(subject: Subject) -> dict[str, object]:
    n, d = sizes_of(subject.recording, subject.place)
    return {"n": n, "d": d, "k": _kernel(subject)}


TASK = Task(
    "path",
    "number",
    ask,
    truth,
    hint,
    explain,
    takes=("tokens",),
    needs=("scores",),
    of_row=False,
    opens=opens,
)
