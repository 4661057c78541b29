"""The card of a written word that is pinned: what it looks at, what it needs, and the verdict."""

from dataclasses import replace
from functools import partial

from transformer.analysis.tables.origins import Side
from transformer.causes import Evidence
from transformer.editing.read_words import side_read
from transformer.edits import Edit
from transformer.refusal import Refusal
from transformer.token import Token
from transformer.visible import visible
from transformer.words import word_at, word_groups
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.components.token_rows.signs import Signs
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Tables
from viz.figures.causes.verdict_words import verdict_words
from viz.figures.causes.worth_tables import Origins, worth_tables
from viz.labels import counted, literal
from viz.run.causes import Causes, is_quick
from viz.run.growth import Growth
from viz.run.work import at_hand
from viz.screen import FIRST_PAGE
from viz.state.changing import add
from viz.state.note import note
from viz.state.page import Pane
from viz.state.state import change
from viz.talks.stage import on_stage
from viz.ui.causes.signs import signs_of
from viz.ui.causes.word_card import PlaceOf, show_card
from viz.ui.causes.written_without import written_without
from viz.ui.progress import grow
from viz.ui.showing import files_of, show

TITLE = "Why this word?"


def word_exhibits(
    pane: Pane, place: int | None, is_main: bool = False
) -> dict[str, Growth[Evidence]]:
    """The card of a word, and its verdict alone; none while the card is closed.

    place: in the target, of a token of it; None: no word is pinned. is_main: whether it stands
    where everybody looks.
    """
    if place is None or not _is_open(pane):
        return {}
    study = Causes(pane.answer.request)
    word = word_at(pane.recording.target, place).number
    return {
        "why": Growth(TITLE, study, partial(_worth, pane, word, is_main), is_main=is_main),
        "verdict": Growth(TITLE, study, partial(_verdict, word), is_main=False),
    }


def why_word(pane: Pane, place_of: PlaceOf, is_main: bool = False, is_ahead: bool = True) -> None:
    """Draw the card, or what opens it.

    place_of: what is pinned there. is_main: the same. is_ahead: the cards of all words may be in
    the browser before one is pinned.
    """
    place = place_of(pane)
    if pane.request != pane.answer.request:
        return
    if not _is_open(pane):
        if place is not None:
            _offer(pane)
        return
    study, slot = Causes(pane.answer.request), st.container()
    evidence = at_hand(study)
    is_new = evidence is None
    if place is not None and evidence is None:
        try:
            work = grow(study, lambda _: None)
        except (Refusal, NothingLeft) as reason:
            note(reason)
            return
        evidence = work.result() if work.is_whole else None
    with slot:
        if is_ahead and not on_stage():
            of_all = partial(_card, pane), partial(_signs, pane)
            show_card(pane, place_of, *of_all, evidence)
        elif evidence is not None and place is not None:
            show(word_exhibits(pane, place, is_main)["why"].exhibit(evidence), "why")
    if place is None or evidence is None:
        return
    if not on_stage():
        _without_needed(pane, evidence, place)
        with files_of(pane, word_exhibits(pane, place, is_main)["why"].exhibit(evidence), "why"):
            _hide_buttons(pane, evidence, place)
            if not is_main and pane.screen.page == "explore":
                _enlarge()
    if is_new and at_hand(study) is not None:
        st.rerun()  # the tokens above get their marks


def _offer(pane: Pane) -> None:
    n = counted(len(word_groups(pane.recording.source)), "word", "words")
    help = f"Every word of the text is hidden in turn ({n})."
    st.button(TITLE, on_click=change, kwargs={"why": True}, help=help)


def _enlarge() -> None:
    """Offer the card in the place of the large picture, and so for a wall and for stories."""
    help = "In place of the picture: there a wall, a figure and a story have the card, too."
    put = {"picture": "why"}
    st.button("Enlarge", icon=":material/open_in_full:", on_click=change, kwargs=put, help=help)


def _hide_buttons(pane: Pane, evidence: Evidence, place: int) -> None:
    """Offer to hide each word of the text that is needed, so that all is written without it."""
    verdict = evidence.verdicts[word_at(pane.recording.target, place).number]
    if verdict.needs is None or verdict.kind == "held by the prefix":
        return
    help = "What is written without it is shown with the other edits."
    for place in (verdict.needs, *verdict.also):
        word = literal(evidence.source_words[place])
        edit = Edit("hide", side_read(pane.checkpoint), (place,))
        st.button(f"Hide “{word}”", key=f"hide {place:d}", on_click=add, args=(edit,), help=help)


def _without_needed(pane: Pane, evidence: Evidence, place: int) -> None:
    verdict = evidence.verdicts[word_at(pane.recording.target, place).number]
    if verdict.needs is not None and verdict.kind != "held by the prefix":
        written_without(pane, verdict.needs, evidence.source_words[verdict.needs])


def signs(pane: Pane) -> Signs | None:
    """Return what the tokens show of the evidence; None until it is known."""
    evidence = at_hand(Causes(pane.answer.request))
    return None if evidence is None else _signs(pane, evidence)


def _signs(pane: Pane, evidence: Evidence) -> Signs:
    """The worth of words goes to Explore alone: other pages have pictures of other answers."""
    every = signs_of(pane.recording, evidence)
    return every if pane.screen.page == FIRST_PAGE else replace(every, worth=None)


def _is_open(pane: Pane) -> bool:
    return pane.screen.why or is_quick(pane.answer)


def _verdict(word: int, evidence: Evidence) -> Exhibit:
    return Exhibit(TITLE, verdict_words(evidence, word), is_main=False)


def _worth(pane: Pane, word: int, is_main: bool, evidence: Evidence) -> Exhibit:
    content = _card(pane, word, evidence)
    title = visible(f"What “{evidence.target_words[word]}” looks at, and what it needs")
    return Exhibit(title, content, visible(evidence.verdicts[word].text), is_main=is_main)


def _card(pane: Pane, word: int, evidence: Evidence) -> Tables:
    recording = pane.recording
    of_source, of_target = map(_origins, ("source", "target"), (recording.source, recording.target))
    return worth_tables(evidence, word, of_source, of_target)


def _origins(name: str, tokens: tuple[Token, ...]) -> Origins:
    side = Side(name, tokens)
    return [side.at(group) for group in word_groups(tokens)]
