"""The task to count the layers of a convolution until a word hears from the farthest one."""

from transformer.complexity import Sizes, dilated_path
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task
from viz.lessons.width import sizes_of


def ask(seen: Seen) -> str:
    n, _ = sizes_of(seen.recording, seen.place)
    return (
        f"A dilated convolution sees {_kernel(seen)} tokens in its first layer, and in every "
        f"further one {_kernel(seen)} times as many. After how many layers does it see all {n}?"
    )


def _kernel(seen: Seen) -> int:
    return max(2, seen.arguments[0])


def truth(seen: Seen) -> int:
    n, d = sizes_of(seen.recording, seen.place)
    return dilated_path(n, Sizes(d, _kernel(seen)))


def hint(seen: Seen, answer: Reply) -> str:
    kernel = _kernel(seen)
    return f"Two layers see {kernel**2} tokens, three {kernel**3}."


def explain(seen: Seen) -> str:
    n, _ = sizes_of(seen.recording, seen.place)
    layers = truth(seen)
    see = "1 layer sees" if layers == 1 else f"{layers} layers see"
    steps = "1 step" if n == 1 else f"{n} steps"
    return (
        f"{see} up to {_kernel(seen) ** layers} tokens. A recurrent layer takes {steps}, "
        "self-attention 1."
    )


def opens(seen: Seen) -> dict[str, object]:
    n, d = sizes_of(seen.recording, seen.place)
    return {"n": n, "d": d, "k": _kernel(seen)}


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
