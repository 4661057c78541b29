"""Step three of attention: softmax makes weights of a row's scores."""

import math

from viz.labels import number
from viz.lessons.seen import Seen
from viz.lessons.task import Reply, Task

TOP = 3
"""Keys that stand by themselves, the strongest first; the others are added up."""


def ask(seen: Seen) -> str:
    return f"Which share of its row does ‘{seen.row_word}’ give to ‘{seen.words[seen.strongest]}’?"


def _powers(seen: Seen) -> tuple[list[float], list[int]]:
    """e to the score less the largest one, for each open key; the strongest keys first."""
    scores = seen.cell().scores[seen.open_keys].double()
    powers = (scores - scores.max()).exp()
    return powers.tolist(), powers.argsort(descending=True).tolist()


def material(seen: Seen) -> tuple[tuple[str, str], ...]:
    """The keys in the order of the sentence, so that it is seen which is which."""
    powers, order = _powers(seen)
    top = sorted(order[:TOP])
    rows = [(seen.words[i], f"e^({_exponent(powers[i])}) = {powers[i]:.3f}") for i in top]
    rest = math.fsum(powers[i] for i in order[TOP:])
    n = len(powers) - len(top)
    return (*rows, (f"the other {n} together", f"{rest:.3f}")) if n > 0 else tuple(rows)


def _exponent(power: float) -> str:
    """A score less the largest one."""
    return number(math.log(max(power, 1e-300)) + 0.0)


def truth(seen: Seen) -> float:
    return 100 * float(seen.weights[seen.strongest])


def hint(seen: Seen, answer: Reply) -> str:
    total = math.fsum(_powers(seen)[0])
    return f"All of the row adds up to {total:.3f}: which part of that is the word's?"


def explain(seen: Seen) -> str:
    powers, order = _powers(seen)
    total = math.fsum(powers)
    share = f"{powers[order[0]]:.3f} / {total:.3f}"
    return f"{share} = {truth(seen):.0f} %. The weights of a row always add up to 100 %."


TASK = Task("weight", "number", ask, truth, hint, explain, material, unit="%", needs=("scores",))
