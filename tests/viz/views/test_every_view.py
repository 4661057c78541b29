"""The contract of views: runs on every one that discover() finds, in light and in dark."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from plotly.graph_objects import Figure

from tests.representatives import cases, thorough
from transformer.discover import discover
from transformer.recording import Recording
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT, SERIES, Theme
from viz.ui.picture import views_of_page
from viz.views.view import View

PLACED = ("alibi", "relative", "rotary")
VIEWS: dict[str, View] = discover("viz.views", "VIEW")
HAS = {
    "translator": {"attentions", "positions"},
    "generator": {"attentions", "positions"},
    "projected": {"attentions", "positions"},
    "prompt": {"attentions", "positions"},
    "mean of 2": {"attentions", "positions", "classification"},
    "max of 2": {"attentions", "positions", "classification"},
    "mean of 3": {"attentions", "classification"},
    "max of 3": {"attentions", "positions", "classification"},
    "masked": {"attentions", "masked"},
    "classified": {"attentions", "classification"},
    "scored": {"attentions", "numbers"},
    "alibi": {"attentions", "biases"},
    "relative": {"attentions", "biases"},
    "rotary": {"attentions", "rotary"},
}
"""What the recording of each model has."""
OTHER_SORT = {("alibi_slopes", "relative"), ("pooled_positions", "classified")}
"""Two views that refuse a recording, as what it has is of the wrong sort."""
FEW = {
    "attentions": ("translator", "prompt"),
    "positions": ("translator", "projected"),
    "classification": ("mean of 2", "max of 3", "classified"),
    "masked": ("masked",),
    "numbers": ("scored",),
    "biases": ("alibi", "relative"),
    "rotary": ("rotary",),
}
"""What a view needs -> the recordings in which that is of another sort or shape.

Nothing is written yet; numbers are joined to the embedding instead of being added; a class has its
parts by a mean or by a maximum, or none; biases have a slope or are learned.
"""
every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


@pytest.fixture(autouse=True)
def applies(request: pytest.FixtureRequest, recordings: dict[str, Recording]) -> None:
    """A view is tested with a recording that it does not refuse."""
    given = getattr(request.node, "callspec", None)
    if given and {"view", "name"} <= set(given.params):
        view, name = given.params["view"], given.params["name"]
        if not view.applies_to(recordings[name]):
            pytest.skip(f"{view.name} refuses this recording")


def every_recording(*names: str) -> pytest.MarkDecorator:
    """Every view with each of these recordings that has what it needs."""
    pairs = [(view, name) for view in VIEWS.values() for name in names if view.needs in HAS[name]]
    pairs = [(view, name) for view, name in pairs if (view.name, name) not in OTHER_SORT]
    ids = [f"{view.name} of {name}" for view, name in pairs]
    few = {
        f"{view.name} of {name}": (view, name)
        for view, name in pairs
        if name in FEW.get(view.needs, (name,))
        or not {*names} & {*FEW[view.needs]}  # none of them is tried
    }
    return pytest.mark.parametrize(("view", "name"), cases(pairs, few), ids=ids)


def choices(view: View, recording: Recording, i: int = 0) -> dict[str, Any]:
    """The i-th option of each control; 0 is the default."""
    return {control.name: control.options(recording)[i] for control in view.controls}


def text_of(figure: Figure) -> str:
    return str(figure.to_json())


def test_the_views_are_found() -> None:
    assert {"head_heatmap", "head_difference", "encoding_heatmap", "token_vectors"} <= set(VIEWS)


@every_view
def test_it_applies_where_there_is_what_it_needs(
    view: View, recordings: dict[str, Recording]
) -> None:
    assert set(recordings) == set(HAS)
    for name, recording in recordings.items():
        refuses = view.applies is not None and not view.applies(recording)
        assert view.applies_to(recording) == (view.needs in HAS[name] and not refuses)


def test_two_views_refuse_what_is_of_the_wrong_sort(recordings: dict[str, Recording]) -> None:
    refused = {(v, n) for v in VIEWS for n in HAS if VIEWS[v].needs in HAS[n]}
    refused = {(v, n) for v, n in refused if not VIEWS[v].applies_to(recordings[n])}
    assert refused >= OTHER_SORT


@every_view
def test_a_page_lists_it_where_it_applies(view: View, recordings: dict[str, Recording]) -> None:
    for recording in recordings.values():
        assert (view.name in views_of_page(view.page, recording)) == view.applies_to(recording)
    assert not view.beside or view.beside in {control.name for control in view.controls}


def test_the_order_of_a_page_s_views(recordings: dict[str, Recording]) -> None:
    names = [
        *views_of_page("positions", recordings["alibi"]),
        *views_of_page("decode", recordings["max of 3"]),
    ]
    shipped = ["alibi_slopes", "relative_bias", "class_probabilities", "pooled_positions"]
    assert [name for name in names if name in shipped] == shipped
    assert "head_heatmap" not in views_of_page("explore", recordings["alibi"])  # Explore's own


@every_recording(*HAS)
@pytest.mark.parametrize("i", [0, -1])
def test_it_draws_the_default_and_the_last_option(
    view: View, name: str, recordings: dict[str, Recording], i: int
) -> None:
    recording = recordings[name]
    figure = paint(view.content(recording, **choices(view, recording, i)), LIGHT)
    assert isinstance(figure, Figure)
    assert figure.layout.meta["id"].startswith(view.name)
    assert figure.layout.height > 0
    text_of(figure)


@every_recording("translator", "generator", "max of 3", *PLACED)
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("i", [0, -1])
def test_its_colours_are_the_themes(
    view: View, name: str, theme: Theme, recordings: dict[str, Recording], i: int
) -> None:
    recording = recordings[name]
    figure = paint(view.content(recording, **choices(view, recording, i)), theme)
    layout = figure.layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == theme.background
    assert layout.font.color == theme.text
    own = {theme.background, theme.surface, theme.text, theme.dim, theme.grid, theme.masked}
    own |= {
        theme.accent,
        *SERIES,
        *theme.head_colours,
        *theme.attention_scale,
        *theme.difference_scale,
    }
    assert set(colours_in(json.loads(text_of(figure)))) <= own


def colours_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [colour for each in value.values() for colour in colours_in(each)]
    if isinstance(value, list):
        return [colour for each in value for colour in colours_in(each)]
    return [value] if isinstance(value, str) and value.startswith("#") else []


@every_recording(*HAS)
@pytest.mark.parametrize("i", [0, -1])
def test_it_is_said_in_a_sentence(
    view: View, name: str, recordings: dict[str, Recording], i: int
) -> None:
    sentence = view.describe(recordings[name], **choices(view, recordings[name], i))
    assert sentence.endswith(".")
    assert "nan" not in sentence
    assert view.title and view.explain.endswith(".")


@every_recording("translator", "generator", "max of 3")
@pytest.mark.parametrize("size", [(1, 1), thorough(((1, 3),)), thorough(((60, 70),)), (256, 200)])
def test_it_draws_any_length(
    view: View,
    name: str,
    recorders: dict[str, Callable[[int, int], Recording]],
    size: tuple[int, int],
) -> None:
    recording = recorders[name](*size)
    figure = paint(view.content(recording, **choices(view, recording)), LIGHT)
    assert view.describe(recording, **choices(view, recording))
    assert figure.layout.height < 1150
    assert len(text_of(figure)) < 1_500_000


@every_recording("translator", "generator", "max of 3")
@pytest.mark.parametrize("theme", [LIGHT, thorough(DARK)], ids=["light", "dark"])
def test_pieces_show_literally(
    view: View, name: str, theme: Theme, nasty_recordings: dict[str, Recording]
) -> None:
    nasty = nasty_recordings[name]
    for i in (0, -1):
        text = text_of(paint(view.content(nasty, **choices(view, nasty, i)), theme))
        assert "<script" not in text and "\\u003cscript" not in text
        assert "<b>x" not in text and "\\u003cb\\u003ex" not in text
        assert "\u202e" not in text


@every_recording("translator", "mean of 2", "masked", *PLACED)
def test_the_same_choices_give_the_same_figure(
    view: View, name: str, recordings: dict[str, Recording]
) -> None:
    recording = recordings[name]
    first, second = (
        text_of(paint(view.content(recording, **choices(view, recording)), LIGHT)) for _ in range(2)
    )
    assert first == second


@every_recording("translator", "generator", "mean of 2", *PLACED)
def test_controls_have_their_own_names(
    view: View, name: str, recordings: dict[str, Recording]
) -> None:
    names = [control.name for control in view.controls]
    assert len(set(names)) == len(names)
    for control in view.controls:
        options = control.options(recordings[name])
        assert len(set(options)) == len(options) > 0
        assert control.title
