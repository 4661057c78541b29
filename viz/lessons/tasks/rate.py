"""The paper's learning rate at a step, as a share of its peak."""

from transformer.training.schedule import inverse_square_root
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    warmup, step = subject.arguments
    return f"The rate peaks at step {warmup:,}. Which share of the peak is it at step {step:,}?"


def truth(subject: Subject) -> float:
    warmup, step = (max(1, each) for each in subject.arguments)
    peak = inverse_square_root(warmup, 512, warmup)
    return 100 * inverse_square_root(step, 512, warmup) / peak


def hint(subject: Subject, answer: Reply) -> str:
    warmup, step = subject.arguments
    if step <= warmup:
        return f"Up to step {warmup:,} it grows evenly from 0: which part of that is {step:,}?"
    times = f"{step / warmup:.3g} times the warm-up"
    return f"Step {step:,} is {times}: divide 100 % by the root of that."


def explain(subject: Subject) -> str:
    warmup, step = subject.arguments
    why = f"{step:,} / {warmup:,}" if step <= warmup else f"1 / √({step:,} / {warmup:,})"
    return f"{why} = {truth(subject):.0f} % of the peak."


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
