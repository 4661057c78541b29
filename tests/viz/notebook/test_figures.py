"""figure(): what a view draws, with its first choices or given ones."""

import pytest
from plotly.graph_objects import Figure

from transformer import Recording
from transformer.analysis.reading import Selection
from viz import figure
from viz.painters.chart_plotly import figure as drawn
from viz.theme import DARK, LIGHT
from viz.views.encodings import ENCODING_CURVES_VIEW, chart_encoding_curves
from viz.views.heads import chart_head_heatmap


def test_a_figure_is_what_its_view_draws(recording: Recording) -> None:
    shown = figure(recording, "head_heatmap", theme="dark", selection=("cross", 1, 1))
    assert shown == drawn(chart_head_heatmap(recording, Selection("cross", 1, 1)), DARK)
    assert isinstance(shown, Figure)


def test_a_choice_left_out_is_the_first(recording: Recording) -> None:
    first = {
        control.name: control.options(recording)[0] for control in ENCODING_CURVES_VIEW.controls
    }
    expected = drawn(chart_encoding_curves(recording, **first), LIGHT)
    assert figure(recording, ENCODING_CURVES_VIEW.name) == expected


def test_several_dimensions_may_be_chosen(recording: Recording) -> None:
    (name,) = (control.name for control in ENCODING_CURVES_VIEW.controls if "dim" in control.name)
    shown = figure(recording, ENCODING_CURVES_VIEW.name, **{name: [0, 3]})
    assert len(shown.data) == 2
    with pytest.raises(ValueError, match=rf"{name} may not be \[99\]: there is "):
        figure(recording, ENCODING_CURVES_VIEW.name, **{name: [99]})


def test_mistakes_end_in_a_sentence(recording: Recording) -> None:
    with pytest.raises(ValueError, match=r"no view 'heatmap': it has .*head_heatmap"):
        figure(recording, "heatmap")
    with pytest.raises(ValueError, match="no choice 'head': it has selection"):
        figure(recording, "head_heatmap", head=3)
    with pytest.raises(ValueError, match=r"selection may not be .*: there is "):
        figure(recording, "head_heatmap", selection=("cross", 7, 0))
