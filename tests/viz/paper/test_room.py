"""The room that a figure takes of a paper's page, and that its texts have."""

import pytest

from tests.viz.paper.test_every_picture import box
from viz.figure_at import page_of
from viz.paper.figure import COLUMN, PAGE
from viz.paper.record import address_of
from viz.paper.sheet import INCH, Line, Mark, Words
from viz.ui.saving import figure_of


def marks_of(address: str, width: float = COLUMN, name: str = "") -> list[Mark]:
    pane, figures = page_of(address_of(address))
    name = name or next(reversed(figures))
    return list(figure_of(pane, figures[name], name=name).sheet(width).marks)


def test_the_title_of_an_axis_is_broken_and_not_cut() -> None:
    marks = marks_of("./decode?checkpoint=sentiment&text=A+gorgeous+film.")
    said = {mark.text for mark in marks if isinstance(mark, Words)}
    assert "added to logit(positive) − logit(negative)" in said
    assert any(text.startswith("sum +") and "bias" in text for text in said)
    assert not [text for text in said if text.endswith("…")]


def test_a_heading_that_is_wider_than_its_column_is_broken() -> None:
    chosen = "sweep_over=sentences&sweep_sentences=3+7+2%0A4+9+5"
    marks = marks_of(f"./sweep?checkpoint=copy&{chosen}")
    said = [mark.text for mark in marks if isinstance(mark, Words)]
    assert any("nats" in text for text in said)
    assert not [text for text in said if text.endswith("…")]


def test_a_small_map_stands_in_the_middle_of_its_column() -> None:
    marks = marks_of("./compare?checkpoint=copy&text=3+7+2+9", PAGE)
    ends = [box(mark)[::2] for mark in marks if isinstance(mark, Words)]
    left, right = min(a for a, _ in ends), PAGE * INCH - max(b for _, b in ends)
    assert left > 0.2 * PAGE * INCH and abs(left - right) < 8


def test_all_steps_of_a_long_text_and_its_candidates_fit_a_page() -> None:
    pane, figures = page_of(address_of("./decode?checkpoint=shakespeare&text=O"))
    figure = figure_of(pane, figures["steps"], name="steps")
    assert len(pane.answer.recording.target) == 80
    assert all(figure.sheet(width).height < 9 * INCH for width in (COLUMN, PAGE))


@pytest.mark.parametrize("checkpoint", ["en-de", "en-de-1", "en-de-small"])
def test_no_words_of_the_loss_lie_on_a_curve(checkpoint: str) -> None:
    """Losses lie on both sides of the entropy of smoothed labels: validation has plain ones."""
    pane, figures = page_of(address_of(f"./training?checkpoint={checkpoint}&topic=loss"))
    marks = figure_of(pane, figures["loss-curve"]).draw(COLUMN * INCH).marks
    words = [it for it in marks if isinstance(it, Words)]
    assert any(it.text.startswith("entropy") for it in words)
    curves = [it for it in marks if isinstance(it, Line) and it.facts]
    points = [point for curve in curves for part in curve.parts for point in part]
    assert len(points) > 10
    for left, top, right, bottom in map(box, words):
        assert not [1 for x, y in points if left < x < right and top < y < bottom]


@pytest.mark.parametrize("width", [2.2, COLUMN, PAGE])
def test_arrows_say_how_much_weight_is_hidden_at_every_width(width: float) -> None:
    chosen = "special=hidden&kind=cross&layer=2&head=3"
    address = f"./?checkpoint=en-de-small&text=Tom+lives+in+Boston.&{chosen}"
    marks = marks_of(address, width, "picture")
    words = [mark for mark in marks if isinstance(mark, Words)]
    (said,) = (each for each in words if each.text.startswith("hidden special tokens have"))
    left, top, right, bottom = box(said)
    assert left >= 0 and right <= width * INCH and not said.text.endswith("…")
    for other in words:
        if other is not said:
            a, b, c, d = box(other)
            assert c <= left or right <= a or d <= top or bottom <= b, other.text
