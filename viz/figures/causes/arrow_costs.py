"""Every arrow of the row that writes a token, each cut by itself: its cost to the token."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch

from transformer.analysis.tables.origins import Sides
from transformer.causes.arrows import Arrows
from transformer.causes.forecast import Forecast
from transformer.edits import Edit
from transformer.recording import Attention, Recording
from viz.exhibits.chart import Axis, Chart, Grid
from viz.exhibits.shading import differences, rooted
from viz.exhibits.table import Cell, Column, Row, Table
from viz.figures.heat_map import heat_map
from viz.labels import in_word, kind_name, kind_title, number, percent

HOLDS = 1e-4
"""Nats up to which the identity of a forecast holds, in any precision of weights."""
FOOT = (
    "A cut arrow's weight goes to the other keys of its row: where they hold the same, it costs "
    "nothing, and the word may be needed all the same."
)
LOST = "The log-probability that the written token loses by the cut; below 0 it gains."
WEIGHT = "The weight of the arrow while nothing is cut."
N_STRONGEST = 8


def chart(arrows: Arrows, recording: Recording, kind: str) -> Chart:
    """A line for each head of a kind of attention, a column for each key that the row sees."""
    attention, token = recording.attentions[kind], in_word(recording.target, arrows.step)
    layers = [layer for place, layer in arrows.costs if place == kind]
    costs = torch.cat([arrows.costs[kind, layer] for layer in layers])  # [L * H, K]
    n_keys = costs.size(1)
    weights = torch.cat([attention.weights(layer)[:, arrows.query, :n_keys] for layer in layers])
    bound = float(costs.nan_to_num().abs().max())
    keys, sides = attention.keys[:n_keys], Sides(attention)
    names = [_head(attention, layer, head) for layer in layers for head in range(attention.n_heads)]
    drawn = heat_map(
        f"arrow-costs {kind}",
        (f"“{token}”", f": each arrow of {kind_name(kind)} cut{_if_forecast(arrows)}"),
        costs,
        Axis("head", labels=names, origins=[sides.query(arrows.query)] * len(names)),
        Axis("key", labels=keys, origins=sides.keys[:n_keys]),
        differences("nats lost", bound or 1.0),
        "{y} → {x}: {z:.3f} nats, weight {0:.3f}",
    )
    marks = [
        replace(mark, more=weights.numpy()[..., None]) if isinstance(mark, Grid) else mark
        for mark in drawn.marks
    ]
    return replace(drawn, marks=marks).in_words


def _if_forecast(arrows: Arrows) -> str:
    return ", forecast" if isinstance(arrows, Forecast) else ""


def badge(arrows: Arrows) -> str:
    """Say of a forecast how it was made, and whether its identity holds; else nothing."""
    if not isinstance(arrows, Forecast):
        return ""
    verdict = "as it must" if arrows.error < HOLDS else "which it should not be: trust none of it"
    return (
        "Forecast by one backward pass, good for small weights and poor near 1. Its sum over each "
        f"row, times 1 − weight, is 0 up to {number(arrows.error, 0, 'e')}, {verdict}. "
    )


def describe(arrows: Arrows, recording: Recording) -> str:
    """Say which arrow is worth most, and beside it the largest weight."""
    token = f"“{in_word(recording.target, arrows.step)}”"
    strongest = arrows.strongest(1)
    if not strongest:
        return f"No arrow of the row that writes {token} can be cut: it sees only one key."
    cost, edit = strongest[0]
    n = sum(int(each.isfinite().sum()) for each in arrows.costs.values())
    weight = _weight(recording, edit)
    return (
        f"{badge(arrows)}Each of {n} arrows of the row that writes {token} is cut by itself. The "
        f"most is lost at {_name(recording, edit)}: {number(cost, 3)} nats, of a weight of "
        f"{percent(weight)}."
    )


def strongest_table(
    arrows: Arrows,
    recording: Recording,
    address: Callable[[Edit], str],
    exact: Mapping[str, float] | None = None,
) -> Table:
    """The arrows that cost most, with their weights.

    address: where an arrow is cut for good. exact: beside a forecast, what runs of the whole model
    have lost, by the edit's spelling.
    """
    strongest = arrows.strongest(N_STRONGEST)
    largest = max((abs(cost) for cost, _ in strongest), default=0.0)
    return Table(
        f"The arrows that “{in_word(recording.target, arrows.step)}” needs most",
        [Column("cut"), *_columns(arrows, exact), Column("weight", explain=WEIGHT)],
        [
            _row([cost, *_of(exact, edit)], edit, recording, largest, address(edit))
            for cost, edit in strongest
        ],
        foot=f"{badge(arrows)}{FOOT}",
    )


def _columns(arrows: Arrows, exact: Mapping[str, float] | None) -> list[Column]:
    if exact is None:
        return [Column(f"nats lost{_if_forecast(arrows)}", explain=LOST)]
    return [
        Column("nats lost, forecast", explain="By the gradient, without a further run."),
        Column("nats lost, cut", explain="By a run of the whole model with this arrow cut."),
    ]


def _of(exact: Mapping[str, float] | None, edit: Edit) -> list[float | None]:
    return [] if exact is None else [exact.get(str(edit))]


def _row(
    costs: Sequence[float | None], edit: Edit, recording: Recording, largest: float, address: str
) -> Row:
    weight = _weight(recording, edit)
    sides = Sides(recording.attentions[edit.place])
    cells = [
        *(it if it is None else Cell(number(it, 3), it, rooted(it, largest)) for it in costs),
        Cell(percent(weight), weight),
    ]
    name = _name(recording, edit)
    head = Cell(name, link=address, tip=f"Cut {name}, and see what is written then")
    return Row(head, cells, origin=sides.key(edit.key))


def _name(recording: Recording, edit: Edit) -> str:
    attention = recording.attentions[edit.place]
    head = _head(attention, edit.layer, edit.head)
    return f"{kind_title(edit.place)} {head} → {in_word(attention.keys, edit.key)}"


def _head(attention: Attention, layer: int, head: int) -> str:
    return f"L{attention.number(layer)} H{head}"


def _weight(recording: Recording, edit: Edit) -> float:
    layer, head, query, key = edit.numbers
    return float(recording.attentions[edit.place].weights(layer, head)[query, key])
