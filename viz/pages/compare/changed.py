"""The changes of B, where B is A with edits, and the output of the model with them."""

from viz.app_packages import st
from viz.labels import kind_title, literal
from viz.state.changing import heads_off, switch_off
from viz.state.page import Pane
from viz.ui.controls import choose_one
from viz.ui.experiment import TOOLS, is_used, list_edits, offer_edit, show_output
from viz.ui.showing import show_remark

NOTHING = "Nothing is changed: switch the head of B off here, or experiment on Explore."


def changed(first: Pane, other: Pane) -> None:
    """Draw the strip. first: A, the model unchanged; other: B."""
    edits = first.screen.edits
    with st.container(key="experiment", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            titles = {tool: title for tool, title in TOOLS.items() if tool != "heads"}
            tool = first.screen.tool
            choose_one("A click on B", "tool", titles, tool, label_visibility="collapsed")
            _switch(other)
            list_edits(other)
            offer_edit(other)
        if not edits:
            show_remark(NOTHING, is_used(first.screen))
            return
        show_output(first)


def edited(other: Pane) -> str:
    """Return the end of B's heading."""
    n = len(other.screen.edits)
    is_off = " (off)" if _head(other) in heads_off() else ""
    return f"{is_off} with {n} edit{'s' * (n != 1)}"


def _head(other: Pane) -> tuple[str, int, int]:
    return other.selection.kind, other.selection.layer, other.selection.head


def _switch(other: Pane) -> None:
    """The head of B that is shown, off or on again."""
    head, off = _head(other), heads_off()
    is_off = head in off
    name = f"{kind_title(head[0])} {other.selection.name(other.recording)}"
    wanted = [each for each in off if each != head] if is_off else [*off, head]
    st.button(
        literal(f"Switch {name} {'on' if is_off else 'off'}"),
        key="switch head of B",
        on_click=switch_off,
        args=(wanted,),
    )
