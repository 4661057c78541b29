"""Questions about heads on screen: the heads that answer, each with its words pinned on Explore."""

from urllib.parse import parse_qs, urlsplit

import pytest

from transformer.analysis.reading import read
from transformer.corpus.ask import Frequency
from transformer.corpus.shipping import sentences_for
from transformer.inputs import InputError
from viz.exhibits.table import Row, Table
from viz.pages.heads.asking import NAME, Counted, HeadsAsked, exhibits_of_question
from viz.run.batches import Runner
from viz.run.request import answer, make_request, open_checkpoint
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


def table(counted: Counted) -> Table:
    growth = exhibits_of_question(pane("who links Straße to street in cross-attention?"))[NAME]
    content = growth.exhibit(counted).content
    assert isinstance(content, Table)
    return content


def test_it_is_said_where_no_other_sentence_has_the_words() -> None:
    on_way, none = (table(Counted(n, 320, {}, "english.txt")) for n in (319, 320))
    assert not on_way.foot and len(none.columns) == len(on_way.columns) - 1
    assert "320 sentences of english.txt" in none.foot
    place = "cross", 0, 0
    some = table(Counted(320, 320, {place: Frequency(3, 1, 2)}, "english.txt"))
    assert not some.foot and len(some.columns) == len(on_way.columns)
    for each in (on_way, none, some):
        assert {len(row.cells) + 1 for row in each.rows} == {len(each.columns)}


def test_the_heading_says_over_which_sentences_it_was_counted() -> None:
    request = make_request("copy", "3 4", "greedy")
    first, *_ = HeadsAsked("copy", request.version, "who looks at zebra?").run(None, Runner())
    assert first.of == sentences_for(open_checkpoint(request)).name == "copy.txt"
    heads = [each.title for each in table(Counted(174, 320, {}, "english.txt")).columns]
    assert "over 174 sentences of english.txt" in heads


def test_counts_over_the_survey_go_on_where_they_were_stopped() -> None:
    request = make_request("en-de", TEXT, "greedy")
    study = HeadsAsked("en-de", request.version, "who looks at zebra?")
    first, second, *others = study.run(None, Runner())
    assert study.progress(first) == (0, 320) and study.progress(second) == (1, 320)
    last = Counted(318, 320, {})
    assert [each.n_done for each in study.run(last, Runner())] == [318, 319, 320]
    assert others[-1].n_done == 320
