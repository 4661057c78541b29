"""Words on the screen and on a sheet: the same texts and numbers, and nothing unescaped."""

import pytest

from viz.exhibits.exhibit import Line, Span, Words
from viz.painters.words_html import words_html, words_sheet
from viz.paper.figure import rows
from viz.paper.sheet import Sheet, width_of
from viz.paper.sheet import Words as Text
from viz.theme import DARK, LIGHT, Theme

NASTY = '<img src=x onerror="x">'
HEBREW = ("אני", "אוהב", "את")


def texts(sheet: Sheet) -> list[Text]:
    return [mark for mark in sheet.marks if isinstance(mark, Text)]


def test_every_text_is_escaped() -> None:
    span = Span(NASTY, NASTY, 1.5, NASTY, "gone")
    html = words_html(Words([Line([span], NASTY)], [span]))
    assert "<img" not in html and html.count("&lt;img") == 6


def test_what_hides_or_reorders_text_is_seen_and_turns_no_other_word() -> None:
    span = Span("a\u202eb", "1\u200b", 1.5, "m\u200b", "gone")
    html = words_html(Words([Line([span], "t\u2066")], [span]))
    assert not {"\u202e", "\u200b", "\u2066"} & set(html)
    assert html.count("aU+202Eb") == html.count("1U+200B") == 2 and "tU+2066" in html
    assert ":is(b, s) { unicode-bidi: isolate; }" in html


def test_lines_without_titles_are_paragraphs_that_run_as_their_words() -> None:
    html = words_html(Words([Line([Span("turns by"), Span("3°", value=3.0)])]))
    assert '<p dir="auto">' in html and "<dl>" not in html
    assert 'data-value="3"' in html


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_line_breaks_where_the_next_word_has_no_room(theme: Theme) -> None:
    spans = [Span(f"word{i}", "+0.50", 0.5, "nats") for i in range(30)]
    sheet = words_sheet(Words([Line(spans, "written")], [Span("in all")]), theme, 200)
    words = [mark for mark in texts(sheet) if mark.text.startswith("word")]
    assert len(words) == 30 and len({mark.y for mark in words}) > 3
    halves = [(mark, width_of(mark.text, mark.size) / 2) for mark in texts(sheet)]
    assert all(mark.anchor == "middle" for mark in words)
    assert all(half <= it.x <= 200 - half for it, half in halves if it.anchor == "middle")
    assert max(mark.y for mark in texts(sheet)) <= sheet.height


def test_a_word_that_is_wider_than_the_sheet_is_cut() -> None:
    sheet = words_sheet(Words([Line([Span("x" * 500, "0.1")])]), LIGHT, 150)
    (word, number) = texts(sheet)
    assert word.text.endswith("…") and width_of(word.text, word.size) <= 150
    assert number.text == "0.1"


def test_a_sentence_breaks_within_its_spans_and_is_a_row_each_in_a_file() -> None:
    long = "a sentence of many words that has no room in one line of this sheet"
    spans = [Span(long), Span("3.21°", value=3.21, measure="degrees")]
    sheet = words_sheet(Words([Line(spans)]), LIGHT, 120)
    *broken, number = texts(sheet)
    assert len(broken) > 1 and " ".join(each.text for each in broken) == long
    assert number.text == "3.21°"
    first, second = rows(sheet)
    assert first == {"line": "", "text": long, "role": "", "measure": ""}
    assert second["value"] == 3.21 and second["measure"] == "degrees"


def test_words_of_a_leftward_line_follow_each_other_to_the_left() -> None:
    sheet = words_sheet(Words([Line([Span(it, "0.5") for it in HEBREW])]), LIGHT, 200)
    places = [next(mark.x for mark in texts(sheet) if mark.text == it) for it in HEBREW]
    assert places == sorted(places, reverse=True) and places[0] > 150


def test_words_say_themselves() -> None:
    lines = [Line([Span("es", "+0.10", 0.1), Span("ist")], "without"), Line([Span("er")], "with")]
    assert Words(lines).plain == "without: es (+0.10) ist; with: er"
    assert Words(lines, [Span("1 in all")]).plain.endswith("er. 1 in all")
