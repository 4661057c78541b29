"""figure(): what a view draws, with its first choices or given ones."""

import pytest
from plotly.graph_objects import Figure

from transformer import Recording
from transformer.analysis.selection import Selection
from viz import figure
from viz.painters.chart_plotly import figure as drawn
from viz.theme import DARK, LIGHT
from viz.views import encoding_curves, head_heatmap


def test_a_figure_is_what_its_view_draws(recording: Recording) -> None:
    shown = figure(recording, "head_heatmap", theme="dark", selection=("cross", 1, 1))
    assert shown == drawn(head_heatmap.chart(recording, Selection("cross", 1, 1)), DARK)
    assert isinstance(shown, Figure)


def test_a_choice_left_out_is_the_first(recording: Recording) -> None:
    first = {
        control.name: control.options(recording)[0] for control in encoding_curves.VIEW.controls
    }
    expected = drawn(encoding_curves.chart(recording, **first), LIGHT)
    assert figure(recording, encoding_curves.VIEW.name) == expected


def test_several_dimensions_may_be_chosen(recording: Recording) -> None:
    (name,) = (control.name for control in encoding_curves.VIEW.controls if "dim" in control.name)
    shown = figure(recording, encoding_curves.VIEW.name, **{name: [0, 3]})
    assert len(shown.data) == 2
    with pytest.raises(ValueError, match=rf"{name} may not be \[99\]: there is "):
        figure(recording, encoding_curves.VIEW.name, **{name: [99]})


def test_mistakes_end_in_a_sentence(recording: Recording) -> None:
    with pytest.raises(ValueError, match=r"no view 'heatmap': it has .*head_heatmap"):
        figure(recording, "heatmap")
    with pytest.raises(ValueError, match="no choice 'head': it has selection"):
        figure(recording, "head_heatmap", head=3)
    with pytest.raises(ValueError, match=r"selection may not be .*: there is "):
        figure(recording, "head_heatmap", selection=("cross", 7, 0))
