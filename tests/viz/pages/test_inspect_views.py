"""The figures about a checkpoint's tensors: what stands in them."""

import numpy as np
import pytest
import torch

from tests.viz.conftest import NASTY
from transformer.inspection.tensor_statistics import histogram
from transformer.token import Token
from viz.figures.decoding import split_text
from viz.figures.positions import chart_position_similarity, describe_position_similarity
from viz.pages.inspect import (
    SMALL,
    chart_circuit_heatmap,
    chart_copying_scores,
    describe_circuit_heatmap,
    describe_copying_scores,
)
from viz.pages.inspect.tensor import (
    chart_singular_values,
    chart_tensor_histogram,
    chart_tensor_picture,
    describe_singular_values,
    describe_tensor_histogram,
    describe_tensor_picture,
    picture,
)
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT

TOKENS = tuple(Token(i, piece, special=i == 1) for i, piece in enumerate(NASTY))


def test_the_histogram_shows_every_bin() -> None:
    edges, counts = histogram(torch.tensor([0.0, 0.1, 0.9, 1.0]), 4)
    (bars,) = paint(chart_tensor_histogram(edges, counts), LIGHT).data
    assert list(bars.y) == [2, 0, 0, 2]
    assert list(bars.x) == pytest.approx([0.125, 0.375, 0.625, 0.875])
    assert "4 values from 0.0000 to 1.0000" in describe_tensor_histogram(edges, counts)


def test_singular_values_are_counted_from_one() -> None:
    values = torch.tensor([3.0, 1.0])
    (curve,) = paint(chart_singular_values(values), DARK).data
    assert list(curve.x) == [1, 2] and list(curve.y) == [3, 1]
    assert "fall from 3.0000 to 1.0000" in describe_singular_values(values)


def test_a_small_picture_is_exact_and_says_so() -> None:
    torch.manual_seed(0)
    matrix = torch.randn(30, 20)
    shown = picture(matrix, (10, 30), (5, 20), "mean")
    (cells,) = paint(chart_tensor_picture(shown), LIGHT).data
    np.testing.assert_array_equal(cells.z, matrix[10:, 5:].numpy())
    assert (cells.y0, cells.x0, cells.dy, cells.dx) == (10, 5, 1, 1)
    assert cells.zmin == -cells.zmax == -float(matrix[10:, 5:].abs().max())
    assert shown.says == "A cell is one value."
    assert "Rows 10 to 29 and columns 5 to 19" in describe_tensor_picture(shown)


def test_a_large_picture_is_pooled_and_says_how() -> None:
    matrix = torch.zeros(401, 100)
    matrix[3, 7] = -5
    largest = picture(matrix, (0, 401), (0, 100), "largest")
    (cells,) = paint(chart_tensor_picture(largest), LIGHT).data
    assert cells.z.shape == (134, 100)
    assert cells.z[1, 7] == -5
    assert cells.customdata[1, 7].tolist() == [3, 7]
    assert largest.says.startswith("A cell is a block of 3 × 1 values, shown as its value farthest")
    mean = picture(matrix, (0, 401), (0, 100), "mean")
    assert float(mean.cells[1, 7]) == pytest.approx(5 / 3)
    (cells,) = paint(chart_tensor_picture(mean), LIGHT).data
    assert cells.zmin == 0


def test_nan_is_a_gap() -> None:
    shown = picture(torch.full((2, 2), torch.nan), (0, 2), (0, 2), "largest")
    assert paint(chart_tensor_picture(shown), LIGHT).data[0].zmax == 1
    assert "none finite" in describe_tensor_picture(shown)


@pytest.mark.parametrize("circuit", ["qk", "ov"])
def test_circuits_show_pieces_literally(circuit: str) -> None:
    torch.manual_seed(0)
    values = torch.randn(len(TOKENS), len(TOKENS), dtype=torch.float64)
    figure = paint(chart_circuit_heatmap(circuit, values, TOKENS), LIGHT)
    np.testing.assert_array_equal(figure.data[0].z, values.float().numpy())
    assert "<script>" not in figure.to_json() and "<b>x" not in figure.to_json()
    assert f"{float(values.max()):.4f}" in describe_circuit_heatmap(circuit, values, TOKENS)


def test_circuits_of_many_tokens_label_some_and_hover_on_all() -> None:
    tokens = [Token(i, f"▁word{i}") for i in range(32)]
    layout = paint(
        chart_circuit_heatmap("ov", torch.eye(32), tokens, SMALL),
        LIGHT,
    ).layout
    assert layout.yaxis.scaleanchor == "x" and len(layout.xaxis.ticktext) == 32
    for axis in (layout.xaxis2, layout.yaxis2):
        assert len(axis.ticktext) <= SMALL


def test_copying_scores_name_the_best_head() -> None:
    scores = torch.tensor([[0.1, -0.5, 0.2], [0.3, 0.9, 0.0]])
    figure = paint(chart_copying_scores(scores), LIGHT)
    assert list(figure.layout.yaxis.ticktext) == ["L0", "L1"]
    assert (figure.data[0].zmin, figure.data[0].zmax) == (-1, 1)
    assert "0.9000, which is that of L1 H1" in describe_copying_scores(scores)


def test_position_similarity_says_the_mean_of_neighbours() -> None:
    cosines = torch.tensor([[1.0, 0.4, 0.0], [0.4, 1.0, 0.8], [0.0, 0.8, 1.0]])
    np.testing.assert_array_equal(
        paint(chart_position_similarity(cosines), LIGHT).data[0].z, cosines
    )
    said = describe_position_similarity(cosines)
    assert "3 learned positions, least 0.0000; neighbours have 0.6000" in said


def test_pieces_of_a_text_are_only_text() -> None:
    shown = split_text(TOKENS)
    assert "<script>" not in shown and "&lt;script&gt;" in shown
    assert shown.count("<li") == len(TOKENS)
    assert shown.count("special") - shown.split("</style>")[0].count("special") == 1
    assert "U+202E" in shown
