"""The figures, the table and the file of "Why attention" say what the formulas say."""

import csv
import io
import re

import pytest

from transformer.complexity import LAYERS, LENGTHS, Measured, Sizes, Timing
from viz.export import costs_csv
from viz.figures.costs import (
    LONGEST,
    QUANTITIES,
    SHORTEST,
    cost_chart,
    cost_samples,
    cost_table,
    describe_costs,
    describe_times,
    lengths,
    time_chart,
)
from viz.painters.chart_plotly import figure as paint
from viz.painters.table_html import samples_body, table_html
from viz.theme import DARK, LIGHT

SIZES = Sizes(d=64, k=3, r=8)
TITLES = [layer.title for layer in LAYERS]


@pytest.fixture
def measured() -> Measured:
    """The recurrent layer was too slow for the second length."""
    times = {layer.name: (Timing(16, 0.25, 9), Timing(32, 0.5, 3)) for layer in LAYERS}
    return Measured(SIZES, "cpu", 1, times | {"recurrent": (Timing(16, 2.0, 3),)})


@pytest.mark.parametrize("quantity", QUANTITIES)
@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_curve_is_its_formula(quantity: str, theme: object) -> None:
    figure = paint(cost_chart(quantity, SIZES, 30, has_legend=False), theme)
    assert [curve.name for curve in figure.data][:4] == TITLES
    for layer, curve in zip(LAYERS, figure.data, strict=False):
        cost = getattr(layer, quantity)
        assert list(curve.y) == [cost.value(n, SIZES) for n in curve.x]
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")


def test_curves_run_from_the_shortest_to_the_longest() -> None:
    assert lengths() == sorted(set(lengths()))
    assert (lengths()[0], lengths()[-1]) == (SHORTEST, LONGEST)
    assert set(LENGTHS) <= set(lengths())


def test_the_figures_mark_n_and_where_n_is_d() -> None:
    figure = paint(cost_chart("operations", SIZES, 30, has_legend=False), LIGHT)
    lines = [shape.x0 for shape in figure.layout.shapes if shape.type == "line"]
    assert lines == [64, 30]
    said = {note.text for note in figure.layout.annotations}
    assert said == {"n = d = 64", "n = 30"}
    attention, _, recurrence, _ = figure.data
    cheaper = [a < b for a, b in zip(attention.y, recurrence.y, strict=True)]
    assert cheaper == [n < 64 for n in attention.x]


def test_the_path_without_dilation_is_a_remark() -> None:
    remark = paint(cost_chart("longest_path", SIZES, 30, has_legend=False), LIGHT).data[4]
    assert remark.y[remark.x.tolist().index(30)] == 10


def test_measured_times_are_drawn_as_they_are(measured: Measured) -> None:
    figure = paint(time_chart(measured, 30, has_legend=False), LIGHT)
    assert [curve.name for curve in figure.data] == TITLES
    assert [list(curve.y) for curve in figure.data] == [
        [0.25, 0.5],
        [0.25, 0.5],
        [2.0],
        [0.25, 0.5],
    ]
    assert list(figure.data[0].x) == [16, 32]


def test_the_texts_name_every_layer_and_value(measured: Measured) -> None:
    said = describe_costs("operations", SIZES, 30)
    assert "self-attention 57,600" in said and "recurrent 122,880" in said
    assert "recurrent 2 ms at n = 16" in describe_times(measured)


def test_the_table_holds_formulas_values_and_times(measured: Measured) -> None:
    table = table_html(cost_table(SIZES, 30, measured), LIGHT)
    assert all(title in table for title in TITLES)
    for shown in ("57,600", "15,360", "122,880", "368,640", "0.500 ms", "left out"):
        assert f"<td>{shown}</td>" in table
    assert "O(<i>n</i>² · <i>d</i>)" in table
    assert "O(log<sub><i>k</i></sub>(<i>n</i>))" in table
    assert (
        len(cost_table(SIZES, 30, None).columns) == len(cost_table(SIZES, 30, measured).columns) - 1
    )


def test_the_file_has_a_line_a_layer_and_length(measured: Measured) -> None:
    rows = list(csv.DictReader(io.StringIO(costs_csv(SIZES, 30, measured).decode(), newline="")))
    assert len(rows) == 4 * (len(LENGTHS) + 1)
    chosen = next(row for row in rows if row["layer"] == "convolutional" and row["n"] == "30")
    assert chosen["operations"] == "368640" and chosen["longest_path_steps"] == "4"
    assert chosen["measured_ms"] == chosen["device"] == ""
    timed = next(row for row in rows if row["layer"] == "recurrent" and row["n"] == "16")
    assert (timed["measured_ms"], timed["runs"], timed["device"]) == ("2", "3", "cpu")


def test_every_line_of_the_curves_is_in_the_legend() -> None:
    """The path of convolutions without dilation had a line and no name."""
    lines = {
        each.name.strip("… ")
        for each in paint(cost_chart("longest_path", SIZES, 30, has_legend=False), LIGHT).data
    }
    legend = re.sub("<[^>]*>", "|", samples_body(cost_samples()))
    assert all(name in legend for name in lines) and "not dilated" in lines
