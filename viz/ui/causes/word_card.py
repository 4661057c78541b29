"""The cards of an answer's written words: the one that is pinned, and the others ahead of a pin."""

from collections.abc import Callable
from functools import partial

from transformer.causes import Evidence
from transformer.words import word_at
from viz.components.kit.browser import digest
from viz.components.token_rows.signs import Signs
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.components.word_card.word_card import Elements, all_cards, word_card
from viz.exhibits.table import Table, Tables
from viz.painters.elements import elements
from viz.painters.table_html import table_html
from viz.run.payloads import payload_of
from viz.state.focus import pinned_rows, pinning, rows_of_written
from viz.state.live_preview import preview_cards
from viz.state.page import Pane
from viz.state.requests import is_first
from viz.state.state import current_theme
from viz.theme import Theme

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
        card = _elements(card_of(_word(pane, place), evidence), theme)
    word_card(of, theme, pinned_rows(pane), card)
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
    opens = {row: _word(pane, place) for row, place in places.items() if place is not None}
    words = range(len(evidence.target_words))
    cards = [_elements(card_of(word, evidence), theme) for word in words]
    return all_cards(of, theme, rows, opens, cards, signs_of(evidence))


def _word(pane: Pane, place: int) -> int:
    return word_at(pane.recording.target, place).number


def _elements(card: Table | Tables, theme: Theme) -> Elements:
    return elements(table_html(card, theme))
