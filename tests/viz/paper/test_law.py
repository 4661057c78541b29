"""Where a colour goes by the square root of a number, the figure and its caption say so."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from transformer import Recording, record
from transformer.discover import discover
from viz import head_grid, head_map, head_view
from viz.exhibits.chart import Axis, Chart, Grid, differences, weights
from viz.notebook.figures import figure
from viz.notebook.picture import Picture
from viz.painters.chart_sheet import sheet
from viz.paper.sheet import Drawing, Sheet, Words
from viz.theme import LIGHT

ROOT = "square root of the weight"
PICTURES: dict[str, Callable[[Recording], Picture]] = {
    "head_map": head_map,
    "head_grid": head_grid,
    "head_view": head_view,
}
SIGNED = {"head_map": head_map, "head_grid": head_grid}


@pytest.fixture(scope="module")
def recording() -> Recording:
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(12, 2, 16, batch_first=True).eval()
    return record(layer, torch.rand(1, 3, 12), ["one", "two", "three"])


def words(sheet: Sheet) -> str:
    return " ".join(mark.text for mark in sheet.marks if isinstance(mark, Words))


def of(picture: Picture) -> Any:
    assert picture.figure is not None
    return picture.figure


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_weights_says_it(name: str, recording: Recording) -> None:
    made = of(PICTURES[name](recording))
    assert made.record.caption.count(ROOT) + made.record.caption.count("square root of that") == 1
    if name != "head_view":  # which has no bar of colours: its lines are wide, too
        for width in (1.5, 3.3, 6.9):
            assert "Weight (square-root scale)" in words(made.sheet(width))


@pytest.mark.parametrize("name", SIGNED)
def test_what_is_evenly_coloured_says_nothing(name: str, recording: Recording) -> None:
    made = of(SIGNED[name](recording, lens="score"))
    assert "square" not in made.record.caption + words(made.sheet(3.3))


def test_numbers_of_heads_are_evenly_coloured(recording: Recording) -> None:
    assert "square" not in of(head_grid(recording, show="entropy")).record.caption


def test_a_chart_says_it() -> None:
    values, axis = np.full((2, 2), 0.25, np.float32), Axis("", labels=("a", "b"))
    for shading, is_rooted in ((weights(), True), (differences("change"), False)):
        chart = Chart("a", "a", "", axis, axis, [Grid(values, shading)])
        assert (ROOT in chart.law) is is_rooted
        assert ("square-root scale" in words(sheet(chart, LIGHT, 250))) is is_rooted


def test_each_drawing_with_a_bar_of_colours_has_a_law() -> None:
    drawings: dict[str, Drawing] = discover("viz.paper.drawings", "DRAWING")
    with_bar = {"decode_player", "head_grid", "head_map", "snapshot_player"}
    default = Drawing("", lambda data, width: Sheet(0, 0, "", ()), 1).law
    named = {name for name, each in drawings.items() if each.law.__code__ is not default.__code__}
    assert named == {*with_bar, "head_view"}


def test_a_figure_of_a_notebook_says_it(recording: Recording) -> None:
    pytest.importorskip("plotly")
    chart = figure(recording, "head_heatmap", kind="encoder_self", layer=0, head=1)
    assert "square-root scale" in str(chart.to_dict())
