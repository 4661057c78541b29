"""Compare: two heads, of one run or of two, on one scale, their difference, and numbers."""

from dataclasses import replace
from functools import partial

from transformer.analysis.metrics.metric import jensen_shannon, largest_difference
from transformer.analysis.reading import row_tokens
from transformer.decoding import decoding_methods
from viz.app_packages import pd, st
from viz.components.kit.picture import twin
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.labels import in_word, kind_title, literal
from viz.page_fields import CompareFields
from viz.pages.compare.heads import ALL_HEADS, changed, edited, parameter_changes
from viz.pages.compare.second import (
    SUFFIX,
    Both,
    ByMethod,
    Second,
    choose_second,
    is_awaited,
    missing,
    pane_of_b,
    with_second,
)
from viz.pages.compare.texts import TEXTS, here, texts_at_hand
from viz.paper.record import FigureError
from viz.state.checkpoints import open_linked, title
from viz.state.fingerprints import known_fingerprint
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import mend_head
from viz.ui.changed_output import output_exhibit
from viz.ui.controls import choose_head, choose_reading, help_of
from viz.ui.experiment import say_unchanged
from viz.ui.parts import Part, draw_part, exhibits_of
from viz.ui.picture import choose_picture, large, metric_texts, view_exhibit, views_of_page
from viz.ui.save_menu import offer_figures
from viz.ui.saving import edited as all_edits
from viz.ui.saving import known_as
from viz.ui.showing import below, columns, outside_talks, show, show_with_files

OF_ONE = ("inside", "why")
"""Pictures of one head or word, which aren't compared."""
TWO_HEADS = (
    "**These two heads** · Jensen-Shannon divergence **{bits} bits** · largest difference of a "
    "weight **{largest}**: {where}"
)
WHERE = "“{query}” to “{key}”, {a} in A, {b} in B"
NOT_APPLYING = "does not apply"
FORCED = (
    "Both read the same sentence. B is given A's output, so rows and columns match and the weights "
    "can be subtracted."
)
OWN = "The checkpoints split or write the text differently, so their rows and columns do not match."
BY_METHOD = "The methods write different words, so their rows and columns do not match."
REWRITTEN = "With the edits other words are written, so rows and columns do not match those of A."


def draw(pane: Pane) -> None:
    """Both heads, and below them what differs."""
    if is_awaited(pane):  # the header says how far it is
        return
    both = Both.of(pane)
    if both.is_edited:
        changed(pane, both.b)
    else:
        say_unchanged(pane.screen)
    if pane.second is None:  # else the header has them
        outside_talks(partial(draw_part, part=TEXTS), pane)
    with st.container(key="compared"):
        with st.container(key="under pictures"):
            below(_above_pictures, pane)
        draw_part(pane, PICTURES)
    below(_below_pictures, pane)


def _above_pictures(pane: Pane) -> None:
    """Show what differs before the two pictures: all heads of two runs, then these two heads."""
    both = Both.of(pane)
    if isinstance(both.b.of, Second):
        draw_part(pane, ALL_HEADS)
    if both.why_not is not None:
        return
    recording, first, other = both.heads
    a, b = (it.attention(recording).weights(it.layer, it.head) for it in (first, other))
    place = (a - b).abs().argmax()
    query, key = divmod(int(place), a.size(1))
    names = first.attention(recording)
    where = WHERE.format(
        query=in_word(row_tokens(names, pane.reading), query),
        key=in_word(names.keys, key),
        a=f"{a[query, key]:.2f}",
        b=f"{b[query, key]:.2f}",
    )
    numbers = {"bits": f"{jensen_shannon(a, b):.4f}", "largest": f"{largest_difference(a, b):.4f}"}
    text = TWO_HEADS.format(**numbers, where=literal(where))
    st.markdown(text, help=help_of("jensen_shannon"))


def _below_pictures(pane: Pane) -> None:
    """Show the differences, as pictures and as numbers."""
    both = Both.of(pane)
    if both.is_edited:  # below, since a click on B edits it
        draw_part(pane, ALL_HEADS)
    draw_part(pane, DIFFERENCE)
    if isinstance(both.b.of, Second):
        parameter_changes(both.a.answer.request, both.b.answer.request)


# Both heads, each as a picture.


def _heading(letter: str, both: Both) -> str:
    pane = both.panes[letter]
    of = f" of {title(pane.answer.request.checkpoint)}" if both.are_two else ""
    if isinstance(both.b.of, ByMethod):
        of = f", by {decoding_methods()[pane.answer.request.method].title.lower()}"
    if both.is_edited:
        of = edited(pane) if letter == "B" else " unchanged"
    return f"{letter} · {kind_title(pane.selection.kind)} {pane.selection.name(pane.recording)}{of}"


def _pictures(pane: Pane) -> dict[str, Exhibit]:
    """Both heads as they stand beside each other, and the output with edits."""
    both, exhibits = Both.of(pane), {}
    name = _name(pane)
    for letter, pane in both.panes.items():
        exhibit = large(name, pane)
        title, content = f"{exhibit.title}, {_heading(letter, both)}", exhibit.content
        if isinstance(content, PictureAt):
            stands_for = twin(both.a.recording, pane.recording)
            content = replace(content, over={**content.over, "twin": stands_for})
        exhibits[letter.lower()] = replace(exhibit, title=title, content=content)
    return exhibits | (output_exhibit(both.a) if both.is_edited else {})


def _name(pane: Pane) -> str:
    """Name the picture that both heads are shown as."""
    name = pane.screen.picture
    return "arrows" if name in OF_ONE else name


def _draw_pictures(pane: Pane) -> None:
    both, exhibits = Both.of(pane), _pictures(pane)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name = choose_picture(both.a, OF_ONE)
        choose_reading(both.a, name)
    offer_figures(both.a, exhibits | texts_at_hand(pane))
    for column, (letter, each) in zip(st.columns(2, gap="large"), both.panes.items(), strict=True):
        with column:
            heading, lacks = literal(_heading(letter, both)[1:]), ""
            if letter == "B" and each.is_locked and each.selection != both.a.selection:
                of_a = kind_title(both.a.selection.kind), both.a.selection.name(both.a.recording)
                lacks = literal(f" (it has no {' '.join(of_a)})")
            st.markdown(f"**{literal(letter)}**{heading}{lacks}")
            show(exhibits[letter.lower()], f"{name}{each.suffix}")


PICTURES = Part("Pictures", _pictures, draw=_draw_pictures)


# Their difference, where their weights can be subtracted, and the numbers of both.


def _views(both: Both) -> dict[str, Exhibit]:
    """Views of both, with both heads in the title, and what B is: the page says it above."""
    recording, first, other = both.heads
    a, b = (_heading(letter, both) for letter in "AB")
    request = both.b.answer.request
    if request.edits:
        b += f" ({all_edits(both.b)})"
    elif both.are_two:
        b += known_as(request, known_fingerprint(request.checkpoint))
    views = {}
    for name in views_of_page("compare", recording):
        exhibit = view_exhibit(name, both.a, recording, first=first, second=other)
        views[name] = replace(exhibit, is_main=False, title=f"{exhibit.title} of {a} and {b}")
    return views


def _difference(pane: Pane) -> dict[str, Exhibit]:
    both = Both.of(pane)
    return _views(both) if both.why_not is None else {}


def _draw_difference(pane: Pane) -> None:
    both = Both.of(pane)
    _, first, other = both.heads
    if both.b.answer.request.follows is not None:
        st.caption(FORCED)
    elif both.are_two and both.why_not is not None:
        by_method = isinstance(both.b.of, ByMethod)
        st.caption(REWRITTEN if both.is_edited else BY_METHOD if by_method else OWN)
    elif both.why_not is not None:
        st.caption(literal(both.why_not))
    if both.why_not is not None:  # no picture, and so nothing to be saved
        _numbers(both)
        return
    difference, numbers = columns(2, gap="large")
    with difference:
        for name, exhibit in _views(both).items():
            show_with_files(pane, exhibit, name, f"{name} {first} {other}")
    with numbers:
        _numbers(both)


def _numbers(both: Both) -> None:
    recording, *selections = both.heads
    columns = {
        literal(_heading(letter, both)): metric_texts(s.attention(recording), s.layer, s.head)
        for letter, s in zip("AB", selections, strict=True)
    }
    st.table(pd.DataFrame(columns).fillna(NOT_APPLYING))


DIFFERENCE = Part("Difference", _difference, draw=_draw_difference)


# The page.

PARTS = (PICTURES, TEXTS, DIFFERENCE, ALL_HEADS)


def _exhibits(pane: Pane) -> Exhibits:
    """Return those of all parts. Raises Refusal where B is not there."""
    open_linked(pane.screen.of(CompareFields).checkpoint_b)
    if problem := missing(pane):
        raise FigureError(f"B cannot be shown: {problem}")
    return exhibits_of(PARTS, pane)


def _choices(pane: Pane) -> None:
    choose_head(pane, title="A", as_list=True)
    other = pane_of_b(pane)
    own = pane.screen.of(CompareFields)
    is_asked = own.checkpoint_b is not None or own.edited_b
    is_refused = is_asked and other.of is None
    if pane.is_of_asked_checkpoint and not is_refused and not other.is_locked:
        mend_head(other.selection, SUFFIX)
    choose_head(other, title="B", as_list=True)


def _below_tokens(pane: Pane) -> Pane:
    """Draw what B is, and what both write: on phones that comes first."""
    pane = choose_second(pane)
    if not is_awaited(pane):
        draw_part(pane, TEXTS)
    return pane


PAGE = Page(
    "compare",
    "Compare",
    "Look",
    2,
    draw,
    choices=_choices,
    below_tokens=_below_tokens,
    completed=with_second,
    exhibits=_exhibits,
    edits="own",
    subject="Two attention heads, of one Transformer or of two, side by side",
    here=here,
)
