"""The task about a recurrent layer's cost beside self-attention, on a sentence of this length."""

from transformer.complexity import LAYERS, Sizes
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task
from viz.lessons.width import sizes_of

COSTS = {layer.name: layer.operations for layer in LAYERS}


def ask(seen: Seen) -> str:
    return "How many times as many operations does a recurrent layer take as self-attention?"


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    n, d = sizes_of(seen.recording, seen.place)
    return (
        ("n, tokens", f"{n:,}"),
        ("d, width of the model", f"{d:,}"),
        ("self-attention", "n² · d"),
        ("recurrent layer", "n · d²"),
    )


def truth(seen: Seen) -> float:
    n, d = sizes_of(seen.recording, seen.place)
    recurrent, own = (COSTS[name].value(n, Sizes(d)) for name in ("recurrent", "self_attention"))
    return recurrent / own


def hint(seen: Seen, answer: Reply) -> str:
    n, d = sizes_of(seen.recording, seen.place)
    return f"Self-attention takes {n**2 * d:,} operations: divide n · d² by that."


def explain(seen: Seen) -> str:
    n, d = sizes_of(seen.recording, seen.place)
    ratio = f"d / n = {d:,} / {n:,} = {truth(seen):.1f}"
    return f"{ratio}. With more than {d:,} tokens self-attention takes more."


def opens(seen: Seen) -> dict[str, object]:
    n, d = sizes_of(seen.recording, seen.place)
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
