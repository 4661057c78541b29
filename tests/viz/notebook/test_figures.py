"""figure(): what a view draws, with its first choices or given ones."""

import pytest
from plotly.graph_objects import Figure

from transformer import InputError, Recording
from transformer.analysis.reading import Selection
from transformer.old_spelling import Respelled, TwiceGiven
from transformer.recording.data import NoSuchHead
from viz import figure
from viz.painters.chart_plotly import figure as drawn
from viz.theme import DARK, LIGHT
from viz.views.encodings import ENCODING_CURVES_VIEW, chart_encoding_curves
from viz.views.heads import chart_head_difference, chart_head_heatmap


def test_a_figure_is_what_its_view_draws(recording: Recording) -> None:
    shown = figure(recording, "head_heatmap", kind="cross", layer=1, head=1, theme="dark")
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
    with pytest.raises(InputError, match="no choice 'side': it has kind, layer, head"):
        figure(recording, "head_heatmap", side="source")
    with pytest.raises(InputError, match="no choice 'head': it has side"):
        figure(recording, "encoding_curves", head=0)
    with pytest.raises(InputError, match="no kind of attention 'crossed'"):
        figure(recording, "head_heatmap", kind="crossed")
    with pytest.raises(NoSuchHead, match="no layer 7"):
        figure(recording, "head_heatmap", kind="cross", layer=7)
    with pytest.raises(InputError, match="second is a head"):
        figure(recording, "head_difference", second=3)
    with pytest.raises(InputError, match="no theme"):
        figure(recording, "head_heatmap", theme="blue")  # type: ignore[arg-type]


def test_two_heads_are_one_by_its_place_and_one_by_name(recording: Recording) -> None:
    """The first is chosen as in every picture."""
    heads = Selection("cross", 1, 1), Selection("cross", 0, 1)
    expected = drawn(chart_head_difference(recording, *heads), LIGHT)
    of = {"kind": "cross", "layer": -1, "head": 1}
    assert figure(recording, "head_difference", **of, second=("cross", 0, 1)) == expected


def test_a_second_head_left_out_is_another_of_the_same_kind_and_layer(
    recording: Recording,
) -> None:
    heads = Selection("cross", 1, 0), Selection("cross", 1, 1)
    expected = drawn(chart_head_difference(recording, *heads), LIGHT)
    assert figure(recording, "head_difference", kind="cross", layer=1) == expected


def test_the_old_spelling_of_a_head_works_and_warns(recording: Recording) -> None:
    of = ("cross", 1, 0)
    expected = figure(recording, "head_heatmap", kind="cross", layer=1)
    with pytest.warns(Respelled, match="layer") as caught:
        assert figure(recording, "head_heatmap", selection=of) == expected
    assert caught[0].filename == __file__
    with pytest.raises(TwiceGiven, match="selection"):
        figure(recording, "head_heatmap", layer=1, selection=of)
