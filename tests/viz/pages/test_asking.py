"""Questions about heads on screen: the heads that answer, each with its words pinned on Explore."""

from urllib.parse import parse_qs, urlsplit

import pytest

from transformer.analysis.reading import read
from transformer.inputs import InputError
from viz.exhibits.table import Row, Table
from viz.pages.heads.asking import NAME, Counted, HeadsAsked, exhibits_of_question
from viz.run.batches import Runner
from viz.run.request import answer, make_request
from viz.screen import Screen, parse, put
from viz.state.page import Pane

TEXT = "The animal didn't cross the street because it was too tired."


def pane(question: str) -> Pane:
    request = make_request("en-de", TEXT, "greedy")
    screen = put(Screen(), page="heads", checkpoint="en-de", text=TEXT, decoding="greedy")
    return Pane(put(screen, heads_of="ask", heads_ask=question), request, answer(request))


def rows(of: Pane) -> list[Row]:
    content = exhibits_of_question(of)[NAME].exhibit(Counted()).content
    assert isinstance(content, Table)
    return list(content.rows)


def test_each_head_opens_on_explore_with_both_words_pinned() -> None:
    shown = pane("who links Straße to street in cross-attention?")
    found = rows(shown)
    assert 0 < len(found) <= 12
    weights = [row.cells[0].value for row in found if row.cells[0]]
    assert weights == sorted(weights, key=lambda each: -(each or 0))
    asked = {name: each[0] for name, each in parse_qs(urlsplit(found[0].head.link).query).items()}
    screen = parse({"page": "explore", **asked})
    assert screen.kind == "cross" and screen.text == TEXT
    map = read(shown.recording, "cross", shown.reading)
    row, column = screen.pins
    assert map.rows[int(row[1:])].piece == "Straße"
    assert map.columns[int(column[1:])].piece == "street"


@pytest.mark.parametrize("question", ["why?", "who links banana to street?"])
def test_what_cannot_be_asked_is_refused_in_a_sentence(question: str) -> None:
    with pytest.raises(InputError):
        exhibits_of_question(pane(question))


def test_nothing_is_asked_by_an_empty_question() -> None:
    assert exhibits_of_question(pane("  ")) == {}


def test_counts_over_the_survey_go_on_where_they_were_stopped() -> None:
    request = make_request("en-de", TEXT, "greedy")
    study = HeadsAsked("en-de", request.version, "who looks at zebra?")
    first, second, *others = study.run(None, Runner())
    assert study.progress(first) == (0, 320) and study.progress(second) == (1, 320)
    last = Counted(318, 320, {})
    assert [each.n_done for each in study.run(last, Runner())] == [318, 319, 320]
    assert others[-1].n_done == 320
