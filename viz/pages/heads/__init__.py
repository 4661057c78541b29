"""Heads: all heads of a checkpoint over many sentences, each by itself, and which do what."""

from functools import partial
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.corpus.labels import Atlas
from transformer.corpus.shipping import Gathered
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.page_fields import HeadsFields
from viz.pages.heads.align import ALIGN
from viz.pages.heads.every import (
    HeadSurvey,
    all_heads,
    atlas_of,
    atlas_so_far,
    choose_maps,
    exhibits_of_all,
    kinds_on,
)
from viz.pages.heads.one import circuits_of_head, exhibits_of_head, one_head
from viz.pages.heads.questions import ask_heads, exhibits_of_question
from viz.run.settings import is_public
from viz.run.work import Growth
from viz.state.checkpoints import title
from viz.state.page import Exhibits, Page, Pane, as_opened
from viz.state.state import change, note, session, warn
from viz.ui.parts import Part, Parts
from viz.ui.progress import grow

NONE = "{name} has no survey of its heads yet: what they do over many sentences is not known."
HERE = "What each head of {name} does on average."
ELSEWHERE = "A survey is made on a machine of one's own, by the command survey."


def parts_of(atlas: Atlas | None) -> Parts:
    """The parts of the page; None: the one that is shown needs no survey."""

    def survey() -> Atlas:
        assert atlas is not None
        return atlas

    parts = {
        "all": Part(
            "All heads",
            lambda pane: exhibits_of_all(pane, survey()),
            choose=lambda pane: choose_maps(pane, survey()),
            draw=lambda pane: all_heads(pane, survey()),
        ),
        "one": Part(
            "One head",
            lambda pane: {
                **exhibits_of_head(pane, survey()),
                "circuits": circuits_of_head(pane, survey()),
            },
            draw=lambda pane: one_head(pane, survey()),
        ),
        "ask": Part("Ask", exhibits_of_question, draw=ask_heads),
        "align": ALIGN,
    }
    return Parts("Heads of", "heads_of", parts, _chosen, key="heads choices", has_labels=False)


def _chosen(pane: Pane) -> str:
    return pane.screen.of(HeadsFields).heads_of


def _parts(pane: Pane) -> Parts | None:
    """Make them of the survey in the folder; None where it has none. Raises CheckpointError."""
    if _chosen(pane) in ("ask", "align"):
        return parts_of(None)
    atlas = atlas_of(pane.request, pane.recording.numbering)
    return None if atlas is None else parts_of(atlas)


def draw(pane: Pane) -> None:
    """The parts of the page; where nothing was surveyed, the way to a survey."""
    if not pane.is_of_asked_checkpoint:
        note("The heads are shown once the checkpoint opens.")
        return
    parts = None
    try:
        parts = _parts(pane)
    except CheckpointError as error:
        warn(error)
    if parts is not None:
        parts.draw(pane)
    elif is_public():
        note(f"{NONE.format(name=pane.checkpoint.name)} {ELSEWHERE}")
    elif not pane.screen.of(HeadsFields).heads_survey:
        note(NONE.format(name=pane.checkpoint.name))
        look: Any = {"icon": ":material/play_arrow:", "type": "primary"}
        st.button("Survey its heads", on_click=lambda: change(heads_survey=True), **look)
    else:
        grow(HeadSurvey.of(pane.request), partial(_draw_so_far, pane))


def _draw_so_far(pane: Pane, gathered: Gathered) -> None:
    if as_opened(session().screen, pane.checkpoint.about) != pane.screen:
        st.rerun()  # what was chosen meanwhile is the page's, and this is a part of it
    parts_of(atlas_so_far(gathered, pane.recording.numbering)).draw(pane)


def _exhibits(pane: Pane) -> Exhibits:
    """Declare those of the folder's survey; else of the one that is made, where that is asked."""
    if not pane.is_of_asked_checkpoint:
        return {}
    parts = _parts(pane)
    if parts is not None:
        return parts.part_on(pane).exhibits(pane)  # what it refuses, a figure says
    if is_public() or not pane.screen.of(HeadsFields).heads_survey:
        return {}
    names = {"deciles": "Rows by decile", "footprint": "Footprint", "labels": "Labels"}
    if _chosen(pane) != "one":
        kinds = kinds_on(pane, pane.recording.attentions)
        names = {f"map_{kind}": "Heads" for kind in kinds} | {"heads": "Heads"}
    study = HeadSurvey.of(pane.request)
    return {
        name: Growth(title, study, partial(_exhibit_so_far, pane, name))
        for name, title in names.items()
    }


def _exhibit_so_far(pane: Pane, name: str, gathered: Gathered) -> Exhibit:
    parts = parts_of(atlas_so_far(gathered, pane.recording.numbering))
    exhibit = parts.part_on(pane).exhibits(pane)[name]
    assert isinstance(exhibit, Exhibit)
    return exhibit


PAGE = Page(
    "heads",
    "Heads",
    "Model",
    5,
    draw,
    shows="checkpoint",
    exhibits=_exhibits,
    subject="What each head of a Transformer does over many sentences",
    here=lambda pane: HERE.format(name=title(pane.answer.request.checkpoint)),
)
