"""The task about a recurrent layer's cost beside self-attention, on a sentence of this length."""

from transformer.complexity import LAYERS, Sizes
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task
from viz.lessons.width import sizes_of

COSTS = {layer.name: layer.operations for layer in LAYERS}


def ask(subject: Subject) -> str:
    return "How many times as many operations does a recurrent layer take as self-attention?"


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    n, d = sizes_of(subject.recording, subject.place)
    return (
        ("n, tokens", f"{n:,}"),
        ("d, width of the model", f"{d:,}"),
        ("self-attention", "n² · d"),
        ("recurrent layer", "n · d²"),
    )


def truth(subject: Subject) -> float:
    n, d = sizes_of(subject.recording, subject.place)
    recurrent, own = (COSTS[name].value(n, Sizes(d)) for name in ("recurrent", "self_attention"))
    return recurrent / own


def hint(subject: Subject, answer: Reply) -> str:
    n, d = sizes_of(subject.recording, subject.place)
    return f"Self-attention takes {n**2 * d:,} operations: divide n · d² by that."


def explain(subject: Subject) -> str:
    n, d = sizes_of(subject.recording, subject.place)
    ratio = f"d / n = {d:,} / {n:,} = {truth(subject):.1f}"
    return f"{ratio}. With more than {d:,} tokens self-attention takes more."


def opens(subject: Subject) -> dict[str, object]:
    n, d = sizes_of(subject.recording, subject.place)
    return {"n": n, "d": d}


TASK = Task(
    "operations",
    "number",
    ask,
    truth,
    hint,
    explain,
    material,
    decimals=1,
    needs=("scores",),
    of_row=False,
    opens=opens,
)
