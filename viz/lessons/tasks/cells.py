"""The task to count the weights of one head."""

from viz.labels import kind_name
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    return f"How many weights does one head of {kind_name(seen.place.kind)} have here?"


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    attention = seen.attention
    return (("queries", str(len(attention.queries))), ("keys", str(len(attention.keys))))


def truth(seen: Seen) -> int:
    return int(seen.attention.weights(seen.place.layer, seen.place.head).numel())


def hint(seen: Seen, answer: Reply) -> str:
    return f"Each of the {len(seen.attention.queries)} queries has a weight for every key."


def explain(seen: Seen) -> str:
    attention = seen.attention
    n_rows, n_columns = len(attention.queries), len(attention.keys)
    heads = attention.n_layers * attention.n_heads
    return f"{n_rows} × {n_columns} = {truth(seen):,}, in each of {heads} heads of this kind."


TASK = Task("cells", "number", ask, truth, hint, explain, material, of_row=False)
