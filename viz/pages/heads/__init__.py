"""Heads: all heads of a checkpoint over many sentences, and each by itself."""

from functools import partial
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.corpus.labels import Atlas
from transformer.corpus.shipping import Gathered
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.fields.fields import HeadsFields
from viz.pages.heads.every import (
    HeadSurvey,
    all_heads,
    atlas_of,
    atlas_so_far,
    choose_maps,
    exhibits_of_all,
    say_card,
    say_heads,
)
from viz.pages.heads.one import circuits_of_head, exhibits_of_head, one_head, place_on
from viz.pages.heads.questions import ask_heads, exhibits_of_question
from viz.run.settings import is_public
from viz.run.work import Growth
from viz.state.page import Exhibits, Page, Pane, as_opened
from viz.state.state import change, note, session, warn
from viz.ui.controls import choose_one
from viz.ui.progress import grow
from viz.ui.showing import below

TITLES = {"all": "All heads", "one": "One head", "ask": "Ask"}
NONE = "{name} has no survey of its heads yet: what they do over many sentences is not known."
ELSEWHERE = "A survey is made on a machine of one's own, by the command survey."


def draw(pane: Pane) -> None:
    """All heads, or one of them; where nothing was surveyed, the way to a survey."""
    if not pane.is_of_asked_checkpoint:
        note("The heads are shown once the checkpoint opens.")
        return
    if pane.screen.of(HeadsFields).heads_of == "ask":
        with st.container(key="heads choices"):
            _choose_part(pane)
        ask_heads(pane)
        return
    try:
        atlas = atlas_of(pane.request, pane.recording.numbering)
    except CheckpointError as error:
        warn(error)
        atlas = None
    if atlas is not None:
        _arrange(pane, atlas)
    elif is_public():
        note(f"{NONE.format(name=pane.checkpoint.name)} {ELSEWHERE}")
    elif not pane.screen.of(HeadsFields).heads_survey:
        note(NONE.format(name=pane.checkpoint.name))
        look: Any = {"icon": ":material/play_arrow:", "type": "primary"}
        st.button("Survey its heads", on_click=lambda: change(heads_survey=True), **look)
    else:
        grow(HeadSurvey.of(pane.request), lambda gathered: _so_far(pane, gathered))


def _so_far(pane: Pane, gathered: Gathered) -> None:
    """The heads as far as they are surveyed."""
    if as_opened(session().screen, pane.checkpoint.about) != pane.screen:
        st.rerun()  # what was chosen meanwhile is the page's, and this is a part of it
    _arrange(pane, atlas_so_far(gathered, pane.recording.numbering))


def _arrange(pane: Pane, atlas: Atlas) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="heads choices"):
        part = _choose_part(pane)
        if part != "one":
            choose_maps(pane, atlas)
    if part == "one":
        one_head(pane, atlas)
    else:
        say_heads(atlas)
        all_heads(pane, atlas)
        below(lambda _: say_card(atlas), pane)


def _choose_part(pane: Pane) -> str:
    own, look = pane.screen.of(HeadsFields), dict[str, Any](label_visibility="collapsed")
    return choose_one("Heads of", "heads_of", TITLES, own.heads_of, **look)


def _exhibits_of(pane: Pane, atlas: Atlas) -> dict[str, Exhibit]:
    is_one = pane.screen.of(HeadsFields).heads_of == "one"
    return exhibits_of_head(pane, atlas) if is_one else exhibits_of_all(pane, atlas)


def _circuits(pane: Pane, atlas: Atlas) -> Exhibits:
    if pane.screen.of(HeadsFields).heads_of != "one":
        return {}
    return {"circuits": circuits_of_head(pane, atlas, place_on(pane, atlas))}


def _exhibits(pane: Pane) -> Exhibits:
    """The heads of the folder's survey; else of the one that is made, where it is asked for."""
    if not pane.is_of_asked_checkpoint:
        return {}
    if pane.screen.of(HeadsFields).heads_of == "ask":
        return exhibits_of_question(pane)
    atlas = atlas_of(pane.request, pane.recording.numbering)
    if atlas is not None:
        return {**_exhibits_of(pane, atlas), **_circuits(pane, atlas)}
    if is_public() or not pane.screen.of(HeadsFields).heads_survey:
        return {}
    study, names = HeadSurvey.of(pane.request), _names(pane)
    return {
        name: Growth(title, study, partial(_exhibit_so_far, pane, name))
        for name, title in names.items()
    }


def _exhibit_so_far(pane: Pane, name: str, gathered: Gathered) -> Exhibit:
    return _exhibits_of(pane, atlas_so_far(gathered, pane.recording.numbering))[name]


def _names(pane: Pane) -> dict[str, str]:
    """The names and titles of the exhibits of a survey that is made."""
    own = pane.screen.of(HeadsFields)
    if own.heads_of == "one":
        return {"deciles": "Rows by decile", "footprint": "Footprint", "labels": "Labels"}
    kinds = list(pane.recording.attentions)
    kinds = [own.heads_kind] if own.heads_kind in kinds else kinds
    return {f"map_{kind}": "Heads" for kind in kinds} | {"heads": "Heads"}


PAGE = Page(
    "heads",
    "Heads",
    "Model",
    6,
    draw,
    shows="checkpoint",
    exhibits=_exhibits,
    subject="What each head of a Transformer does over many sentences",
)
