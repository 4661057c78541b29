"""The paper's learning rate at a step, as a share of its peak."""

from transformer.training.schedule import inverse_square_root
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    warmup, step = seen.arguments
    return f"The rate peaks at step {warmup:,}. Which share of the peak is it at step {step:,}?"


def truth(seen: Seen) -> float:
    warmup, step = (max(1, each) for each in seen.arguments)
    peak = inverse_square_root(warmup, 512, warmup)
    return 100 * inverse_square_root(step, 512, warmup) / peak


def hint(seen: Seen, answer: Reply) -> str:
    warmup, step = seen.arguments
    if step <= warmup:
        return f"Up to step {warmup:,} it grows evenly from 0: which part of that is {step:,}?"
    times = f"{step / warmup:.3g} times the warm-up"
    return f"Step {step:,} is {times}: divide 100 % by the root of that."


def explain(seen: Seen) -> str:
    warmup, step = seen.arguments
    why = f"{step:,} / {warmup:,}" if step <= warmup else f"1 / √({step:,} / {warmup:,})"
    return f"{why} = {truth(seen):.0f} % of the peak."


TASK = Task(
    "rate",
    "number",
    ask,
    truth,
    hint,
    explain,
    unit="%",
    takes=("warm-up steps", "a step"),
    of_sentence=False,
    of_row=False,
)
