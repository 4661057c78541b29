"""The views of positional encodings: what stands in the figure."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from transformer.analysis.reading import Selection
from transformer.recording import Recording
from viz.painters.chart_plotly import figure as paint
from viz.theme import LIGHT
from viz.views import encodings
from viz.views.encodings import (
    COSINE,
    PRODUCT,
    chart_encoding_curves,
    chart_encoding_heatmap,
    chart_encoding_similarity,
)
from viz.views.vectors import (
    PARTS,
    chart_joint_map,
    chart_token_vectors,
    describe_token_vectors,
)


@pytest.fixture
def learned(recording: Recording) -> Recording:
    """The same recording with encodings that follow no formula."""
    table = torch.randn(256, 16, generator=torch.Generator().manual_seed(0))
    positions = {side: replace(each, table=table) for side, each in recording.positions.items()}
    return replace(recording, positions=positions)


def test_the_heatmap_shows_the_captured_table(recording: Recording) -> None:
    shown = paint(chart_encoding_heatmap(recording, "source", 20), LIGHT).data[0]
    assert np.array_equal(shown.z, recording.positions["source"].table[:20].numpy())


def test_curves_carry_their_measured_wavelength(recording: Recording) -> None:
    figure = paint(chart_encoding_curves(recording, "source", (0, 1, 4), 30), LIGHT)
    assert [curve.name for curve in figure.data] == [
        "0: 6.3 positions",
        "1: 6.3 positions",
        "4: 62.8 positions",
    ]
    table = recording.positions["source"].table
    assert np.array_equal(figure.data[2].y, table[:30, 4].numpy())


def test_learned_embeddings_are_not_called_waves(learned: Recording) -> None:
    curves = paint(chart_encoding_curves(learned, "source", (0,), 30), LIGHT)
    assert curves.data[0].name == "0: no wave"
    for chart in (encodings.chart_encoding_shift, encodings.chart_encoding_shift_matrix):
        assert not paint(chart(learned, "source", 1), LIGHT).data
    for describe in (encodings.describe_encoding_shift, encodings.describe_encoding_shift_matrix):
        assert describe(learned, "source", 1) == encodings.NO_ROTATION


def test_similarity_is_the_product_or_the_cosine(recording: Recording) -> None:
    table = recording.positions["target"].table[:9]
    product = paint(
        chart_encoding_similarity(recording, "target", PRODUCT, 9),
        LIGHT,
    )
    np.testing.assert_allclose(product.data[0].z, (table @ table.T).numpy(), rtol=1e-6)
    cosine = paint(
        chart_encoding_similarity(recording, "target", COSINE, 9),
        LIGHT,
    )
    np.testing.assert_allclose(cosine.data[0].z.diagonal(), 1, rtol=1e-6)
    assert (cosine.data[0].zmin, cosine.data[0].zmax) == (-1, 1)


def test_the_shift_shows_one_angle_a_pair(recording: Recording) -> None:
    points = paint(encodings.chart_encoding_shift(recording, "source", 2), LIGHT).data[1]
    assert len(points.y) == 8
    np.testing.assert_allclose(points.y[0], np.degrees(2), rtol=1e-4)


def test_the_matrix_moves_what_it_says(recording: Recording) -> None:
    figure = paint(encodings.chart_encoding_shift_matrix(recording, "source", 3), LIGHT)
    dims = [int(text) for text in figure.layout.xaxis.ticktext]
    table = recording.positions["source"].table[:, dims].numpy()
    np.testing.assert_allclose(figure.data[0].z @ table[5], table[8], atol=1e-5)


def test_embedding_and_encoding_add_up_on_one_scale(recording: Recording) -> None:
    parts = [paint(chart_token_vectors(recording, "source", part), LIGHT).data[0] for part in PARTS]
    np.testing.assert_allclose(parts[0].z + parts[1].z, parts[2].z, atol=1e-6)
    assert len({(part.zmin, part.zmax) for part in parts}) == 1
    assert parts[0].zmin == -parts[0].zmax


def test_the_scale_ends_at_the_largest_encoding(recordings: dict[str, Recording]) -> None:
    learned = recordings["generator"]
    shown = paint(chart_encoding_heatmap(learned, "text", 20), LIGHT).data[0]
    assert shown.zmax == -shown.zmin == np.abs(shown.z).max() < 0.5


def test_vectors_that_are_projected_are_not_called_a_sum(recordings: dict[str, Recording]) -> None:
    figure = paint(chart_token_vectors(recordings["projected"], "text", "sum"), LIGHT)
    assert figure.layout.title.text == "<b>Projection of both</b>"
    said = describe_token_vectors(recordings["projected"], "text", "sum")
    assert said.startswith("The projection of both of 11 tokens of the text")
    figure = paint(chart_token_vectors(recordings["generator"], "text", "sum"), LIGHT)
    assert figure.layout.title.text == "<b>Sum</b>"


def test_a_key_has_the_colour_that_the_legend_gives_it(recording: Recording) -> None:
    drawn = paint(chart_joint_map(recording, Selection("cross", 0, 0)), LIGHT).data
    (key,) = (each for each in drawn if each.name == "key")
    points = [each for each in drawn if each.name is None and each.mode == "markers"]
    assert len(points) == len(key.x) > 2
    assert {each.marker.color for each in points} == {key.marker.color}
