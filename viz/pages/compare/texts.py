"""The texts of A and B, one over the other, with what differs in them."""

from collections.abc import Sequence

from transformer.analysis.scored import differing, exchanged
from transformer.refusal import Refusal
from transformer.words import words_of
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit, Line, Span, Words
from viz.pages.compare.second import Both, ByMethod, Second, is_awaited
from viz.run.request import Answer
from viz.run.work import Growth, at_hand
from viz.state.checkpoints import title
from viz.state.limits import charge
from viz.state.page import Exhibits, Pane
from viz.state.state import warn
from viz.ui.parts import Part
from viz.ui.progress import whole
from viz.ui.showing import show_words

NAME, TITLE, ALIKE = "texts", "What both write", "Both write the same."
MOST_PAIRS = 3
"""Differences that a sentence names."""
HEADS = "Two attention heads, of one Transformer or of two, side by side."
"""The sentence where both are of one run, or B is not there."""


def texts(pane: Pane) -> Exhibits:
    """Both texts as two lines, where both models write: B's by itself, whatever it is made to read
    for the pictures.
    """
    both = Both.of(pane)
    of = both.b.of
    if not isinstance(of, Second | ByMethod):  # the output with edits stands with these
        return {}
    if both.a.answer.decoding is None:
        return {}
    if both.b.answer.request.follows is None:  # it writes by itself, if it does
        return {NAME: _exhibit(both, both.b.answer)} if both.b.answer.decoding else {}
    own = of.own(both.a.answer)
    return {NAME: Growth(TITLE, own, lambda answer: _exhibit(both, answer), is_main=False)}


def texts_at_hand(pane: Pane) -> dict[str, Exhibit]:
    """The same, as far as nothing has to be computed for it."""
    result = {}
    for name, each in texts(pane).items():
        value = at_hand(each.study) if isinstance(each, Growth) else None
        if isinstance(each, Exhibit):
            result[name] = each
        elif value is not None:
            result[name] = each.exhibit(value)
    return result


def _exhibit(both: Both, other: Answer) -> Exhibit:
    a, b = (
        words_of([token for token in each.recording.target if not token.special])
        for each in (both.a.answer, other)
    )
    lines = [_line(both, "A", a, b), _line(both, "B", b, a)]
    foot = [Span(ALIKE)] if a == b else []
    return Exhibit(TITLE, Words(lines, foot), is_main=False, pane=both.a)


def _line(both: Both, letter: str, words: Sequence[str], others: Sequence[str]) -> Line:
    name = letter
    if isinstance(both.b.of, Second):
        name = f"{letter} · {title(both.panes[letter].answer.request.checkpoint)}"
    marks = zip(words, differing(words, others), strict=True)
    return Line([Span(word, role="new" if is_other else "") for word, is_other in marks], name)


def _draw(pane: Pane) -> None:
    try:
        for each in texts(pane).values():
            if isinstance(each, Growth):
                if at_hand(each.study) is None:
                    charge(each.study)
                whole(each.study, st.empty(), NAME)
    except Refusal as reason:
        warn(str(reason))
    for exhibit in texts_at_hand(pane).values():
        assert isinstance(exhibit.content, Words)
        show_words(exhibit.content)  # on a wall, too, where only what is main would stand


TEXTS = Part(TITLE, texts, draw=_draw)


def here(pane: Pane) -> str:
    """Say in a sentence what is compared, and what the texts differ in."""
    both = Both.of(pane)
    if is_awaited(pane) or not both.are_two:
        return HEADS
    begin = "One model, unchanged and changed"
    if isinstance(both.b.of, Second):
        begin = "Two models, one sentence"
    elif isinstance(both.b.of, ByMethod):
        begin = "Two decoding methods, one sentence"
    at_once = texts_at_hand(pane)
    if NAME not in at_once:
        return f"{begin}."
    content = at_once[NAME].content
    assert isinstance(content, Words)
    a, b = ([span.text for span in line.spans] for line in content.lines)
    return f"{begin}: {differences(a, b)}"


def differences(a: Sequence[str], b: Sequence[str]) -> str:
    """
    >>> differences(["am", "Ufer"], ["auf", "der", "Bank"])
    'am Ufer / auf der Bank'
    >>> differences(["Ja", "."], ["Ja", "."])
    'both write the same.'
    """
    pairs = [[" ".join(part) or "–" for part in pair] for pair in exchanged(a, b)]
    if not pairs:
        return "both write the same."
    more = " …" if len(pairs) > MOST_PAIRS else ""
    return " · ".join(" / ".join(pair) for pair in pairs[:MOST_PAIRS]) + more
