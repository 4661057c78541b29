"""The strip of an experiment: changes of the model, what became of its output, and the proof."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from transformer import Recording
from transformer.analysis.proofs import Proof, proofs
from transformer.edits import Edit, EditKind, edit_kinds, edits_of, parse
from transformer.refusal import Refusal
from viz.app_packages import DeltaGenerator, st
from viz.edit_words import edit_text, edits_text, grouped, scale_of, with_factor
from viz.exhibits.exhibit import Line, Span, Words
from viz.labels import counted, kind_title, literal, number, signed
from viz.painters.words_html import words_body
from viz.run.line import Runner
from viz.run.request import Answer, Request, answer
from viz.run.work import Study, at_hand
from viz.screen import Screen, put
from viz.state.changing import are_held, changes, edit, exchange, redo, remove, undo
from viz.state.page import Page, Pane
from viz.state.state import change, session, widget
from viz.talks.stage import on_stage
from viz.ui.add_edit import add_edit, draw_slider, draw_value
from viz.ui.changed_output import WITH, WITHOUT, output_of, unchanged_output
from viz.ui.controls import choose_one, draw_link
from viz.ui.progress import is_written, whole
from viz.ui.showing import show_remark, show_words

# Proof on screen: what must hold of a run with edits, with the numbers of this very run.

MARKS = {True: "✓", False: "✗"}


@dataclass(frozen=True)
class Proofs(Study[tuple[Proof, ...]]):
    """Checks of the output without the edits, read without them and with them."""

    request: Request

    def run(self, before: tuple[Proof, ...] | None, runner: Runner) -> Iterator[tuple[Proof, ...]]:
        request = self.request
        plain = after = answer(replace(request, edits=()), runner)
        if request.edits:
            is_read = plain.decoding is None
            after = answer(request if is_read else request.made_to_read(plain.request), runner)
        edits, both = edits_of(request.edits), (plain.recording, after.recording)
        with runner.turn(after.checkpoint.model):
            results = proofs(after.checkpoint, request.text, *both, edits)
        yield results


def proof_button(pane: Pane) -> None:
    """Draw the button that opens them; nothing is computed before."""
    box = st.popover(
        "Proof",
        icon=":material/fact_check:",
        type="tertiary",
        key="proofs",
        on_change="rerun",
    )
    with box, st.container(key="proof"):  # as high as what comes: it opens where there is room
        st.caption("Whether the edits do what they say, with the numbers of this run:")
        if not box.open:
            return
        if not is_written(pane, "The proof follows"):
            return
        try:
            results = whole(Proofs(pane.answer.request), st.empty())
        except Refusal as error:
            st.caption(literal(str(error)))
            return
        lines = [
            literal(f"{_mark(each)} {_line_edit_checks(each, pane.recording)}")
            for each in results or ()
        ]
        st.markdown("\n\n".join(lines))


def _mark(proof: Proof) -> str:
    return "–" if proof.value is None else MARKS[proof.is_right]


def _line_edit_checks(proof: Proof, recording: Recording) -> str:
    """The claim, and the number that was found; or why there is none."""
    claim = {
        "sum": "What the heads give through W_O, and its bias, sum to what the layer gives",
        "factor": "A factor of 1 at every head changes no logit",
        "rows": "Each row of weights sums to 1",
        "before": "Up to the first edit both runs are the same",
    }[proof.name]
    if proof.value is None:
        return f"{claim}: not checkable, {proof.why}."
    error = number(proof.value, 0, "e").replace("e−0", "e−") if proof.value else "0"
    return f"{claim}: {_measured(proof, error)}.{_first(proof, recording)}"


def _measured(proof: Proof, error: str) -> str:
    if proof.name == "sum":
        return f"largest error {error} of the largest value ({counted(proof.n, 'layer', 'layers')})"
    if proof.name == "factor":
        return f"largest difference {error} ({counted(proof.n, 'head', 'heads')})"
    if proof.name == "rows":
        return f"largest deviation {error} ({counted(proof.n, 'row', 'rows')})"
    return f"largest difference {error} (attentions read: {proof.n:,})"


def _first(proof: Proof, recording: Recording) -> str:
    if proof.name != "before":
        return ""
    if proof.first is None:
        return " Nothing differs after it either."
    kind, layer = proof.first
    number = recording.attentions[kind].number(layer)
    return f" The first that differs is {kind_title(kind)} L{number}."


# The strip of an experiment: changes of the model, and what became of its output.

TOOLS = {"look": "Look", "heads": "Switch heads off", "arrows": "Cut arrows"}
HELP = {
    "look": "",
    "heads": "A click on a head in the grid switches it off (head ablation), and on again.",
    "arrows": "A click on an arrow, or on a cell of the heat map, cuts it.",
}
HELD = "Made on an earlier sentence, and still in force."
UNCHANGED = "Nothing is changed: this is the model as it is."
PLACE = "What the model writes with a change stands here, below what it writes without one."
MOST_SHOWN = 12
"""Edits with a button of their own; more are one number."""


def experiment(pane: Pane, page: Page) -> None:
    """Draw what is changed and what became of the output, where there is something to say.

    A page whose clicks change the model draws `changing` while its tool is open.
    """
    screen = pane.screen
    if page.edits in ("none", "own"):
        return
    if on_stage():
        _on_wall(pane, page.edits == "made")
    elif is_used(screen) and not (page.edits == "made" and screen.tool != "look"):
        with st.container(key="experiment", gap="small"):
            with _line():
                list_edits(pane)
                if page.edits == "made":
                    add_edit(pane)
                if screen.edits:
                    _compare(screen)
            if are_held(screen.edits):
                show_remark(HELD, is_read_out=False)
            if screen.edits:
                _outputs(pane)
            else:
                show_remark(UNCHANGED, is_read_out=True)


def _on_wall(pane: Pane, can_edit: bool) -> None:
    """Draw the edits and the outputs, or leave room for these as long as a click may bring them."""
    screen = pane.screen
    if screen.edits:
        with st.container(key="experiment", gap="small"):
            with _line():
                if can_edit:
                    choose_one("A click", "tool", TOOLS, screen.tool, label_visibility="collapsed")
                list_edits(pane)
                if can_edit:
                    _compare(screen)
            _outputs(pane)
    elif screen.tool == "heads" and can_edit:
        with st.container(key="experiment", gap="small"):
            st.html(_room_for_outputs(pane.answer, HELP[screen.tool]))


def changing(pane: Pane) -> None:
    """Draw the strip of a page whose clicks change the model, while its tool is open.

    Its height is the same before the first click and after any other: what they aim at stays.
    """
    screen = pane.screen
    if on_stage() or screen.tool == "look":
        return
    with st.container(key="experiment", gap="xxsmall"):
        with _line():
            choose_one("A click", "tool", TOOLS, screen.tool, label_visibility="collapsed")
            _take_back()
            proof_button(pane)
            add_edit(pane)
        with _line(key="edits"):
            if screen.edits:
                _titles(pane)
                st.button("All off", on_click=edit, args=((),), type="tertiary")
                if are_held(screen.edits):
                    st.caption(HELD)
                _compare(screen)
            elif HELP[screen.tool]:
                st.caption(HELP[screen.tool])
        with st.container(key="outcome"):
            # Words of the same form as the outputs, and known before there are edits.
            last = pane.answer
            plain = at_hand(replace(last.request.of_search, edits=())) or last
            room = unchanged_output(plain)
            if room is not None:
                st.html(
                    f'<div class="unseen" aria-hidden="true">{words_body(room, "text-room")}</div>'
                )
            with st.container():
                if screen.edits:
                    _outputs(pane)
                elif is_used(screen):
                    show_remark(UNCHANGED, is_read_out=True)
                elif room is not None:
                    st.caption(PLACE)


def _line(**look: Any) -> DeltaGenerator:
    return st.container(horizontal=True, vertical_alignment="center", gap="small", **look)


SHOWN_UNCHANGED = "The model is changed by {edits} on Explore; this page shows it unchanged."


def say_unchanged(screen: Screen) -> None:
    """Say that what is chosen on Explore is not in force here, if anything is."""
    n = len(screen.edits)
    if n:
        st.caption(SHOWN_UNCHANGED.format(edits="1 edit" if n == 1 else f"{n} edits"))


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
    draw_link("Compare both", both)


def list_edits(pane: Pane) -> None:
    """The edits in force, and what takes them back. pane: what they were made of."""
    _take_back()
    _titles(pane)
    if pane.screen.edits:
        st.button("All off", on_click=edit, args=((),), type="tertiary")
    proof_button(pane)


def _titles(pane: Pane) -> None:
    groups = grouped(pane.screen.edits)
    for i, group in enumerate(groups[:MOST_SHOWN]):
        if len(group) == 1:
            # An edit: what it says, and where it has a factor, how large that is.
            spelled = group[0]
            each = parse(spelled)
            title = literal(edit_text(each, pane.recording))
            with st.popover(title, key=f"edit {i}"):  # help would lie over what it opens
                st.caption(literal(edit_kinds()[each.name].cited))
                scale = scale_of(each)
                _values(each, scale or edit_kinds()[each.name])
                st.code(spelled, language=None)
                st.button("Take it back", key=f"remove {i}", on_click=remove, args=(spelled,))
        else:
            _several(i, group, pane)
    if len(groups) > MOST_SHOWN:
        st.markdown(f"and {sum(map(len, groups[MOST_SHOWN:]))} more", width="content")


def _take_back() -> None:
    """Undo and Redo, by buttons that stay in their places: the first ones, in any window."""
    own = changes()
    look: Any = {"type": "tertiary"}
    st.button("Undo", disabled=not own.before, on_click=undo, icon=":material/undo:", **look)
    st.button("Redo", disabled=not own.undone, on_click=redo, icon=":material/redo:", **look)


def offer_edit(pane: Pane) -> None:
    """Offer to add an edit, on a page where no click makes one."""
    if not on_stage():
        add_edit(pane)


def is_used(screen: Screen) -> bool:
    """Tell whether something is changed, or was and can be again."""
    own = changes()
    return bool(screen.edits or own.before or own.undone)


def _several(i: int, group: tuple[str, ...], pane: Pane) -> None:
    """Edits that were kept together: one button, and taken back as one."""
    title = literal(edits_text([*map(parse, group)], pane.recording))
    with st.popover(title, key=f"edit {i}"):
        st.code("\n".join(group), language=None)
        st.button("Take them back", key=f"remove {i}", on_click=remove, args=group)


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
    """Show the output, or leave room for it while it is still written or cannot be read."""
    if pane.answer.request == pane.request:
        show_output(pane)
    elif on_stage():
        st.html(_room_for_outputs(pane.answer, ""))


def show_output(pane: Pane) -> None:
    """The output without the edits, how likely each word is now, and the output with them."""
    try:
        words = output_of(pane)
    except Refusal as error:
        st.caption(literal(str(error)))
        return
    if words is not None:
        show_words(words, "/".join(pane.screen.edits))


def _room_for_outputs(after: Answer, text: str) -> str:
    """Leave as much room as a click on a head will need: so the head stays below the pointer.

    text: in its place; without it nothing is seen, as what is shown is no output without the edits.
    """
    if after.decoding is None:
        return ""
    spans = [Span(word.text, signed(0.0)) for word in after.recording.target_words]
    words = Words([Line(spans, WITHOUT), Line([Span(text or "nothing")], WITH)])
    return f'<div class="{"room" if text else "unseen"}">{words_body(words)}</div>'
