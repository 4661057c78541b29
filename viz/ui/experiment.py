"""The strip below the tokens: changes of the model, and what became of its output."""

import html
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from transformer.analysis.output_change import WordChange, differing, word_changes, words_of
from transformer.analysis.scored import output_read, scores_in
from transformer.edits import Edit, EditKind, edit_kinds, parse
from transformer.recording.text_vector import TextVector, angle, cosine
from transformer.refusal import Refusal
from transformer.tokenizer import Token
from transformer.words import word_piece
from viz.app_packages import st
from viz.edit_words import edit_text, scale_of, with_factor
from viz.labels import literal, signed
from viz.run.request import Answer, answer
from viz.screen import Screen, link, put
from viz.state.changing import changes, edit, exchange, redo, remove, undo
from viz.state.page import Page, Pane
from viz.state.state import change, session, widget
from viz.talks.stage import on_stage
from viz.ui.add_edit import add_edit, draw_slider, draw_value
from viz.ui.controls import choose_one
from viz.ui.edit_checks import proof_button

TOOLS = {"look": "Look", "heads": "Switch heads off", "arrows": "Cut arrows"}
HELP = {
    "look": "",
    "heads": "A click on a head in the grid switches it off (head ablation), and on again.",
    "arrows": "A click on an arrow, or on a cell of the heat map, cuts it.",
}
MOST_SHOWN = 12
"""Edits with a button of their own; more are one number."""
_STYLE = """
<style>
  .outputs { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 0.8rem;
             align-items: baseline; line-height: 1.3; }
  .outputs, .outputs dt, .outputs dd { margin: 0 !important; padding: 0 !important; }
  .outputs dt { color: var(--dim); font-size: 0.875rem; }
  .outputs dt small { display: block; }
  .stHtml .outputs dt small { display: none; }
  .outputs dd { display: flex; flex-wrap: wrap; gap: 0.1rem 0.3rem; }
  .outputs div { display: flex; flex-direction: column; align-items: center; padding: 0 0.1rem; }
  .outputs small { font-size: 0.875rem; color: var(--dim); font-variant-numeric: tabular-nums; }
  .outputs b { color: var(--accent); text-decoration: underline; text-underline-offset: 3px; }
  .outputs s { text-decoration-color: var(--accent); text-decoration-thickness: 2px; }
</style>
"""
_WITHOUT = "<dt>without the edits<small>change of log-probability, in nats</small></dt>"
"""The heading beside the numbers, where there is no room for a legend below."""
_UNSEEN = ' style="visibility: hidden"'


def experiment(pane: Pane, page: Page) -> None:
    """Draw the strip, where there is something to say."""
    screen = pane.screen
    if page.edits in ("none", "own"):
        if page.edits == "none":
            say_unchanged(screen)
        return
    can_edit = page.edits == "made"
    if on_stage() and not screen.edits:
        if screen.tool == "heads" and can_edit:
            with st.container(key="experiment", gap="small"):
                st.html(_room_for_outputs(pane.answer, HELP[screen.tool]))
        return
    if not _is_used(screen) and (screen.tool == "look" or not can_edit):
        return
    with st.container(key="experiment", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if can_edit:
                choose_one("A click", "tool", TOOLS, screen.tool, label_visibility="collapsed")
            list_edits(pane)
            if screen.edits and can_edit:
                _compare(screen)
        if screen.edits:
            _outputs(pane)
        elif HELP[screen.tool] and can_edit:
            st.caption(HELP[screen.tool])


def say_unchanged(screen: Screen) -> None:
    """Say that what is chosen on Explore is not in force here, if anything is."""
    n = len(screen.edits)
    if n:
        edits = "1 edit" if n == 1 else f"{n} edits"
        st.caption(f"The model is changed by {edits} on Explore; this page shows it unchanged.")


def experiment_button() -> None:
    """Begin to change the model, or end it: what is changed stays so until it is taken back."""
    is_on = session().screen.tool != "look"
    st.button(
        "Experiment",
        icon=":material/experiment:",
        key="experiment on",
        type="primary" if is_on else "secondary",
        help="Interventions: switch heads off, cut arrows, and see what the model writes then",
        on_click=lambda: change(tool="look" if is_on else "heads"),
    )


def _compare(screen: Screen) -> None:
    """A link to the model with the edits, beside the one without."""
    both = put(screen, page="compare", checkpoint_b=None, edited_b=True, same_head=True)
    address = html.escape(link(both))
    st.html(
        f'<a data-state style="color: inherit" href="{address}">Compare both</a>', width="content"
    )


def list_edits(pane: Pane) -> None:
    """The edits in force, and what takes them back. pane: what they were made of."""
    edits, own = pane.screen.edits, changes()
    for i, spelled in enumerate(edits[:MOST_SHOWN]):
        _one(i, spelled, pane)
    if len(edits) > MOST_SHOWN:
        st.markdown(f"and {len(edits) - MOST_SHOWN} more", width="content")
    look: Any = {"type": "tertiary"}
    st.button("Undo", disabled=not own.before, on_click=undo, icon=":material/undo:", **look)
    st.button("Redo", disabled=not own.undone, on_click=redo, icon=":material/redo:", **look)
    if edits:
        st.button("All off", on_click=edit, args=((),), **look)
    proof_button(pane)
    if not on_stage():
        add_edit(pane)


def begin_edits(pane: Pane) -> None:
    """Offer the first edit, on a page where no click makes one; the strip offers others."""
    if not (_is_used(pane.screen) or on_stage()):
        add_edit(pane)


def _is_used(screen: Screen) -> bool:
    """Tell whether something is changed, or was and can be again."""
    own = changes()
    return bool(screen.edits or own.before or own.undone)


def _one(i: int, spelled: str, pane: Pane) -> None:
    """An edit: what it says, and where it has a factor, how large that is."""
    each = parse(spelled)
    title = literal(edit_text(each, pane.recording))
    with st.popover(title, key=f"edit {i}", help=literal(edit_kinds()[each.name].cited)):
        scale = scale_of(each)
        _values(each, scale or edit_kinds()[each.name])
        st.code(spelled, language=None)
        st.button("Take it back", key=f"remove {i}", on_click=remove, args=(spelled,))


def _values(each: Edit, kind: EditKind) -> None:
    """A field or a slider for each number that the kind declares."""
    values = each.values or (0.0,) * len(kind.values)
    for i, value in enumerate(kind.values):

        def put_value(new: float, i: int = i) -> None:
            if kind.zero:
                exchange(str(each), with_factor(each, float(new), kind))
            else:
                numbers = (*values[:i], float(new), *values[i + 1 :])
                exchange(str(each), replace(each, values=numbers))

        now = int(values[i]) if value.is_whole else values[i]
        draw = draw_value if value.slider is None else draw_slider
        draw(value, now, **widget(f"{value.title} {i} of {each}", now, put_value))


def _outputs(pane: Pane) -> None:
    """Show the output without the edits, how likely each word is now, and the output with them."""
    now, request = pane.answer, pane.answer.request
    if request != pane.request:  # it is still written, or cannot be read
        if on_stage():
            st.html(_room_for_outputs(now, ""))
        return
    try:
        outputs(answer(replace(request, edits=())), now)
    except Refusal as error:
        st.caption(literal(str(error)))


def outputs(before: Answer, after: Answer) -> None:
    """The same of two answers to one text, the second with edits. Raises Refusal."""
    if after.recording.classification:
        _classes(before, after)
    elif after.decoding is not None and before.decoding is not None:
        st.html(compared(before, after))
    elif after.recording.vector is not None and before.recording.vector is not None:
        st.caption(literal(turned(before.recording.vector, after.recording.vector)))
    elif before.recording.logits.dim() == 2:
        st.html(_filled(before, after))


def compared(before: Answer, after: Answer) -> str:
    """Return the output without the edits and the one with them as HTML. Raises Refusal."""
    # The target without the edits, read by the model that has them.
    forced = answer(after.request.made_to_read(before.request))
    changes = word_changes(before.recording, forced.recording)
    return _html(changes, words_of(after.recording.target), "The same words are written.")


def turned(before: TextVector, after: TextVector) -> str:
    """Say how far a text's vector turns."""
    a, b = before.values, after.values
    return (
        f"The text's vector ({after.pooling.title}) turns by {angle(a, b):.2f}° with the edits: "
        f"its cosine with the one without them is {cosine(a, b):.4f}."
    )


def _filled(before: Answer, after: Answer) -> str:
    """Show the tokens that a masked model fills in or sees, and those it finds likeliest then."""
    output = output_read(before.checkpoint, before.request.text, before.recording)
    (old, _), (new, best) = (scores_in(each.recording, output) for each in (before, after))
    token = after.checkpoint.tokenizer.token
    likeliest = [token(id) for id in best.tolist()]
    groups = output.groups
    read, words = _grouped(output.words, groups), _grouped(likeliest, groups)
    changes = [
        WordChange(word, *_sums(group, old, new)) for word, group in zip(read, groups, strict=True)
    ]
    return _html(changes, words, "The same words are the most probable ones.")


def _grouped(tokens: Sequence[Token], groups: Sequence[Sequence[int]]) -> list[str]:
    return [word_piece([tokens[i] for i in group]).strip(" ▁") for group in groups]


def _sums(group: Sequence[int], *log_probs: Tensor) -> tuple[float, float]:
    before, after = (float(each[list(group)].sum()) for each in log_probs)
    return before, after


def _html(changes: Sequence[WordChange], new: Sequence[str], same: str) -> str:
    """The words without the edits with their changes, and those with them."""
    old = [each.word for each in changes]
    was = "".join(
        f"<div>{_marked(each.word, 's' if gone else '')}<small>{signed(each.gain)}</small></div>"
        for each, gone in zip(changes, differing(old, new), strict=True)
    )
    written = "".join(
        f"<div>{_marked(word, 'b' if is_other else '')}</div>"
        for word, is_other in zip(new, differing(new, old), strict=True)
    )
    total = signed(sum(each.gain for each in changes))
    remark = f" {same}" if new == old else ""
    return (
        f'{_STYLE}<dl class="outputs" data-total="{total}">'
        f"{_WITHOUT}<dd>{was}</dd><dt>with them</dt><dd>{written}</dd>"
        f"<dt></dt><dt>Below each word: the change of its log-probability, in nats; {total} in "
        f"all.{remark}</dt></dl>"
    )


def _room_for_outputs(after: Answer, text: str) -> str:
    """Leave as much room as a click on a head will need: so the head stays below the pointer.

    text: in its place; without it nothing is seen, as what is shown is no output without the edits.
    """
    if after.decoding is None:
        return ""
    words = "".join(
        f"<div>{_marked(word, '')}<small{_UNSEEN}>{signed(0.0)}</small></div>"
        for word in words_of(after.recording.target)
    )
    return (
        f'{_STYLE}<dl class="outputs"{"" if text else _UNSEEN}>{_WITHOUT}<dd>{words}</dd>'
        f"<dt>with them</dt><dd>{html.escape(text or 'nothing')}</dd></dl>"
    )


def _marked(word: str, tag: str) -> str:
    text = html.escape(word)
    return f"<{tag}>{text}</{tag}>" if tag else f"<span>{text}</span>"


def _classes(before: Answer, after: Answer) -> None:
    old, new = before.recording.classification, after.recording.classification
    assert old is not None and new is not None
    changes = [
        f"{name} {float(a):.3f} → {float(b):.3f}"
        for name, a, b in zip(new.classes, old.probs, new.probs, strict=True)
    ]
    st.caption(literal("Probabilities without the edits → with them: " + " · ".join(changes)))
