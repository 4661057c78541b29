"""Compare: two heads, of one run or of two, on one scale, their difference, and numbers."""

from dataclasses import replace
from functools import partial

from transformer import Recording
from transformer.analysis.metrics.metric import jensen_shannon, largest_difference
from transformer.analysis.reading import Selection, row_tokens
from transformer.decoding import decoding_methods
from viz.app_packages import pd, st
from viz.components.kit.picture import twin
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.labels import in_word, kind_title, literal
from viz.page_fields import CompareFields
from viz.pages.compare.heads import changed, draw_heads, edited, parameter_changes
from viz.pages.compare.heads import exhibits as head_exhibits
from viz.pages.compare.second import (
    SUFFIX,
    ByMethod,
    Changed,
    Second,
    beside,
    choose_second,
    is_awaited,
    missing,
    pane_of_b,
    with_second,
)
from viz.paper.record import FigureError
from viz.state.checkpoints import open_linked, title
from viz.state.fingerprints import known_fingerprint
from viz.state.page import Exhibits, Page, Pane
from viz.state.state import mend_head
from viz.ui.changed_output import output_exhibit
from viz.ui.controls import choose_head, choose_reading, help_of
from viz.ui.experiment import say_unchanged
from viz.ui.picture import choose_picture, large, metric_texts, view_exhibit
from viz.ui.saving import edited as all_edits
from viz.ui.saving import for_a_paper, known_as
from viz.ui.showing import below, columns, show, show_with_files
from viz.views.heads import why_not
from viz.views.of_page import views_of_page

OF_ONE = ("inside", "why")
"""Pictures of one head or word, which aren't compared."""
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
    panes = _panes(pane)
    if isinstance(panes["B"].of, Changed):
        changed(pane, panes["B"])
    else:
        say_unchanged(pane.screen)
    with st.container(key="compared"):
        with st.container(key="under pictures"):
            below(partial(_first, panes), pane)
        _pictures(panes)
    below(partial(_differences, panes), pane)


def _first(panes: dict[str, Pane], pane: Pane) -> None:
    """Show what differs before the two pictures: all heads of two runs, then these two heads."""
    if isinstance(panes["B"].of, Second):
        draw_heads(panes)
    recording, first, other = _compared(panes)
    if why_not(recording, first, other) is not None:
        return
    a, b = (it.attention(recording).weights(it.layer, it.head) for it in (first, other))
    place = (a - b).abs().argmax()
    query, key = divmod(int(place), a.size(1))
    names = first.attention(recording)
    words = (in_word(row_tokens(names, pane.reading), query), in_word(names.keys, key))
    where = "“{}” to “{}”".format(*words)
    weights = f"{a[query, key]:.2f} in A, {b[query, key]:.2f} in B"
    st.markdown(
        f"**These two heads** · Jensen-Shannon divergence **{jensen_shannon(a, b):.4f} bits** · "
        f"largest difference of a weight **{largest_difference(a, b):.4f}**: "
        f"{literal(f'{where}, {weights}')}",
        help=help_of("jensen_shannon"),
    )


def _differences(panes: dict[str, Pane], pane: Pane) -> None:
    """Show the differences, as pictures and as numbers."""
    is_edited = isinstance(panes["B"].of, Changed)
    recording, first, other = _compared(panes)
    if is_edited:  # below, since a click on B edits it
        draw_heads(panes)
    if panes["B"].answer.request.follows is not None:
        st.caption(FORCED)
    elif _are_two(panes) and why_not(recording, first, other) is not None:
        by_method = isinstance(panes["B"].of, ByMethod)
        st.caption(REWRITTEN if is_edited else BY_METHOD if by_method else OWN)
    difference, numbers = columns(2, gap="large")
    with difference:
        for name in views_of_page("compare", recording):
            exhibit = _view(name, panes)
            show_with_files(pane, exhibit, name, f"{name} {first} {other}")
    with numbers:
        _numbers(panes)
    if isinstance(panes["B"].of, Second):
        parameter_changes(pane.answer.request, panes["B"].answer.request)


def _panes(pane: Pane) -> dict[str, Pane]:
    # A is the model unchanged: a click on it edits nothing.
    return {"A": replace(pane, screen=replace(pane.screen, tool="look")), "B": pane_of_b(pane)}


def _are_two(panes: dict[str, Pane]) -> bool:
    """Tell whether B is of another run than A: of another checkpoint, or with edits."""
    return panes["A"].answer is not panes["B"].answer


def _heading(letter: str, panes: dict[str, Pane]) -> str:
    pane = panes[letter]
    of = f" of {title(pane.answer.request.checkpoint)}" if _are_two(panes) else ""
    if isinstance(panes["B"].of, ByMethod):
        of = f", by {decoding_methods()[pane.answer.request.method].title.lower()}"
    if isinstance(panes["B"].of, Changed):
        of = edited(pane) if letter == "B" else " unchanged"
    return f"{letter} · {kind_title(pane.selection.kind)} {pane.selection.name(pane.recording)}{of}"


def _lacks(letter: str, panes: dict[str, Pane]) -> str:
    """Say why B does not show the head of A where both are locked to one; else nothing."""
    a, b = panes["A"], panes["B"]
    if letter == "A" or not b.is_locked or a.selection == b.selection:
        return ""
    return literal(f" (it has no {kind_title(a.selection.kind)} {a.selection.name(a.recording)})")


def _pictures(panes: dict[str, Pane]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name = choose_picture(panes["A"], OF_ONE)
        choose_reading(panes["A"], name)
        exhibits = _heads(panes, name)
        for_a_paper(panes["A"], exhibits, "paper compared")
    for column, (letter, pane) in zip(st.columns(2, gap="large"), panes.items(), strict=True):
        with column:
            heading = literal(_heading(letter, panes)[1:])
            st.markdown(f"**{literal(letter)}**{heading}{_lacks(letter, panes)}")
            show(exhibits[letter.lower()], f"{name}{pane.suffix}")


def _heads(panes: dict[str, Pane], name: str) -> dict[str, Exhibit]:
    """Both heads as they stand beside each other."""
    exhibits = {}
    for letter, pane in panes.items():
        exhibit = large(name, pane)
        title, content = f"{exhibit.title}, {_heading(letter, panes)}", exhibit.content
        if isinstance(content, PictureAt):
            stands_for = twin(panes["A"].recording, pane.recording)
            content = replace(content, over={**content.over, "twin": stands_for})
        exhibits[letter.lower()] = replace(exhibit, title=title, content=content)
    is_edited = isinstance(panes["B"].of, Changed)
    return exhibits | (output_exhibit(panes["A"]) if is_edited else {})


def _exhibits(pane: Pane) -> Exhibits:
    """Both heads, and their difference. Raises Refusal where B is not there."""
    open_linked(pane.screen.of(CompareFields).checkpoint_b)
    if problem := missing(pane):
        raise FigureError(f"B cannot be shown: {problem}")
    panes = _panes(pane)
    name = pane.screen.picture if pane.screen.picture not in OF_ONE else "arrows"
    recording, first, other = _compared(panes)
    views = views_of_page("compare", recording) if why_not(recording, first, other) is None else {}
    differences = {view: _view(view, panes) for view in views}
    return _heads(panes, name) | differences | head_exhibits(panes)


def _view(name: str, panes: dict[str, Pane]) -> Exhibit:
    """A view of both, with both heads in its title, and what B is: the page says it above."""
    recording, first, other = _compared(panes)
    exhibit = view_exhibit(name, panes["A"], recording, first=first, second=other)
    a, b = (_heading(letter, panes) for letter in "AB")
    request = panes["B"].answer.request
    if request.edits:
        b += f" ({all_edits(panes['B'])})"
    elif _are_two(panes):
        b += known_as(request, known_fingerprint(request.checkpoint))
    return replace(exhibit, is_main=False, title=f"{exhibit.title} of {a} and {b}")


def _compared(panes: dict[str, Pane]) -> tuple[Recording, Selection, Selection]:
    """One recording that has both heads."""
    recording, a, b = panes["A"].recording, panes["A"].selection, panes["B"].selection
    if not _are_two(panes):
        return recording, a, b
    both = beside(recording, panes["B"].recording)
    return both, a, Selection(f"{b.kind}{SUFFIX}", b.layer, b.head)


def _numbers(panes: dict[str, Pane]) -> None:
    recording, *selections = _compared(panes)
    columns = {
        literal(_heading(letter, panes)): metric_texts(s.attention(recording), s.layer, s.head)
        for letter, s in zip(panes, selections, strict=True)
    }
    st.table(pd.DataFrame(columns).fillna("does not apply"))


def _choices(pane: Pane) -> None:
    choose_head(pane, title="A", as_list=True)
    other = pane_of_b(pane)
    own = pane.screen.of(CompareFields)
    is_asked = own.checkpoint_b is not None or own.edited_b
    is_refused = is_asked and other.of is None
    if pane.is_of_asked_checkpoint and not is_refused and not other.is_locked:
        mend_head(other.selection, SUFFIX)
    choose_head(other, title="B", as_list=True)


PAGE = Page(
    "compare",
    "Compare",
    "Look",
    2,
    draw,
    choices=_choices,
    below_tokens=choose_second,
    completed=with_second,
    exhibits=_exhibits,
    edits="own",
    subject="Two attention heads, of one Transformer or of two, side by side",
)
