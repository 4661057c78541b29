"""Questions about heads on screen: the heads that answer, each with its words pinned on Explore."""

import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from transformer.analysis.reading import read
from transformer.corpus.ask import Frequency, answers
from transformer.corpus.questions import Pattern, ask
from transformer.corpus.shipping import sentences_for
from transformer.inputs import InputError
from viz.exhibits.table import Row, Table
from viz.figures.heads.all_heads import COLUMNS
from viz.page_fields import ExploreFields
from viz.pages.heads.questions import (
    NAME,
    Counted,
    HeadsAsked,
    exhibits_of_pins,
    exhibits_of_question,
    kind_here,
    offers,
    pattern_of,
    understood,
)
from viz.run.line import Runner
from viz.run.request import answer, make_request, open_checkpoint
from viz.run.work import Growth
from viz.screen import Screen, parse, put
from viz.state.page import Pane

TEXT = "The animal didn't cross the street because it was too tired."
QUESTION = "who links Straße to street in cross-attention?"


def pane(question: str) -> Pane:
    request = make_request("en-de-1", TEXT, "greedy")
    screen = put(Screen(), page="heads", checkpoint="en-de-1", text=TEXT, decoding="greedy")
    return Pane(put(screen, heads_of="ask", heads_ask=question), request, answer(request))


def rows(of: Pane) -> list[Row]:
    return list(table(Counted(), of).rows)


def test_each_head_opens_on_explore_with_both_words_pinned() -> None:
    shown = pane(QUESTION)
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


def test_a_head_that_looks_elsewhere_is_not_listed() -> None:
    """Of 24 heads of cross-attention a few look from Straße to street; the foot has the others."""
    shown = pane(QUESTION)
    every = answers(ask(QUESTION), shown.recording)
    there = [each for each in every if each.looks_there]
    assert 0 < len(rows(shown)) == len(there) < len(every)
    foot = table(Counted(), shown).foot
    (most,) = re.findall(r"\d\.\d+", foot)
    assert "this sentence" in foot  # and not of the others, which the same foot may speak of
    assert float(most) == pytest.approx(every[len(there)].weight, abs=0.006)
    nobody = table(Counted(), pane("who links didn't to tired in the encoder?"))
    assert not nobody.rows and re.search(r"\d\.\d+", nobody.foot)


def test_heads_that_the_list_has_no_room_for_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of some models most heads look there."""
    n = len(rows(pane(QUESTION)))
    assert n > 2
    monkeypatch.setattr("viz.pages.heads.questions.MOST_ROWS", 2)
    shown = table(Counted(), pane(QUESTION))
    assert len(shown.rows) == 2 and f"{n - 2} more head" in shown.foot


def drawn(*cells: tuple[int, int], kind: str = "encoder_self") -> Pane:
    return pane(str(Pattern(kind=kind, cells=cells)))


def study_of(of: Pane) -> str | None:
    """The question that is counted over other sentences."""
    exhibit = exhibits_of_question(of)[NAME]
    if not isinstance(exhibit, Growth):
        return None
    assert isinstance(exhibit.study, HeadsAsked)
    return exhibit.study.question


def test_drawn_cells_are_counted_over_sentences_where_they_are_a_pattern_there() -> None:
    """The map is that of their kind, whichever the Screen has."""
    previous = drawn((3, 2), (6, 5))
    assert study_of(previous) == "who looks at the previous word in the encoder?"
    assert pattern_of(previous).cells == ((3, 2), (6, 5))
    assert kind_here(previous, pattern_of(previous)) == "encoder_self" != previous.selection.kind
    somewhere = drawn((0, 0), (1, 1), kind="cross")
    assert study_of(somewhere) is None
    shown = table(Counted(), somewhere)
    assert [each.title for each in shown.columns] == [*(each.title for each in COLUMNS), "does"]
    assert shown.rows and {len(row.cells) + 1 for row in shown.rows} == {len(shown.columns)}
    assert study_of(drawn((1, 3))) == "who links animal to cross in the encoder?"


def test_what_is_drawn_is_said_in_words_and_not_by_its_numbers() -> None:
    of = drawn((10, 1), (9, 1))
    says = understood(pattern_of(of), of.recording)
    title = exhibits_of_question(of)[NAME].title
    assert "2 cells" in says and "“animal”" in says and "k1" not in says.partition(";")[0]
    assert study_of(of) in says and title == "Answers"
    many = drawn(*((row, column) for row in range(9) for column in range(0, 9, 2)))
    assert "45 cells" in understood(pattern_of(many), many.recording)
    assert len(exhibits_of_question(many)[NAME].title) < 160


@pytest.mark.parametrize("question", ["who looks at cells q50k1?", "why?"])
def test_a_map_of_what_cannot_be_asked_is_empty(question: str) -> None:
    of = pane(question)
    assert kind_here(of, pattern_of(of)) == of.selection.kind
    with pytest.raises(InputError):
        exhibits_of_question(of)


def on_explore(**choices: Any) -> Pane:
    of = pane("")
    return replace(of, screen=put(of.screen, page="explore", **choices))


def place_of(of: Pane, axis: str, word: str) -> int:
    """The row or column of a word on Explore."""
    map = read(of.recording, of.selection.kind, of.reading)
    labels = map.rows if axis == "q" else map.columns
    return next(at for at, token in enumerate(labels) if token.piece.strip("▁") == word)


def test_two_pinned_words_ask_for_the_heads_that_link_them() -> None:
    of = on_explore(kind="cross", asks="there")
    of = replace(
        of,
        screen=put(
            of.screen,
            pins=(f"q{place_of(of, 'q', 'Straße')}", f"k{place_of(of, 'k', 'street')}"),
        ),
    )
    growth = exhibits_of_pins(of)[NAME]
    assert isinstance(growth, Growth)
    content = growth.exhibit(Counted()).content
    assert isinstance(content, Table)
    weights, asked = [each.cells[0] for each in content.rows], rows(pane(QUESTION))
    assert weights == [each.cells[0] for each in asked]
    for row in content.rows:
        query = {name: each[0] for name, each in parse_qs(urlsplit(row.head.link).query).items()}
        screen = parse({"page": "explore", **query})
        assert screen.pins == of.screen.pins and screen.of(ExploreFields).asks == "there"


def test_of_two_words_of_a_text_either_may_look_at_the_other() -> None:
    """A mask leaves the later of two written words alone to look at the earlier one."""
    both = on_explore(kind="encoder_self", pins=("q1", "q4"))
    first, second = (
        read(both.recording, "encoder_self", both.reading).row_groups[row][:1] for row in (1, 4)
    )
    spots = {name: (each.spot.queries, each.spot.keys) for name, each in offers(both).items()}
    assert spots == {"there": (first, second), "back": (second, first)}
    third = on_explore(kind="encoder_self", pins=("q0", "q1", "q4"))
    assert offers(third) == offers(both)  # those that were pinned last
    causal = offers(on_explore(kind="decoder_self", pins=("q1", "q4")))
    assert list(causal) == ["back"]
    assert offers(on_explore(kind="cross", pins=("q1", "q4"))) == {}
    assert offers(on_explore(kind="cross", pins=("k1",)))["there"].spot.queries == ()


@pytest.mark.parametrize("asks", ["there", "back"])
def test_the_link_of_an_answer_pins_the_query_and_the_key_that_were_asked(asks: str) -> None:
    """And what was asked is asked there, too: by the pins, which now say who looks at whom."""
    of = on_explore(kind="encoder_self", pins=("q1", "q2"), asks=asks)
    spot = offers(of)[asks].spot
    growth = exhibits_of_pins(of)[NAME]
    assert isinstance(growth, Growth)
    content = growth.exhibit(Counted()).content
    assert isinstance(content, Table) and content.rows
    for row in content.rows:
        query = {name: each[0] for name, each in parse_qs(urlsplit(row.head.link).query).items()}
        screen = parse({"page": "explore", **query})
        there = replace(of, screen=screen)
        assert len(screen.pins) == 2 and {pin[0] for pin in screen.pins} == {"q", "k"}
        again = offers(there)
        assert screen.of(ExploreFields).asks == "there" and again["there"].spot == spot
        assert (again["back"].spot.queries, again["back"].spot.keys) == (spot.keys, spot.queries)


@pytest.mark.parametrize("question", ["who links banana to street?"])
def test_what_cannot_be_asked_is_refused_in_a_sentence(question: str) -> None:
    with pytest.raises(InputError):
        exhibits_of_question(pane(question))


def test_nothing_is_asked_by_an_empty_question() -> None:
    assert exhibits_of_question(pane("  ")) == {}


def table(counted: Counted, of: Pane | None = None) -> Table:
    exhibit = exhibits_of_question(of or pane(QUESTION))[NAME]
    content = (exhibit.exhibit(counted) if isinstance(exhibit, Growth) else exhibit).content
    assert isinstance(content, Table)
    return content


def test_it_is_said_where_no_other_sentence_has_the_words() -> None:
    on_way, none = (table(Counted(n, 320, {}, "english.txt")) for n in (319, 320))
    assert "english.txt" not in on_way.foot and len(none.columns) == len(on_way.columns) - 1
    assert "320 sentences of english.txt" in none.foot
    place = "cross", 0, 0
    some = table(Counted(320, 320, {place: Frequency(3, 1, 2)}, "english.txt"))
    assert some.foot == on_way.foot and len(some.columns) == len(on_way.columns)
    for each in (on_way, none, some):
        assert {len(row.cells) + 1 for row in each.rows} == {len(each.columns)}


def test_the_heading_says_over_which_sentences_it_was_counted() -> None:
    request = make_request("copy", "3 4", "greedy")
    first = next(HeadsAsked("copy", request.version, "who looks at zebra?").run(None, Runner()))
    assert first.of == sentences_for(open_checkpoint(request)).name == "copy.txt"
    heads = [each.title for each in table(Counted(174, 320, {}, "english.txt")).columns]
    assert "over 174 sentences of english.txt" in heads


def test_counts_over_the_survey_go_on_where_they_were_stopped() -> None:
    request = make_request("copy", "3 4", "greedy")
    study = HeadsAsked("copy", request.version, "who looks at zebra?")
    first, second, *others = study.run(None, Runner())
    assert study.progress(first) == (0, 320) and study.progress(second) == (1, 320)
    last = Counted(318, 320, {})
    assert [each.n_done for each in study.run(last, Runner())] == [318, 319, 320]
    assert others[-1].n_done == 320
