"""Further studies of a written token that is pinned, each behind a button below its card."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from transformer.causes.arrows import Arrows
from transformer.edits import Edit
from transformer.refusal import Refusal
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.figures.causes import arrow_costs, logit_parts
from viz.figures.causes.logit_parts import Parts
from viz.run.growth import Growth
from viz.screen import FIRST_PAGE, link
from viz.state.note import note
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.causes.studies import EachArrow, LogitParts
from viz.ui.progress import grow
from viz.ui.showing import files_of, show

Growths = dict[str, Growth[Any]]


@dataclass(frozen=True)
class Cause:
    """A study of one token: its button, and its exhibits once it is asked for."""

    title: str
    help: str
    exhibits: Callable[[Pane, int], Growths]
    """(pane, place of the token in the target) -> by name."""
    why_not: Callable[[Pane], str | None]
    """The reason why this model has none; None: it has."""


def of_word_exhibits(pane: Pane, place: int | None) -> Growths:
    """The exhibits of the study that is open; none where no word is pinned."""
    cause = CAUSES.get(pane.screen.cause or "")
    if place is None or cause is None or cause.why_not(pane):
        return {}
    return cause.exhibits(pane, place)


def of_word(pane: Pane, place: int | None) -> None:
    """Draw what opens each of them, and the one that is open. place: None: no word is pinned."""
    if place is None or pane.request != pane.answer.request:
        return
    with st.container(horizontal=True):
        for name, cause in CAUSES.items():
            why, is_open = cause.why_not(pane), pane.screen.cause == name
            st.button(
                cause.title,
                on_click=change,
                kwargs={"cause": None if is_open else name},
                help=why or cause.help,
                disabled=why is not None,
                icon=f":material/{'expand_less' if is_open else 'expand_more'}:",
                key=f"cause {name}",
            )
    if growths := of_word_exhibits(pane, place):
        _draw(pane, growths)


def _draw(pane: Pane, growths: Growths) -> None:
    """All exhibits of one study, which is watched once."""

    def draw(value: Any) -> None:
        for name, growth in growths.items():
            show(growth.exhibit(value), name)

    try:
        work = grow(next(iter(growths.values())).study, draw)
    except (Refusal, NothingLeft) as reason:
        note(reason)
        return
    if work.is_whole:
        for name, growth in growths.items():
            files_of(pane, growth.exhibit(work.result()), name)


def _arrows(pane: Pane, place: int) -> Growths:
    study, recording = EachArrow(pane.answer.request, place), pane.recording
    kind = pane.selection.kind
    if kind == "encoder_self":
        kind = "cross"

    def costs(arrows: Arrows) -> Exhibit:
        content = arrow_costs.chart(arrows, recording, kind)
        says = arrow_costs.describe(arrows, recording)
        return Exhibit("Each arrow cut", content, says, is_main=False)

    def strongest(arrows: Arrows) -> Exhibit:
        content = arrow_costs.strongest_table(arrows, recording, address)
        return Exhibit("Strongest arrows", content, content.name, is_main=False)

    def address(edit: Edit) -> str:
        screen = replace(pane.screen, page=FIRST_PAGE, edits=(*pane.screen.edits, str(edit)))
        return link(replace(screen, kind=edit.place, layer=edit.layer, head=edit.head))

    grown = {"arrows": costs, "strongest": strongest}
    return {name: Growth("Each arrow cut", study, it, is_main=False) for name, it in grown.items()}


def _parts(pane: Pane, place: int) -> Growths:
    study, title = LogitParts(pane.answer.request, place), "Direct logit attribution"
    n_heads = next(iter(pane.recording.attentions.values())).n_heads

    def bars(parts: Parts) -> Exhibit:
        content, says = logit_parts.chart(parts), logit_parts.describe(parts)
        return Exhibit(title, content, says, is_main=False)

    def every(parts: Parts) -> Exhibit:
        content = logit_parts.table(parts, n_heads)
        return Exhibit(title, content, content.foot, is_main=False)

    grown = {"parts": bars, "every-part": every}
    return {name: Growth(title, study, it, is_main=False) for name, it in grown.items()}


def _no_parts(pane: Pane) -> str | None:
    if pane.answer.request.edits:
        return "This is of the model as it is: take the edits back first."
    return _not_ours(pane)


def _not_ours(pane: Pane) -> str | None:
    if pane.checkpoint.family.is_watched:
        return "This is computed in models that are built here; this one runs as its own code says."
    return None


CAUSES = {
    "arrows": Cause(
        "Each arrow cut",
        "Every arrow of the row that writes this word is cut, each by itself, exactly.",
        _arrows,
        _not_ours,
    ),
    "parts": Cause(
        "Direct logit attribution",
        "What each head and feed-forward layer of the decoder adds to this word's logit directly.",
        _parts,
        _no_parts,
    ),
}
"""Name, as the address has it -> study."""
