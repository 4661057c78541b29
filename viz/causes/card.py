"""The card of a written word that is pinned: what it looks at, what it needs, and the verdict."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from transformer.analysis.lost import how_known, lost_sentence
from transformer.analysis.reading import Reading
from transformer.analysis.tables import words_of_sides
from transformer.causes import Evidence
from transformer.causes.verdict import LEAST
from transformer.decoding.decode import decoding_methods
from transformer.editing.checking import side_read
from transformer.edits import Edit
from transformer.recording import Recording
from transformer.refusal import Refusal, visible
from viz.app_packages import st
from viz.causes.needs import Causes, hiding, is_quick
from viz.causes.tables import PARTED, verdict_words, worth_tables
from viz.components.kit.browser import digest
from viz.components.kit.picture import NothingLeft
from viz.components.token_rows.token_rows import TITLES, Mark, Signs, TokenRows, Worth
from viz.components.word_card.word_card import Elements, all_cards, word_card
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Table, Tables
from viz.labels import literal
from viz.painters.bars_html import elements
from viz.painters.table_html import table_html
from viz.run.previews import payload_of
from viz.run.request import Request
from viz.run.work import Growth, at_hand
from viz.screen import FIRST_PAGE, link, put
from viz.state.changing import add
from viz.state.focus import pinning, rows_of_written
from viz.state.live_preview import preview_cards
from viz.state.page import Pane
from viz.state.requests import is_first
from viz.state.state import change, current_theme, note
from viz.talks.stage import on_stage
from viz.theme import Theme
from viz.ui.branches import FORCE
from viz.ui.progress import grow, paid
from viz.ui.save_menu import is_menu_open
from viz.ui.showing import files_of, show

# The cards of an answer's written words: the one that is pinned, and the others ahead of a pin.

PlaceOf = Callable[[Pane], int | None]
"""From what is pinned on a page to the place, in the target, of the word that is meant."""
CardOf = Callable[[int, Evidence], Table | Tables]
"""From the number of a word among those that are written, and the evidence, to its card."""
SignsOf = Callable[[Evidence], Signs]
"""From the evidence to what the tokens show of it."""


def show_card(
    pane: Pane, place_of: PlaceOf, card_of: CardOf, signs_of: SignsOf, evidence: Evidence | None
) -> None:
    """Show the card of the word that is pinned, and let a pin show any other at once.

    evidence: None where it is not known yet: nothing is drawn then.
    """
    rows = TokenRows(TITLES[pane.answer.checkpoint.family.reads], pane.reading.words)
    of, theme, place = digest(payload_of(pane.answer, rows)), current_theme(), place_of(pane)
    card = None
    if evidence is not None and place is not None:
        word = pane.recording.target_words.at(place).number
        card = _elements(card_of(word, evidence), theme)
    word_card(of, theme, pane.pinned_rows, card)
    cards = partial(_all, pane, place_of, card_of, signs_of, of, theme)
    preview_cards(cards, is_first(pane.answer.request))


def _all(
    pane: Pane,
    place_of: PlaceOf,
    card_of: CardOf,
    signs_of: SignsOf,
    of: str,
    theme: Theme,
    evidence: Evidence,
) -> bytes:
    rows = rows_of_written(pane)
    places = {row: place_of(pinning(pane, row)) for row in rows if row >= 0}
    word_of = pane.recording.target_words.at
    opens = {row: word_of(place).number for row, place in places.items() if place is not None}
    words = range(len(evidence.target_words))
    cards = [_elements(card_of(word, evidence), theme) for word in words]
    return all_cards(of, theme, rows, opens, cards, signs_of(evidence))


def _elements(card: Table | Tables, theme: Theme) -> Elements:
    return elements(table_html(card, theme))


# From the evidence to what stands over the tokens, and to what a picture's sentence says of it.

REPAIR = ("Have it written", "On Decode: enter under Must have what the translation is to say.")
"""The words of the link beside what is lost, and of its tip."""


def signs_of(recording: Recording, evidence: Evidence) -> Signs:
    """Words that look at another word than they need, at their last token; words of the source that
    left no trace; and what each of the source is worth to each written one.
    """
    pairs = zip(recording.target_words, evidence.verdicts, strict=True)
    parted = [
        ("target", word.positions[-1], "parted", visible(it.text))
        for word, it in pairs
        if it.kind in PARTED
    ]
    spans = evidence.lost
    lost: list[Mark] = [
        ("source", place, "lost", f"{lost_sentence([span])} {how_known([span])}")
        for span in spans
        for word in span.words
        for place in recording.source_words[word].positions
    ]
    says = (lost_sentence(spans), how_known(spans)) if spans else ()
    return Signs(parted + lost, _worth_signs(recording, evidence), says)


def _worth_signs(recording: Recording, evidence: Evidence) -> Worth | None:
    """None where nothing is written, as by a classifier: no row of a picture writes a word."""
    if evidence.prefix is None:
        return None
    sides = {"source": evidence.source_words, "target": evidence.target_words}
    own = {"source": recording.source_words, "target": recording.target_words}
    return Worth(
        words={side: [visible(word).strip() for word in words] for side, words in sides.items()},
        word_at={side: [it.number for it in of for _ in it.positions] for side, of in own.items()},
        nats=[[round(cost, 2) for cost in row] for row in evidence.hidden.tolist()],
        least=LEAST,
    )


# The text that is written without the word that a pinned one needs most.


def written_without(pane: Pane, place: int, word: str) -> None:
    """Say it in a line below the card. place, word: of the one that is needed, in the text."""
    request, decoding = _request(pane, place), pane.answer.decoding
    if request is None or decoding is None:
        return
    answer = paid(request, st.empty(), "written without")
    if answer is None or answer.decoding is None:
        return
    text = answer.decoding.text
    is_same = text == decoding.text
    says = "the same is written" if is_same else f"this is written: {literal(text)}"
    st.markdown(f"Without “{literal(word)}” {says}")


def _request(pane: Pane, place: int) -> Request | None:
    """The answer's request with the word hidden; None where what is written was given."""
    request = pane.answer.request
    method = decoding_methods().get(request.method)
    if method is None or method.needs_target or request.branch:
        return None
    edit = str(Edit("hide", side_read(pane.checkpoint), (place,)))
    return replace(request, edits=(*request.edits, edit))


# The card of a written word that is pinned: what it looks at, what it needs, and the verdict.

TITLE = "Why this word?"


def is_enlarged(pane: Pane) -> bool:
    """Tell whether the card stands where everybody looks, in the place of the large picture."""
    return pane.screen.page == FIRST_PAGE and pane.screen.picture == "why"


def word_exhibits(pane: Pane, place: int | None) -> dict[str, Growth[Evidence]]:
    """The card of a word, and its verdict alone; none while the card is closed.

    place: in the target, of a token of it; None: no word is pinned.
    """
    if place is None or not _is_open(pane):
        return {}
    study, is_main = Causes(pane.answer.request), is_enlarged(pane)
    word = pane.recording.target_words.at(place).number
    return {
        "why": Growth(TITLE, study, partial(_worth_why_word, pane, word, is_main), is_main=is_main),
        "verdict": Growth(TITLE, study, partial(_verdict, word), is_main=False),
    }


def why_word(pane: Pane, place_of: PlaceOf, is_ahead: bool = True) -> None:
    """Draw the card, or what opens it.

    place_of: what is pinned there. is_ahead: the cards of all words may be in the browser before
    one is pinned.
    """
    place = place_of(pane)
    if pane.request != pane.answer.request:
        return
    if not _is_open(pane):
        if place is not None:
            help = f"{hiding(pane.answer)}."
            st.button(TITLE, on_click=change, kwargs={"why": True}, help=help)
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
            show(word_exhibits(pane, place)["why"].exhibit(evidence), "why")
    if place is None or evidence is None:
        return
    if not on_stage():
        verdict = evidence.verdicts[pane.recording.target_words.at(place).number]
        if verdict.needs is not None and verdict.kind != "held by the prefix":
            written_without(pane, verdict.needs, evidence.source_words[verdict.needs])
        if is_menu_open():
            files_of(pane, word_exhibits(pane, place)["why"].exhibit(evidence), "why")
        with st.container(horizontal=True):
            _hide_buttons(pane, evidence, place)
            if pane.screen.page == FIRST_PAGE and not is_enlarged(pane):
                _enlarge()
    if is_new and at_hand(study) is not None:
        st.rerun()  # the tokens above get their marks


def _enlarge() -> None:
    """Offer the card in the place of the large picture, and so for a wall and for stories."""
    help = "In place of the picture: there a wall, a figure and a story have the card, too."
    put = {"picture": "why"}
    st.button("Enlarge", icon=":material/open_in_full:", on_click=change, kwargs=put, help=help)


def _hide_buttons(pane: Pane, evidence: Evidence, place: int) -> None:
    """Offer to hide each word of the text that is needed, so that all is written without it."""
    verdict = evidence.verdicts[pane.recording.target_words.at(place).number]
    if verdict.needs is None or verdict.kind == "held by the prefix":
        return
    help = "What is written without it is shown with the other edits."
    for place in (verdict.needs, *verdict.also):
        word = literal(evidence.source_words[place])
        edit = Edit("hide", side_read(pane.checkpoint), (place,))
        st.button(f"Hide “{word}”", key=f"hide {place:d}", on_click=add, args=(edit,), help=help)


def signs(pane: Pane) -> Signs | None:
    """Return what the tokens show of the evidence; None until it is known."""
    evidence = at_hand(Causes(pane.answer.request))
    return None if evidence is None else _signs(pane, evidence)


def _signs(pane: Pane, evidence: Evidence) -> Signs:
    """The worth of words goes to Explore alone: other pages have pictures of other answers."""
    every = signs_of(pane.recording, evidence)
    if pane.screen.page != FIRST_PAGE:
        return replace(every, worth=None)
    at_decode = f"{link(put(pane.screen, page='decode'))}#{FORCE}"
    return replace(every, lost=(*every.lost, *REPAIR, at_decode)) if every.lost else every


def _is_open(pane: Pane) -> bool:
    return pane.screen.why or is_quick(pane.answer)


def _verdict(word: int, evidence: Evidence) -> Exhibit:
    return Exhibit(TITLE, verdict_words(evidence, word), is_main=False)


def _worth_why_word(pane: Pane, word: int, is_main: bool, evidence: Evidence) -> Exhibit:
    content = _card(pane, word, evidence)
    title = visible(f"What “{evidence.target_words[word]}” looks at, and what it needs")
    return Exhibit(title, content, visible(evidence.verdicts[word].text), is_main=is_main)


def _card(pane: Pane, word: int, evidence: Evidence) -> Tables:
    unseen = words_left_out(pane.recording, pane.reading)
    return worth_tables(evidence, word, *words_of_sides(pane.recording), unseen)


def words_left_out(recording: Recording, reading: Reading) -> list[int]:
    """The numbers of words of the text that a picture read so leaves out."""
    if reading.special == "shown":
        return []
    return [it.number for it in recording.source_words if all(t.special for t in it.tokens)]
