"""The views of biases and of rotary positions: what stands in the figure."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.transformer.watch.turning import THETA, Reader, Turning, by
from tests.viz.conftest import placed_recording
from transformer.analysis.reading import Selection
from transformer.positions.relative_bias import paper_slopes
from transformer.recording import Recording
from transformer.watch import record_module
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT
from viz.views import relative

WHERE = "encoder self"


def test_biases_are_curves_or_cells_of_the_same_numbers(recordings: dict[str, Recording]) -> None:
    recording = recordings["relative"]
    where = f"{WHERE}, from L1"
    call = recording.attentions["encoder_self"].calls[1]
    assert call.bias is not None
    curves = paint(relative.chart_relative_bias(recording, where, relative.CURVES), LIGHT)
    cells = paint(relative.chart_relative_bias(recording, where, relative.CELLS), LIGHT).data[0]
    assert len(curves.data) == 4
    assert cells.x0 == -6 and cells.dx == 1
    for head, curve in enumerate(curves.data):
        assert curve.x.tolist() == list(range(-6, 7))
        assert np.array_equal(curve.y, cells.z[head])
        for distance, value in zip(curve.x, curve.y, strict=True):
            diagonal = call.bias[head].diagonal(int(distance))
            assert bool((diagonal == float(value)).all())


def test_slopes_stand_beside_the_published_ones(recordings: dict[str, Recording]) -> None:
    paper, own = paint(relative.chart_alibi_slopes(recordings["alibi"], WHERE), DARK).data
    np.testing.assert_array_equal(paper.y, paper_slopes(4).numpy())
    np.testing.assert_allclose(own.y, paper.y, rtol=1e-5)
    assert "the paper's" in relative.describe_alibi_slopes(recordings["alibi"], WHERE)


def test_alibi_s_axis_names_powers_of_two(recordings: dict[str, Recording]) -> None:
    ticks = paint(relative.chart_alibi_slopes(recordings["alibi"], WHERE), LIGHT).layout.yaxis
    assert ticks.ticktext[:2] == ("1", "1/2") and ticks.ticktext[-1] == "1/256"
    assert ticks.tickvals[-1] == 2**-8


def test_waves_are_full_turns(recordings: dict[str, Recording]) -> None:
    waves, length = paint(relative.chart_rotary_waves(recordings["rotary"]), LIGHT).data
    assert waves.y.tolist() == pytest.approx([2 * math.pi])
    assert length.y.tolist() == [7, 7] and length.name == "length of this text: 7"
    assert "6.3 to 6.3 positions" in relative.describe_rotary_waves(recordings["rotary"])


def test_decay_starts_at_all_of_it(recordings: dict[str, Recording]) -> None:
    ones, bound = paint(relative.chart_rotary_decay(recordings["rotary"], WHERE, "256"), LIGHT).data
    assert len(ones.y) == len(bound.y) == 257
    assert ones.y[0] == bound.y[0] == 1
    assert ones.y[3] == pytest.approx((2 * math.cos(3) + 2) / 4)  # half of the dimensions turn


def test_scores_are_the_head_s_own(recordings: dict[str, Recording]) -> None:
    recording = recordings["rotary"]
    low, high, mean = paint(
        relative.chart_rotary_scores(recording, Selection("encoder_self", 1, 2)), LIGHT
    ).data
    scores = recording.attentions["encoder_self"].calls[1].scores()[2]
    for place, distance in enumerate(range(-6, 7)):
        cells = scores.diagonal(distance)
        assert float(mean.y[place]) == pytest.approx(float(cells.mean()), abs=1e-6)
        assert (low.y[place], high.y[place]) == (float(cells.min()), float(cells.max()))


@pytest.mark.parametrize("n", [1, 3, 256])
@pytest.mark.parametrize("name", ["alibi", "relative", "rotary"])
def test_they_draw_any_length(name: str, n: int) -> None:
    # The invented tables have 40 positions.
    n = min(n, 40) if name == "relative" else n
    recording = placed_recording(name, n)
    for view in relative.VIEW:
        if not view.applies_to(recording):
            continue
        choices = {each.name: each.options(recording)[-1] for each in view.controls}
        figure = paint(view.content(recording, **choices), DARK)
        assert figure.layout.height < 1150
        assert len(json.dumps(figure.to_plotly_json(), default=str)) < 1_500_000
        assert view.describe(recording, **choices).endswith(".")


def test_what_is_no_line_has_no_slopes_to_show(recordings: dict[str, Recording]) -> None:
    with pytest.raises(ValueError, match="applies_to"):
        paint(relative.chart_alibi_slopes(recordings["relative"], f"{WHERE}, from L0"), LIGHT)


def test_scores_need_queries_and_keys_that_turn() -> None:
    recording = placed_recording("rotary", 5)
    assert relative.applies_rotary_scores(recording)
    assert not relative.applies_rotary_scores(placed_recording("alibi", 5))
    assert torch.equal(recording.rotary[WHERE].frequencies, torch.ones(1))


def test_pictures_of_what_turns_name_its_layers() -> None:
    turned = [by(), by(theta=THETA / 10), by()]
    recording = record_module(Reader(*map(Turning, turned)).eval(), torch.arange(6)[None])
    first, *_ = recording.rotary
    chart = relative.chart_rotary_decay(recording, first, "256")
    assert chart.more.endswith("in L0, L2")
    names = [mark.name for mark in relative.chart_rotary_waves(recording).marks]
    assert [name.rpartition(", in ")[2] for name in names[:2]] == ["L0, L2", "L1"]


def with_closed_cells(recording: Recording) -> Recording:
    (attention,) = recording.attentions.values()
    closed = torch.zeros_like(attention.calls[0].allowed())
    calls = tuple(replace(call, mask=closed) for call in attention.calls)
    return replace(recording, attentions={attention.kind: replace(attention, calls=calls)})


@pytest.mark.parametrize("name", ["alibi", "relative", "rotary"])
def test_where_no_cell_is_open_nothing_fails(name: str) -> None:
    recording = with_closed_cells(placed_recording(name, 3))
    assert not recording.biases
    for view in relative.VIEW:
        if view.applies_to(recording):
            choices = {each.name: each.options(recording)[-1] for each in view.controls}
            view.content(recording, **choices)
            assert view.describe(recording, **choices).endswith(".")
