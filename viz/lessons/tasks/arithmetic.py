"""Tasks on the arithmetic of attention, step by step."""

import math

from torch import Tensor

from transformer.analysis.cell import Cell
from viz.labels import number
from viz.lessons.subject import Subject
from viz.lessons.task import Reason, Reply, Task, digits_of

# Step one of attention: the product of a query and a key, added up dimension by dimension.

DOT_TOP = 4
"""Dimensions that stand by themselves: those with the largest products."""


def ask_dot(subject: Subject) -> str:
    word = subject.tokens[subject.strongest_token]
    return f"What is q · k of ‘{subject.row_word}’ and ‘{word}’? Multiply each line, then add."


def _key_dot(subject: Subject) -> int:
    return subject.open_keys[subject.strongest_token]


def material_dot(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The largest products as pairs of factors, and the sum of all others."""
    cell = subject.cell(_key_dot(subject))
    top = cell.products.abs().topk(min(DOT_TOP, len(cell.products))).indices.tolist()
    rows = [(f"dimension {i}", f"{_factor(cell.q[i])} × {_factor(cell.k[i])}") for i in sorted(top)]
    n = len(cell.products) - len(top)
    return (*rows, (f"the other {n} products together", number(cell.dot - top_dot(subject))))


def top_dot(subject: Subject) -> float:
    """The sum of the products that stand by themselves."""
    products = subject.cell(_key_dot(subject)).products
    return float(products[products.abs().topk(min(DOT_TOP, len(products))).indices].sum())


def _factor(value: Tensor) -> str:
    """In brackets where it is below 0."""
    text = number(value)
    return f"({text})" if float(value) < 0 else text


def truth_dot(subject: Subject) -> float:
    return subject.cell(_key_dot(subject)).dot


def hint_dot(subject: Subject, answer: Reply) -> str:
    cell = subject.cell(_key_dot(subject))
    i = int(cell.products.abs().argmax())
    product = digits_of(cell.q[i]) * digits_of(cell.k[i])  # of what stands there
    return f"The largest product, of dimension {i}, is {number(product)}: mind the signs."


def explain_dot(subject: Subject) -> str:
    cell = subject.cell(_key_dot(subject))
    word = subject.tokens[subject.strongest_token]
    return (
        f"q · k of ‘{subject.row_word}’ and ‘{word}’ is {number(cell.dot, 1)}: one number for "
        f"how well two vectors of {len(cell.q)} dimensions agree."
    )


DOT_TASK = Task(
    "dot",
    "number",
    ask_dot,
    truth_dot,
    hint_dot,
    explain_dot,
    material_dot,
    decimals=1,
    needs=("scores",),
    reasons=(
        Reason(top_dot, lambda it: "Those are the largest products: add the others to them."),
    ),
)


# Step two of attention: the product times the scale.


def _key_score(subject: Subject) -> int:
    return subject.open_keys[subject.strongest_token]


def ask_score(subject: Subject) -> str:
    word = subject.tokens[subject.strongest_token]
    return f"Which score does ‘{word}’ get from ‘{subject.row_word}’?"


def material_score(subject: Subject) -> tuple[tuple[str, str], ...]:
    cell = subject.cell(_key_score(subject))
    rows = [("q · k", number(cell.dot)), *scale_lines(len(cell.q), cell.scale)]
    if cell.bias:
        rows.append(("the model adds, for the places of both", number(cell.bias)))
    return tuple(rows)


def is_of_paper(d_head: int, scale: float) -> bool:
    """Tell whether the scale is 1 / √d_head."""
    return math.isclose(scale, d_head**-0.5, rel_tol=1e-6)


def scale_lines(d_head: int, scale: float) -> list[tuple[str, str]]:
    """The d_k of the paper and its root where its scale is used; else the scale."""
    if is_of_paper(d_head, scale):
        return [("d_k", str(d_head)), ("√d_k", f"{math.sqrt(d_head):.3f}")]
    return [("scale of this model", f"{scale:.4f}")]


def truth_score(subject: Subject) -> float:
    return subject.cell(_key_score(subject)).score


def hint_score(subject: Subject, answer: Reply) -> str:
    cell = subject.cell(_key_score(subject))
    return f"It is {number(cell.dot)} {_scaled(cell)}."


def explain_score(subject: Subject) -> str:
    cell = subject.cell(_key_score(subject))
    added = f" + {number(cell.bias)}" if cell.bias else ""
    return f"{number(cell.dot)} {_scaled(cell)}{added} = {number(cell.score)}."


def _scaled(cell: Cell) -> str:
    """Write what is done to the product, by the number that `scale_lines` gives."""
    if is_of_paper(len(cell.q), cell.scale):
        return f"/ {math.sqrt(len(cell.q)):.3f}"
    return f"× {cell.scale:.4f}"


def by_d_k(subject: Subject) -> float | None:
    cell = subject.cell(_key_score(subject))
    return cell.dot / len(cell.q) if is_of_paper(len(cell.q), cell.scale) else None


SCORE_TASK = Task(
    "score",
    "number",
    ask_score,
    truth_score,
    hint_score,
    explain_score,
    material_score,
    decimals=2,
    needs=("scores",),
    reasons=(
        Reason(
            lambda it: it.cell(_key_score(it)).dot, lambda it: "That is q · k, before it is scaled."
        ),
        Reason(by_d_k, lambda it: "That is divided by d_k, and not by its root."),
    ),
)


# Step three of attention: softmax makes weights of a row's scores.

WEIGHT_TOP = 3
"""Keys that stand by themselves, the strongest first; the others are added up."""


def ask_weight(subject: Subject) -> str:
    word = subject.tokens[subject.strongest_token]
    return f"Which share of its row does ‘{subject.row_word}’ give to ‘{word}’?"


def _powers(subject: Subject) -> tuple[list[float], list[int]]:
    """e to the score less the largest one, for each open key; the strongest keys first."""
    scores = subject.cell().scores[subject.open_keys].double()
    powers = (scores - scores.max()).exp()
    return powers.tolist(), powers.argsort(descending=True).tolist()


def material_weight(subject: Subject) -> tuple[tuple[str, str], ...]:
    """The keys in the order of the sentence, so that it is seen which is which."""
    powers, order = _powers(subject)
    top = sorted(order[:WEIGHT_TOP])
    rows = [(subject.tokens[i], f"e^({_exponent(powers[i])}) = {powers[i]:.3f}") for i in top]
    rest = math.fsum(powers[i] for i in order[WEIGHT_TOP:])
    n = len(powers) - len(top)
    return (*rows, (f"the other {n} together", f"{rest:.3f}")) if n > 0 else tuple(rows)


def _exponent(power: float) -> str:
    """A score less the largest one."""
    return number(math.log(max(power, 1e-300)) + 0.0)


def truth_weight(subject: Subject) -> float:
    return 100 * float(subject.token_weights[subject.strongest_token])


def hint_weight(subject: Subject, answer: Reply) -> str:
    total = math.fsum(_powers(subject)[0])
    return f"All of the row adds up to {total:.3f}: which part of that is the word's?"


def explain_weight(subject: Subject) -> str:
    powers, order = _powers(subject)
    total = math.fsum(powers)
    share = f"{powers[order[0]]:.3f} / {total:.3f}"
    return f"{share} = {truth_weight(subject):.0f} %. The weights of a row always add up to 100 %."


WEIGHT_TASK = Task(
    "weight",
    "number",
    ask_weight,
    truth_weight,
    hint_weight,
    explain_weight,
    material_weight,
    unit="%",
    needs=("scores",),
    reasons=(
        Reason(
            lambda it: 1.0, lambda it: "e^0 = 1 is its part of the sum, and no share of it yet."
        ),
        Reason(lambda it: 100.0, lambda it: "e^0 = 1 is one part of a sum that is larger than 1."),
    ),
)


# Step four of attention: the values are mixed by the weights.

MIX_TOP = 3
"""Keys that stand by themselves, those that add most; the others are added up."""


def _parts(subject: Subject) -> tuple[Tensor, Tensor, int]:
    """Weights and values [N] of the open keys, in the dimension with the largest sum."""
    place = subject.place
    call = subject.attention.calls[place.layer].only(place.head)
    v = call.v[0].float().cpu()[subject.open_keys]  # [N, d_value]
    dimension = int((subject.token_weights @ v).abs().argmax())
    return subject.token_weights, v[:, dimension], dimension


def ask_mix(subject: Subject) -> str:
    dimension = _parts(subject)[2]
    where = f"‘{subject.row_word}’, in dimension {dimension}"
    return f"What does the head hand on for {where}? Add weight × value of all."


def material_mix(subject: Subject) -> tuple[tuple[str, str], ...]:
    weights, values, _ = _parts(subject)
    top = sorted((weights * values).abs().argsort(descending=True).tolist()[:MIX_TOP])
    rows = [(f"{subject.tokens[i]}", f"{float(weights[i]):.3f} × {_value(values[i])}") for i in top]
    others = [i for i in range(len(weights)) if i not in top]
    if not others:
        return tuple(rows)
    rest = float((weights[others] * values[others]).sum())
    return (*rows, (f"the other {len(others)} together", number(rest, 3)))


def _value(value: Tensor) -> str:
    """In brackets where it is below 0."""
    text = number(value)
    return f"({text})" if float(value) < 0 else text


def truth_mix(subject: Subject) -> float:
    weights, values, _ = _parts(subject)
    return float(weights @ values)


def hint_mix(subject: Subject, answer: Reply) -> str:
    weights, values, _ = _parts(subject)
    i = int((weights * values).abs().argmax())
    part = number(digits_of(weights[i], 3) * digits_of(values[i]))
    return (
        f"‘{subject.tokens[i]}’ adds {part}: multiply the other lines the same way, then add all."
    )


def explain_mix(subject: Subject) -> str:
    n = len(subject.token_weights)
    all_tokens = "the only token" if n == 1 else f"all {n} tokens"
    return (
        f"The sum over {all_tokens} is {number(truth_mix(subject))}: a mean of their values, in "
        "which each counts as much as its weight."
    )


def top_mix(subject: Subject) -> float:
    """The sum of those that stand by themselves."""
    weights, values, _ = _parts(subject)
    parts = weights * values
    return float(parts[parts.abs().argsort(descending=True)[:MIX_TOP]].sum())


MIX_TASK = Task(
    "mix",
    "number",
    ask_mix,
    truth_mix,
    hint_mix,
    explain_mix,
    material_mix,
    decimals=2,
    needs=("scores",),
    reasons=(Reason(top_mix, lambda it: "Those are the largest parts: add the others to them."),),
)


# The entropy of a row that knows nothing.


def ask_even_bits(subject: Subject) -> str:
    n = len(subject.tokens)
    tokens = "the only token" if n == 1 else f"all {n} tokens"
    return (
        f"A head that has learned nothing looks at {tokens} of the row ‘{subject.row_word}’ alike. "
        "How many bits of entropy is that?"
    )


def truth_even_bits(subject: Subject) -> float:
    return math.log2(len(subject.tokens))


def hint_even_bits(subject: Subject, answer: Reply) -> str:
    low = int(truth_even_bits(subject))
    return f"log₂ {2**low} is {low}: each doubling is one bit more."


def explain_even_bits(subject: Subject) -> str:
    bits = f"log₂ {len(subject.tokens)} = {truth_even_bits(subject):.1f} bits"
    return f"{bits}. A head that is sure has 0 bits."


EVEN_BITS_TASK = Task(
    "even_bits",
    "number",
    ask_even_bits,
    truth_even_bits,
    hint_even_bits,
    explain_even_bits,
    decimals=1,
    unit="bits",
    of_row=False,
    of_tokens=True,
    reasons=(
        Reason(
            lambda it: float(len(it.tokens)),
            lambda it: "That is the number of tokens: the bits are its logarithm to the base 2.",
        ),
        Reason(
            lambda it: math.log(len(it.tokens)),
            lambda it: "That is the natural logarithm, which counts nats: bits have the base 2.",
        ),
    ),
)


TASK = (
    DOT_TASK,
    SCORE_TASK,
    WEIGHT_TASK,
    MIX_TASK,
    EVEN_BITS_TASK,
)
