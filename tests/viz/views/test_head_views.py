"""One head and the difference of two: what stands in the figure."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from tests.random_maps import random_attention, random_recording
from transformer.analysis.metrics.metric import largest_difference
from transformer.analysis.reading import Selection
from transformer.recording import Recording
from viz.exhibits.chart import Axis
from viz.labels import figure_label
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT
from viz.views.heads import (
    MOST_LABELS,
    chart_head_difference,
    chart_head_heatmap,
    describe_head_difference,
    describe_head_heatmap,
    rows_of,
    why_not,
)


@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self", "cross"])
def test_the_figure_holds_the_exact_weights(recording: Recording, kind: str) -> None:
    attention = recording.attentions[kind]
    figure = paint(chart_head_heatmap(recording, Selection(kind, 1, 1)), LIGHT)
    shown = figure.data[-1]
    assert shown.z.dtype == np.float32
    assert (shown.zmin, shown.zmax) == (0, 1)
    allowed = attention.allowed(1)[1].numpy()
    assert np.isnan(shown.z[~allowed]).all()
    assert np.array_equal(shown.z[allowed], attention.weights(1, 1).numpy()[allowed])
    assert ":.4f" in shown.hovertemplate


def test_the_shade_is_that_of_the_square_root_as_on_screen(recording: Recording) -> None:
    shown = paint(chart_head_heatmap(recording, Selection("cross", 1, 1)), LIGHT).data[-1]
    n = len(LIGHT.attention_scale) - 1
    assert shown.colorscale == tuple(
        ((i / n) ** 2, colour) for i, colour in enumerate(LIGHT.attention_scale)
    )
    assert "square-root" in shown.colorbar.title.text


def test_masked_cells_have_a_colour_of_their_own_and_say_so(recording: Recording) -> None:
    under, shown = paint(chart_head_heatmap(recording, Selection("decoder_self", 0, 0)), DARK).data
    assert np.array_equal(under.z == 1, np.isnan(shown.z))
    assert under.colorscale[-1][1] == DARK.masked != DARK.background
    assert "masked" in under.hovertemplate
    assert shown.hoverongaps is False


def test_nothing_is_masked_where_every_key_may_be_seen(recording: Recording) -> None:
    assert len(paint(chart_head_heatmap(recording, Selection("cross", 0, 0)), LIGHT).data) == 1


def test_the_first_query_stands_on_top_and_repeated_tokens_stay_apart(nasty: Recording) -> None:
    tokens = nasty.attentions["encoder_self"].keys
    axes = paint(chart_head_heatmap(nasty, Selection("encoder_self", 0, 0)), LIGHT).layout
    assert axes.yaxis.range == (6.5, -0.5)
    assert axes.xaxis.tickvals == tuple(range(7))
    assert axes.xaxis.ticktext == tuple(figure_label(token, LIGHT.dim) for token in tokens)


def test_rows_of_cross_attention_are_the_tokens_being_produced(recording: Recording) -> None:
    cross = recording.attentions["cross"]
    rows = rows_of(cross)
    assert rows.labels == cross.produced
    assert "writing" in rows.title
    own = rows_of(recording.attentions["decoder_self"])
    assert own.labels == recording.attentions["decoder_self"].queries
    assert "reading" in own.title


def test_long_axes_show_fewer_labels_and_keep_all_for_hovering(
    recorder: Callable[[int, int], Recording],
) -> None:
    axes = paint(chart_head_heatmap(recorder(200, 5), Selection("cross", 0, 0)), LIGHT).layout
    assert len(axes.xaxis.ticktext) == 200
    assert axes.xaxis.showticklabels is False
    assert 0 < len(axes.xaxis2.ticktext) <= Axis("").most_labels
    assert axes.xaxis2.ticktext[1] == axes.xaxis.ticktext[axes.xaxis2.tickvals[1]]
    assert axes.xaxis2.matches == "x"
    assert axes.yaxis.showticklabels is True


def test_the_description_names_the_strongest_weight(recording: Recording) -> None:
    weights = recording.attentions["cross"].weights(0, 1)
    said = describe_head_heatmap(recording, Selection("cross", 0, 1))
    assert f"{weights.max():.3f}" in said
    assert "L0 H1" in said


def test_the_difference_is_exact_and_its_scale_fits_and_says_so(recording: Recording) -> None:
    first, second = Selection("encoder_self", 0, 0), Selection("encoder_self", 1, 1)
    shown = paint(chart_head_difference(recording, first, second), LIGHT).data[-1]
    a = recording.attentions["encoder_self"].weights(0, 0)
    b = recording.attentions["encoder_self"].weights(1, 1)
    largest = float((a - b).abs().max())
    assert (shown.zmin, shown.zmax) == (-largest, largest)
    assert shown.colorbar.title.text == f"A − B · up to the largest: ±{largest:.2g}"
    assert torch.equal(torch.from_numpy(shown.z), a - b)
    assert f"{largest_difference(a, b):.2f}" in describe_head_difference(recording, first, second)


def test_the_cells_of_a_difference_are_square_and_labels_have_room(recorder: Any) -> None:
    long = recorder(40, 5)
    one, other = Selection("encoder_self", 0, 0), Selection("encoder_self", 0, 1)
    layout = paint(chart_head_difference(long, one, other), LIGHT).layout
    assert layout.yaxis.scaleanchor == "x"
    for axis in (layout.xaxis2, layout.yaxis2):
        assert len(axis.ticktext) <= MOST_LABELS


def test_the_difference_of_a_long_text_is_drawn_in_blocks() -> None:
    long = random_recording(random_attention(1, 2, 700, 700, "decoder_self"))
    first, second = Selection("decoder_self", 0, 0), Selection("decoder_self", 0, 1)
    figure = paint(chart_head_difference(long, first, second), LIGHT)
    weights = long.attentions["decoder_self"].weights(0)
    difference = (weights[0] - weights[1]).numpy()
    shown = figure.data[1].z
    assert shown.shape == (234, 234)
    for row, column in ((0, 0), (5, 2), (120, 119), (233, 0), (233, 233)):
        block = difference[3 * row : 3 * row + 3, 3 * column : 3 * column + 3]
        assert abs(shown[row, column]) == np.abs(block).max()
        assert shown[row, column] in block
    assert np.isnan(shown[5, 6]) and figure.data[0].z[5, 6] == 1
    assert "farthest from 0 of 3 × 3 cells" in figure.layout.annotations[0].text
    assert figure.layout.xaxis.ticktext[2].endswith("piece6")


def test_a_cell_that_one_of_both_may_attend_to_has_its_difference() -> None:
    """A word is hidden in the second run: what the first one gave it is a difference."""
    own = random_recording(random_attention(1, 2, 5, 5))
    causal = random_attention(1, 2, 5, 5, "decoder_self")
    both = replace(own, attentions={**own.attentions, "encoder_self_b": causal})
    first, second = Selection("encoder_self", 0, 0), Selection("encoder_self_b", 0, 0)
    shown = paint(chart_head_difference(both, first, second), LIGHT).data[-1]
    difference = own.attentions["encoder_self"].weights(0, 0) - causal.weights(0, 0)
    assert torch.equal(torch.from_numpy(shown.z), difference)


def test_a_head_minus_itself_is_nothing(recording: Recording) -> None:
    one = Selection("decoder_self", 1, 0)
    shown = paint(chart_head_difference(recording, one, one), LIGHT).data[-1]
    assert np.nanmax(np.abs(shown.z)) == 0
    assert shown.colorbar.title.text == "A − B · no difference"


def test_heads_of_other_tokens_have_no_difference_and_it_is_said(recording: Recording) -> None:
    first, second = Selection("encoder_self", 0, 0), Selection("cross", 0, 0)
    figure = paint(chart_head_difference(recording, first, second), LIGHT)
    assert not figure.data
    assert "No difference" in figure.layout.annotations[0].text
    said = describe_head_difference(recording, first, second)
    assert said == why_not(recording, first, second)
    assert "7 × 7 and 5 × 7" in said


def test_rows_of_a_generator_are_the_tokens_it_read(recordings: dict[str, Recording]) -> None:
    for name in ("generator", "prompt"):
        own = recordings[name].attentions["decoder_self"]
        rows = rows_of(own)
        assert (rows.title, rows.labels) == ("reading (query)", own.queries)


def test_the_description_leaves_out_rows_without_a_choice(recording: Recording) -> None:
    weights = recording.attentions["decoder_self"].weights(1, 0)[1:]
    said = describe_head_heatmap(recording, Selection("decoder_self", 1, 0))
    assert f"({weights.max():.3f})." in said  # row 0's is 1 by necessity
