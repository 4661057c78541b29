"""Tasks on positions, and on the cost of layers beside their rivals."""

import math

from torch import Tensor

from transformer.complexity import LAYERS, Sizes, dilated_path
from transformer.positions.encodings import find_pairs, shift
from viz.labels import number
from viz.lessons.subject import Subject, sizes_of
from viz.lessons.task import Reason, Reply, Task

# The task to find two positions as alike as two others: sinusoids know distances only.

Pair = tuple[int, int]


def ask_same_product(subject: Subject) -> str:
    (a, b), table = _first(subject), _table_same_product(subject)
    product = float(table[a] @ table[b])
    text = f"The encodings of positions {a} and {b} have the product {number(product)}."
    return f"{text} Which other two have the same?"


def _table_same_product(subject: Subject) -> Tensor:
    """The encodings of the first side that has sinusoids [P, D]."""
    sides = subject.recording.positions.values()
    return next(side.table for side in sides if find_pairs(side.table) is not None).float().cpu()


def _first(subject: Subject) -> Pair:
    n = len(_table_same_product(subject))
    a = min(subject.place.query, max(0, n - 12))
    return a, a + 2 + len(subject.attention.keys) % 3


def _pairs(subject: Subject) -> list[Pair]:
    """One of them as far apart as the first, in an order that the sentence decides."""
    a, b = _first(subject)
    pairs = [(a + 4, b + 4), (a + 4, b + 5), (a, b + 3), (a + 1, b + 4)]
    turned = (len(subject.attention.keys) + len(subject.tokens)) % len(pairs)
    return pairs[turned:] + pairs[:turned]


def options(subject: Subject) -> tuple[str, ...]:
    return tuple(f"positions {a} and {b}" for a, b in _pairs(subject))


def truth_same_product(subject: Subject) -> int:
    (a, b), table = _first(subject), _table_same_product(subject)
    product = float(table[a] @ table[b])
    misses = [abs(float(table[c] @ table[d]) - product) for c, d in _pairs(subject)]
    return misses.index(min(misses))


def hint_same_product(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    c, d = _pairs(subject)[answer]
    table = _table_same_product(subject)
    return f"These two have {number(table[c] @ table[d])}. Count how far apart they are."


def explain_same_product(subject: Subject) -> str:
    (a, b), (c, d), table = (
        _first(subject),
        _pairs(subject)[truth_same_product(subject)],
        _table_same_product(subject),
    )
    product = float(table[c] @ table[d])
    return f"Positions {c} and {d} have {number(product)}, too: both pairs are {b - a} apart."


SAME_PRODUCT_TASK = Task(
    "same_product",
    "choice",
    ask_same_product,
    truth_same_product,
    hint_same_product,
    explain_same_product,
    options=options,
    needs=("sinusoids", "room"),
    of_row=False,
    reasons=(
        Reason(
            lambda it: _pairs(it).index((_first(it)[0], _first(it)[1] + 3)),
            lambda it: "They begin at the same position, but it does not matter where one begins.",
        ),
    ),
)


# The task about the turn of a pair of dimensions when a word moves.


def ask_turn(subject: Subject) -> str:
    return (
        f"One sine and its cosine turn once in {_wave(subject):.2f} positions. By how many degrees "
        f"do they turn within {subject.arguments[0]} positions{_shorter(subject)}?"
    )


def _shorter(subject: Subject) -> str:
    """Return a clause where a turn is known by the shorter way only."""
    is_beyond = subject.arguments[0] / _wave(subject) > 0.5
    return ", counted the shorter way" if is_beyond else ""


def _table_turn(subject: Subject) -> Tensor:
    """The encodings of the first side that has sinusoids [P, D]."""
    sides = subject.recording.positions.values()
    return next(side.table for side in sides if find_pairs(side.table) is not None)


def _pair(subject: Subject) -> int:
    """The pair of dimensions whose wave fits the sentence best."""
    pairs = find_pairs(_table_turn(subject))
    assert pairs is not None
    return int((pairs.wavelengths.log() - math.log(len(subject.attention.keys))).abs().argmin())


def _wave(subject: Subject) -> float:
    pairs = find_pairs(_table_turn(subject))
    assert pairs is not None
    return float(pairs.wavelengths[_pair(subject)])


def truth_turn(subject: Subject) -> float:
    table = _table_turn(subject)
    result = shift(table, subject.arguments[0] % len(table))
    assert result is not None
    return math.degrees(float(result.angles[_pair(subject)].abs()))


def hint_turn(subject: Subject, answer: Reply) -> str:
    once = 360 / _wave(subject)
    return f"360° take {_wave(subject):.2f} positions: one position turns it by {once:.1f}°."


def explain_turn(subject: Subject) -> str:
    fraction = f"{subject.arguments[0]} / {_wave(subject):.2f}"
    return (
        f"360° · {fraction}{_shorter(subject)}: {truth_turn(subject):.0f}°. "
        "It is the same angle wherever the word stands."
    )


def opens_turn(subject: Subject) -> dict[str, object]:
    return {"controls": (("offset", str(subject.arguments[0])),)}


TURN_TASK = Task(
    "turn",
    "number",
    ask_turn,
    truth_turn,
    hint_turn,
    explain_turn,
    unit="degrees",
    takes=("positions",),
    needs=("sinusoids",),
    of_row=False,
    opens=opens_turn,
    reasons=(
        Reason(
            lambda it: 360 * it.arguments[0] / _wave(it) if _shorter(it) else None,
            lambda it: "That is the longer way round: 360° less it is the shorter one.",
        ),
        Reason(
            lambda it: it.arguments[0] / _wave(it),
            lambda it: "That is counted in turns, and each of them is 360°.",
        ),
    ),
)


# The task about a recurrent layer's cost beside self-attention, on a sentence of this length.

OPERATIONS = {
    "ask": "How many times as many operations does a recurrent layer take as self-attention?",
    "n": "n, tokens",
    "d": "d, width of the model",
    "hint": "Self-attention takes {n} operations: divide n · d² by that.",
    "explain": "d / n = {d} / {n} = {ratio}. With more than {d} tokens self-attention takes more.",
    "other": "That is the other way round, self-attention divided by the recurrent layer.",
}
"""Words of the task: pages without a server say it, too (viz/lessons/own.py)."""
FORMULAS = (("self-attention", "n² · d"), ("recurrent layer", "n · d²"))
COSTS = {layer.name: layer.operations for layer in LAYERS}


def ask_operations(subject: Subject) -> str:
    return OPERATIONS["ask"]


def material(subject: Subject) -> tuple[tuple[str, str], ...]:
    n, d = sizes_of(subject.recording, subject.place)
    sizes = ((OPERATIONS["n"], f"{n:,}"), (OPERATIONS["d"], f"{d:,}"))
    return (*sizes, *FORMULAS)


def truth_operations(subject: Subject) -> float:
    n, d = sizes_of(subject.recording, subject.place)
    recurrent, own = (COSTS[name].value(n, Sizes(d)) for name in ("recurrent", "self_attention"))
    return recurrent / own


def hint_operations(subject: Subject, answer: Reply) -> str:
    n, d = sizes_of(subject.recording, subject.place)
    return OPERATIONS["hint"].format(n=f"{n**2 * d:,}")


def explain_operations(subject: Subject) -> str:
    n, d = sizes_of(subject.recording, subject.place)
    ratio = f"{truth_operations(subject):.1f}"
    return OPERATIONS["explain"].format(d=f"{d:,}", n=f"{n:,}", ratio=ratio)


def opens_operations(subject: Subject) -> dict[str, object]:
    n, d = sizes_of(subject.recording, subject.place)
    return {"n": n, "d": d}


OPERATIONS_TASK = Task(
    "operations",
    "number",
    ask_operations,
    truth_operations,
    hint_operations,
    explain_operations,
    material,
    decimals=1,
    needs=("scores",),
    of_row=False,
    opens=opens_operations,
    reasons=(
        Reason(
            lambda it: 1 / truth_operations(it),
            lambda it: OPERATIONS["other"],
        ),
    ),
)


# The task to count the layers of a convolution until a word hears from the farthest one.


def ask_path(subject: Subject) -> str:
    n, _ = sizes_of(subject.recording, subject.place)
    return (
        f"A dilated convolution sees {_kernel(subject)} tokens in its first layer, and in every "
        f"further one {_kernel(subject)} times as many. After how many layers does it see all {n}?"
    )


def _kernel(subject: Subject) -> int:
    return max(2, subject.arguments[0])


def truth_path(subject: Subject) -> int:
    n, d = sizes_of(subject.recording, subject.place)
    return dilated_path(n, Sizes(d, _kernel(subject)))


def hint_path(subject: Subject, answer: Reply) -> str:
    kernel = _kernel(subject)
    return f"Two layers see {kernel**2} tokens, three {kernel**3}."


def explain_path(subject: Subject) -> str:
    n, _ = sizes_of(subject.recording, subject.place)
    layers = truth_path(subject)
    see = "1 layer sees" if layers == 1 else f"{layers} layers see"
    steps = "1 step" if n == 1 else f"{n} steps"
    return (
        f"{see} up to {_kernel(subject) ** layers} tokens. A recurrent layer takes {steps}, "
        "self-attention 1."
    )


def opens_path(subject: Subject) -> dict[str, object]:
    n, d = sizes_of(subject.recording, subject.place)
    return {"n": n, "d": d, "k": _kernel(subject)}


PATH_TASK = Task(
    "path",
    "number",
    ask_path,
    truth_path,
    hint_path,
    explain_path,
    takes=("tokens",),
    needs=("scores",),
    of_row=False,
    opens=opens_path,
    reasons=(
        Reason(
            lambda it: math.ceil((sizes_of(it.recording, it.place)[0] - 1) / (_kernel(it) - 1)),
            lambda it: (
                "That is for a convolution without gaps: in this one they grow with each layer."
            ),
        ),
        Reason(lambda it: 1, lambda it: "So self-attention does, which sees all tokens at once."),
    ),
)


TASK = (
    SAME_PRODUCT_TASK,
    TURN_TASK,
    OPERATIONS_TASK,
    PATH_TASK,
)
