"""Why this one won, on Decode: the parts of scores, and the curves over the length penalty."""

import csv
import io

import numpy as np
import pytest

from viz.exhibits.chart import Chart, Curve
from viz.exhibits.table import Table
from viz.figure_at import page_of
from viz.pages.decode.hypotheses import hypotheses_csv
from viz.screen import parse

NUTS = "I am allergic to nuts. Are there any in the cake?"
PAGE = {"page": "decode", "checkpoint": "en-de", "text": NUTS, "hypotheses": "yes"}


def test_every_hypothesis_has_its_parts_and_its_curve() -> None:
    pane, exhibits = page_of(parse(PAGE))
    table, chart = exhibits["hypotheses"].content, exhibits["penalties"].content
    assert isinstance(table, Table) and isinstance(chart, Chart)
    assert pane.answer.decoding is not None
    found = pane.answer.decoding.hypotheses
    titles = [column.title for column in table.columns[1:]]
    rows = [dict(zip(titles, row.cells, strict=True)) for row in table.rows]
    assert [row["Score"].value for row in rows] == [each.score for each in found]
    assert [row["Length, tokens"].value for row in rows] == [len(each.ids) for each in found]
    for row, each in zip(rows, found, strict=True):
        divisor = ((5 + len(each.ids)) / 6) ** 0.6
        assert row["Divisor"].value == pytest.approx(divisor)
        assert row["Log-probability, nats"].value == pytest.approx(each.score * divisor)
    assert not rows[0]["Unlike the first"].changes and rows[1]["Unlike the first"].changes

    curves = [mark for mark in chart.marks if isinstance(mark, Curve) and mark.name != "tie"]
    in_use = int(np.argmin(abs(np.asarray(curves[0].x) - 0.6)))
    leads = [float(curve.y[in_use]) for curve in curves]
    assert leads == pytest.approx([each.score - found[0].score for each in found], abs=1e-6)


def test_curves_meet_where_it_says_that_they_tie() -> None:
    _, exhibits = page_of(parse(PAGE))
    chart = exhibits["penalties"].content
    assert isinstance(chart, Chart)
    *curves, ties = [mark for mark in chart.marks if isinstance(mark, Curve)]
    assert ties.name == "tie" and len(ties.x)
    for at, lead, (below, above) in zip(ties.x, ties.y, ties.more, strict=True):
        for number in (below, above):
            curve = curves[number - 1]
            assert np.interp(at, curve.x, curve.y) == pytest.approx(lead, abs=1e-3)


def test_the_file_has_a_row_for_each() -> None:
    pane, _ = page_of(parse(PAGE))
    assert pane.answer.decoding is not None
    rows = list(csv.DictReader(io.StringIO(hypotheses_csv(pane).decode())))
    assert [int(row["rank"]) for row in rows] == list(range(1, len(rows) + 1))
    scores = [each.score for each in pane.answer.decoding.hypotheses]
    assert [float(row["score"]) for row in rows] == pytest.approx(scores)
    assert rows[0]["text"] == pane.answer.decoding.text


@pytest.mark.parametrize("choices", [{"hypotheses": ""}, {"decoding": "greedy"}])
def test_no_curves_unasked_or_of_one_text(choices: dict[str, str]) -> None:
    assert "penalties" not in page_of(parse({**PAGE, **choices}))[1]
