"""Lenses of what is written: the costs that they show, which a study finds for the recording."""

from dataclasses import replace

from transformer.analysis.reading import lenses
from transformer.causes import Evidence
from transformer.refusal import Refusal
from transformer.words import word_groups
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.labels import counted
from viz.run.causes import Causes, is_quick
from viz.run.work import at_hand
from viz.state.note import note
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.progress import finished_for, grow


def with_costs(pane: Pane, is_watched: bool = False) -> Pane:
    """The pane whose recording has what the chosen lens shows; the same where it shows no costs.

    While the study goes on, or where it is refused, the page says so, and pictures show weights.
    is_watched: whether the card does so already, which draws the page anew in the end.
    """
    if not _shows_costs(pane) or pane.request != pane.answer.request:
        return pane
    if is_watched:
        evidence = at_hand(Causes(pane.answer.request))
        return pane if evidence is None else _with(pane, evidence)
    if (
        not (pane.screen.why or is_quick(pane.answer))
        and at_hand(Causes(pane.answer.request)) is None
    ):
        n = counted(len(word_groups(pane.recording.source)), "word", "words")
        help = f"Every word of the text is hidden in turn ({n}); until then, weights are shown."
        st.button("Find the costs", on_click=change, kwargs={"why": True}, help=help)
        return pane
    try:
        work = grow(Causes(pane.answer.request), lambda evidence: None)
    except (Refusal, NothingLeft) as reason:
        note(reason)
        return pane
    return _with(pane, work.result()) if work.is_whole else pane


def finished_costs(pane: Pane) -> Pane:
    """The same for who waits to the end: a figure, a wall."""
    if not _shows_costs(pane):
        return pane
    try:
        return _with(pane, finished_for(Causes(pane.answer.request)))
    except (Refusal, NothingLeft):
        return pane


def awaits_costs(pane: Pane) -> bool:
    """Tell whether a pane of `with_costs` lacks the costs that its lens shows."""
    return _shows_costs(pane) and pane.recording.hidden is None


def _shows_costs(pane: Pane) -> bool:
    has_cross = "cross" in pane.recording.attentions and bool(pane.recording.target)
    return has_cross and lenses()[pane.reading.lens].of_output


def _with(pane: Pane, evidence: Evidence) -> Pane:
    recording = replace(pane.recording, hidden=evidence.hidden)
    return replace(pane, result=replace(pane.answer, recording=recording))
