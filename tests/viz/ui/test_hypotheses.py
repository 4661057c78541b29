"""Why this one won, on Decode: the parts of scores, and the curves over the length penalty."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest

from tests.transformer.hugging_face.saving import save, writer
from viz.components.search_tree.search_tree import DecodeTree
from viz.exhibits.chart import Chart, Curve
from viz.exhibits.table import Table
from viz.export import rows_csv
from viz.figure_at import page_of
from viz.figures.decoding import Ranked, table
from viz.pages.decode.hypotheses import hypotheses_rows
from viz.screen import parse

NUTS = "I am allergic to nuts. Are there any in the cake?"
PAGE = {"page": "decode", "checkpoint": "en-de", "text": NUTS, "hypotheses": "yes"}


@pytest.mark.parametrize("choices", [{}, {"options.length_penalty": "0.6"}])
def test_every_hypothesis_has_its_parts_and_its_curve(choices: dict[str, str]) -> None:
    pane, exhibits = page_of(parse({**PAGE, **choices}))
    penalty = dict(pane.answer.request.options)["length_penalty"]
    assert penalty == float(choices.get("options.length_penalty", 2.0))
    content, chart = exhibits["hypotheses"].content, exhibits["penalties"].content
    assert isinstance(content, Table) and isinstance(chart, Chart)
    assert pane.answer.decoding is not None
    found = pane.answer.decoding.hypotheses
    titles = [column.title for column in content.columns[1:]]
    rows = [dict(zip(titles, row.cells, strict=True)) for row in content.rows]
    assert [row["Score"].value for row in rows] == [each.score for each in found]
    assert [row["Length, tokens"].value for row in rows] == [len(each.ids) for each in found]
    for row, each in zip(rows, found, strict=True):
        divisor = ((5 + len(each.ids)) / 6) ** penalty
        assert row["Divisor"].value == pytest.approx(divisor)
        assert row["Log-probability, nats"].value == pytest.approx(each.score * divisor)
    assert not rows[0]["Unlike the first"].changes and rows[1]["Unlike the first"].changes

    curves = [mark for mark in chart.marks if isinstance(mark, Curve) and mark.name != "tie"]
    in_use = int(np.argmin(abs(np.asarray(curves[0].x) - penalty)))
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
    rows = list(csv.DictReader(io.StringIO(rows_csv(hypotheses_rows(pane)).decode())))
    assert [int(row["rank"]) for row in rows] == list(range(1, len(rows) + 1))
    scores = [each.score for each in pane.answer.decoding.hypotheses]
    assert [float(row["score"]) for row in rows] == pytest.approx(scores)
    assert rows[0]["text"] == pane.answer.decoding.text


@pytest.mark.parametrize("choices", [{"hypotheses": ""}, {"decoding": "greedy"}])
def test_no_curves_unasked_or_of_one_text(choices: dict[str, str]) -> None:
    assert "penalties" not in page_of(parse({**PAGE, **choices}))[1]


def test_the_fewest_lost_words_come_first_and_are_shown() -> None:
    text = "The printer has run out of paper again."
    choices = {"checkpoint": "en-de-1", "text": text, "decoding": "beam"}
    pane, exhibits = page_of(parse({**PAGE, **choices, "options.fewest_lost": "1"}))
    content = exhibits["hypotheses"].content
    assert isinstance(content, Table) and "penalties" not in exhibits
    titles = [column.title for column in content.columns[1:]]
    rows = [dict(zip(titles, row.cells, strict=True)) for row in content.rows]
    lost = [row["Lost words"].value for row in rows]
    assert lost == sorted(lost) and lost[0] == 0 < lost[-1]
    assert max(rows, key=lambda row: row["Score"].value) is rows[-1]
    assert [each["n_lost"] for each in hypotheses_rows(pane)] == lost


def test_texts_that_were_drawn_have_no_best_one() -> None:
    choices = {"checkpoint": "en-de-small", "text": "She likes nuts.", "decoding": "sample"}
    pane, exhibits = page_of(
        parse({**PAGE, **choices, "options.samples": "4", "options.temperature": "1"})
    )
    content, decoding = exhibits["hypotheses"].content, pane.answer.decoding
    assert isinstance(content, Table) and decoding is not None and decoding.search.is_drawn
    scores = [each.score for each in decoding.hypotheses]
    assert len(scores) == 4 and scores != sorted(scores, reverse=True)
    tree = DecodeTree().says(pane.recording, decoding)
    for sentence in (exhibits["hypotheses"].says, content.foot, tree):
        assert "seeds" in sentence and "best" not in sentence
    assert content.columns[0].title != "Rank" and "best" not in exhibits["hypotheses"].says
    file = rows_csv(hypotheses_rows(pane)).decode()
    assert list(csv.DictReader(io.StringIO(file)))[3]["draw"] == "4"


def test_log_probabilities_are_the_models_own_beside_those_after_rules() -> None:
    ruled = Ranked("a b", -2.7, -4.35, 3, 1.0, 0.0, -4.35)
    free = Ranked("a c", -5.0, -5.00002, 3, 1.0, 0.0, -5.0)
    values = {}
    for name, hypotheses in (("ruled", [ruled, free]), ("free", [free])):
        made = table(hypotheses, "")
        titles = [column.title for column in made.columns[1:]]
        cells = dict(zip(titles, made.rows[0].cells, strict=True))
        values[name] = [cell.value for title, cell in cells.items() if "nats" in title]
    assert values == {"ruled": [-2.7, -4.35], "free": [-5.0]}


def test_a_folders_rules_leave_the_log_probability_as_it_is(tmp_path: Path) -> None:
    model = writer("Marian", 1)
    model.generation_config.eos_token_id = 2
    model.generation_config.repetition_penalty = 1.7
    folder = str(save(model, tmp_path / "ruled"))
    at = {"checkpoint": folder, "text": "the cat sat", "decoding": "beam", "options.max_len": "8"}
    pane, exhibits = page_of(parse({**PAGE, **at}))
    made, decoding = exhibits["hypotheses"].content, pane.answer.decoding
    assert isinstance(made, Table) and decoding is not None
    titles = [column.title for column in made.columns[1:]]
    log_probs, ruled = (i for i, title in enumerate(titles) if "nats" in title)
    for rank, row in enumerate(made.rows):
        assert row.cells[log_probs].value == decoding.hypotheses[rank].log_prob
        assert row.cells[ruled].value == decoding.search.leaf(rank).score.log_prob
