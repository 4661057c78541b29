"""The tables of the lab: every number at its head or term, and texts that are data as text."""

import math
import re

from viz.figures.dependence_grid import Cell, Table, dependence_grid, dependence_legend
from viz.figures.score_split import Part, score_split
from viz.theme import DARK, LIGHT

HOSTILE = '<img src=x onerror="alert(1)">'


def test_each_head_has_its_number_and_the_chosen_one_a_mark() -> None:
    cells = [
        Cell("./a", "L0 H0", 0.25, is_chosen=False),
        Cell('./b?"><b>', HOSTILE, 1.0, is_chosen=True),
        Cell("./c", "L0 H2", math.nan, is_chosen=False),
    ]
    drawn = dependence_grid([Table(HOSTILE, [(HOSTILE, cells)])], LIGHT)
    assert "<img" not in drawn and '"><b>' not in drawn
    assert re.findall(r'<td class="d(\d+)( chosen)?"[ >]', drawn) == [
        ("8", ""),  # the root of 0.25 is half of the way
        ("16", " chosen"),
        ("0", ""),
    ]
    assert re.findall('data-value="([^"]*)"', drawn) == ["0.25", "1"]
    assert re.findall(r">([\d.—]+)</a>", drawn) == ["0.25", "1.00", "—"]
    assert "<img" not in dependence_legend(HOSTILE, DARK)


def test_terms_stand_where_query_and_key_say() -> None:
    values = {("content", "content"): 1.25, ("content", "position"): -2.0}
    values |= {("position", "content"): 0.5, ("position", "position"): 4.0}
    parts = {place: Part(value, 0.125) for place, value in values.items()}
    named = {"content": (HOSTILE, "b"), "position": ("position 3", "position 1")}
    drawn = score_split(parts, named, {"biases": 0.25}, 4.0, LIGHT)
    assert "<img" not in drawn
    found = dict(re.findall(r'data-term="([^"]*)">([+−\d.]+)<', drawn))
    wanted = {"-".join(place): f"{value:+.3f}" for place, value in values.items()}
    wanted |= {"biases": "+0.250", "score": "+4.000"}
    assert found == {name: value.replace("-", "−") for name, value in wanted.items()}
    assert drawn.index("content-position") < drawn.index("position-content")
