"""A chart's numbers as rows."""

import numpy as np
import pytest

from transformer.token import Token
from viz.exhibits.chart import (
    Axis,
    Bars,
    Cells,
    Chart,
    Curve,
    Grid,
    Point,
    Rule,
    Span,
    rows_of,
    weights,
)


def chart(x: Axis, y: Axis, *marks: Curve | Bars | Grid | Cells | Point | Rule | Span) -> Chart:
    return Chart("a", "A", "", x, y, marks)


def test_points_of_curves_are_exact_also_on_a_logarithmic_axis() -> None:
    curve = Curve("training", (100, 2000), (0.1234567890123, float("nan")), 0)
    other = Curve("own", np.array([10]), np.array([3.5], np.float32), 1)
    best = Point(10, 3.5, "lowest")
    marks = (curve, other, best, Rule(1.0, "floor"), Span(0, 1))
    made = rows_of(chart(Axis("step", is_log=True), Axis("loss,\nnats"), *marks))
    assert made == [
        {"series": "training", "step": 100, "loss, nats": 0.1234567890123},
        {"series": "own", "step": 10, "loss, nats": 3.5},
        {"series": "lowest", "step": 10, "loss, nats": 3.5},
    ]


@pytest.mark.parametrize("is_level", [False, True])
def test_bars_have_their_label_behind_their_place(is_level: bool) -> None:
    axes = Axis("token", labels=("the", "the")), Axis("share")
    bars = Bars("", range(2), (0.25, 0.75), (0,), "", is_level)
    made = rows_of(chart(*(reversed(axes) if is_level else axes), bars))
    assert [(row["place"], row["token"], row["share"]) for row in made] == [
        (0, "the", 0.25),
        (1, "the", 0.75),
    ]


def test_cells_have_both_labels_and_a_value_that_is_not_that_of_the_scale() -> None:
    tokens = (Token(4, "▁a"), Token(5, "b\0"))
    grid = Grid(np.array([[0.25, np.nan]]), weights())
    masked = Cells("", np.array([[False, True]]), "masked", "")
    x, y = Axis("position", labels=tokens), Axis("position", labels=("1",))
    made = rows_of(chart(x, y, masked, grid))
    assert [list(row.values()) for row in made] == [
        [0, 0, "1", "▁a", 0.25],
        [0, 1, "1", made[1]["position 2"], None],
    ]
    assert list(made[0]) == ["row", "column", "position", "position 2", "weight"]
    assert "\0" not in made[1]["position 2"]


def test_cells_of_one_colour_say_their_state_and_numbers_stand_where_they_begin() -> None:
    where = np.array([[True, False], [False, True]])
    named = Cells("forbidden", where, "masked", "")
    made = rows_of(chart(Axis(""), Axis("query"), named))
    assert [(row["row"], row["column"], row["state"]) for row in made] == [
        (0, 0, "forbidden"),
        (1, 1, "forbidden"),
    ]
    grid = Grid(np.ones((1, 2)), weights(), rows=(8.0, 4.0), columns=(10.0, 5.0))
    assert [(row["y"], row["x"]) for row in rows_of(chart(Axis(""), Axis(""), grid))] == [
        (8.0, 10.0),
        (8.0, 15.0),
    ]
