"""Step three of attention: softmax makes weights of a row's scores."""

import math

from viz.labels import number
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task

TOP = 3
"""Keys that stand by themselves, the strongest first; the others are added up."""


def ask(subject: Subject) -> str:
    word = subject.tokens[subject.strongest_token]
    return f"Which share of its row does ‘{subject.row_word}’ give to ‘{word}’?"


def _powers(subject: Subject) -> tuple[list[float], list[int]]:
    """e to the score less the largest one, for each open key; the strongest keys first."""
    scores = subject.cell().scores[subject.open_keys].double()
    powers = (scores - scores.max()).exp()
    return powers.tolist(), powers.argsort(descending=True).tolist()


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The keys in the order of the sentence, so that it is seen which is which."""
    powers, order = _powers(subject)
    top = sorted(order[:TOP])
    rows = [(subject.tokens[i], f"e^({_exponent(powers[i])}) = {powers[i]:.3f}") for i in top]
    rest = math.fsum(powers[i] for i in order[TOP:])
    n = len(powers) - len(top)
    return (*rows, (f"the other {n} together", f"{rest:.3f}")) if n > 0 else tuple(rows)


def _exponent(power: float) -> str:
    """A score less the largest one."""
    return number(math.log(max(power, 1e-300)) + 0.0)


def truth(subject: Subject) -> float:
    return 100 * float(subject.token_weights[subject.strongest_token])


def hint(subject: Subject, answer: Reply) -> str:
    total = math.fsum(_powers(subject)[0])
    return f"All of the row adds up to {total:.3f}: which part of that is the word's?"


def explain(subject: Subject) -> str:
    powers, order = _powers(subject)
    total = math.fsum(powers)
    share = f"{powers[order[0]]:.3f} / {total:.3f}"
    return f"{share} = {truth(subject):.0f} %. The weights of a row always add up to 100 %."


TASK = Task("weight", "number", ask, truth, hint, explain, material, unit="%", needs=("scores",))
