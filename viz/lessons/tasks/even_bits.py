"""The entropy of a row that knows nothing."""

import math

from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    n = len(subject.tokens)
    tokens = "the only token" if n == 1 else f"all {n} tokens"
    return (
        f"A head that has learned nothing looks at {tokens} of the row ‘{subject.row_word}’ alike. "
        "How many bits of entropy is that?"
    )


def truth(subject: Subject) -> float:
    return math.log2(len(subject.tokens))


def hint(subject: Subject, answer: Reply) -> str:
    low = int(truth(subject))
    return f"log₂ {2**low} is {low}: each doubling is one bit more."


def explain(subject: Subject) -> str:
    return (
        f"log₂ {len(subject.tokens)} = {truth(subject):.1f} bits. A head that is sure has 0 bits."
    )


TASK = Task(
    "even_bits",
    "number",
    ask,
    truth,
    hint,
    explain,
    decimals=1,
    unit="bits",
    of_row=False,
    of_tokens=True,
)
