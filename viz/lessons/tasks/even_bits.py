"""The entropy of a row that knows nothing."""

import math

from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task


def ask(seen: Seen) -> str:
    n = len(seen.words)
    tokens = "the only token" if n == 1 else f"all {n} tokens"
    return (
        f"A head that has learned nothing looks at {tokens} of the row ‘{seen.row_word}’ alike. "
        "How many bits of entropy is that?"
    )


def truth(seen: Seen) -> float:
    return math.log2(len(seen.words))


def hint(seen: Seen, answer: Reply) -> str:
    low = int(truth(seen))
    return f"log₂ {2**low} is {low}: each doubling is one bit more."


def explain(seen: Seen) -> str:
    return f"log₂ {len(seen.words)} = {truth(seen):.1f} bits. A head that is sure has 0 bits."


TASK = Task("even_bits", "number", ask, truth, hint, explain, decimals=1, unit="bits", of_row=False)
