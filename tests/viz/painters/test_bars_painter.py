"""Bars on a page: their numbers and sizes, as HTML."""

import re
from html import unescape

import pytest

from viz.exhibits.chart import Axis, Bars, Chart, Rule, values_of
from viz.painters.bars_html import are_bars, bars_body
from viz.theme import DARK, LIGHT, Theme

NASTY = '<img src=x onerror="x">'


def chart_of(values: list[float], hover: str = "{x:+d}: {y:.1%}") -> Chart:
    bars = Bars("", range(-1, len(values) - 1), values, ("accent",), hover)
    return Chart("bars", "Bars", "", Axis("x"), values_of("y"), [bars], 150)


def bars_of(body: str) -> list[dict[str, float | str]]:
    """What is said of each bar, and its place and size in per cent."""
    number = r"(-?[\d.e-]+)%"
    look = rf'left:{number};width:{number};--low:{number};--size:{number};--of:(#\w+)"></b>'
    found = re.findall(rf'<b role="img" aria-label="([^"]*)"[^>]*? style="{look}', body)
    names = ("says", "left", "width", "low", "size", "ink")
    return [
        dict(zip(names, (unescape(says), *map(float, numbers), ink), strict=True))
        for says, *numbers, ink in found
    ]


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_bars_have_their_numbers_their_sizes_and_the_colour_of_the_theme(theme: Theme) -> None:
    bars = bars_of(bars_body(chart_of([0.125, 0.5, 0.0]), theme, "Three bars"))
    assert [bar["says"] for bar in bars] == ["−1: 12.5%", "+0: 50.0%", "+1: 0.0%"]
    first, second, third = (float(bar["size"]) for bar in bars)
    assert second == pytest.approx(4 * first, rel=1e-3) and third == 0
    assert {bar["low"] for bar in bars} == {0.0} and second <= 100
    places = [float(bar["left"]) for bar in bars]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], rel=1e-3)
    assert places[0] >= 0 and places[2] + float(bars[2]["width"]) <= 100
    assert {bar["ink"] for bar in bars} == {theme.accent}


def test_a_bar_below_zero_hangs_from_it() -> None:
    below, above = bars_of(bars_body(chart_of([-1.0, 2.0], "{y:.2f}"), LIGHT, ""))
    assert below["says"] == "−1.00"
    zero = float(below["low"]) + float(below["size"])
    assert zero == pytest.approx(float(above["low"]), rel=1e-3) and zero > 0
    assert float(above["size"]) == pytest.approx(2 * float(below["size"]), rel=1e-3)


def test_every_text_is_escaped_and_whole_numbers_have_no_decimals() -> None:
    bars = Bars("", [0.5], [1200.0], (0,), "{0}: {y:,}", more=[[NASTY]])
    chart = Chart("bars", NASTY, NASTY, Axis(NASTY, ticks=[(0.5, NASTY)]), Axis(NASTY), [bars], 90)
    body = bars_body(chart, LIGHT, NASTY)
    assert "<img" not in body and body.count("&lt;img") == 7
    assert bars_of(body)[0]["says"] == f"{NASTY}: 1,200"


def test_other_charts_are_left_to_plotly() -> None:
    bars = Bars("", [0, 1], [1, 2], (0,), "{y}")
    level, named = Bars("", [0], [1], (0,), "{x}", is_level=True), Bars("a", [0], [1], (0,), "{y}")
    axis, words = Axis(""), Axis("", labels=["a", "b"])

    def of(*marks: object, x: Axis = axis) -> bool:
        return are_bars(Chart("bars", "", "", x, axis, marks, 90))  # type: ignore[arg-type]

    assert of(bars)
    assert not any(
        [of(), of(level), of(named), of(bars, Rule(1)), of(bars, bars), of(bars, x=words)]
    )
