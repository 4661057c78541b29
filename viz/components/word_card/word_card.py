"""The card of the written word that is pinned, and those of all words for a browser that asks."""

from collections.abc import Mapping, Sequence
from typing import Any

from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.sync import heard, opened, show
from viz.components.token_rows.token_rows import Signs
from viz.theme import Theme

WORD_CARD = Component("word_card")
KEY, TOKENS = "word-card", "tokens"
"""The keys of the component, and of the token rows, which tell what is pinned."""
Elements = Sequence[Any]
"""Elements as `kit/elements.js` makes them: first their style, the same for all cards."""


def all_cards(
    of: str,
    theme: Theme,
    rows: Sequence[int],
    opens: Mapping[int, int],
    cards: Sequence[Elements],
    signs: Signs,
) -> bytes:
    """The cards of all written words, of which a pin in the browser chooses one.

    of: the nonce of the token rows that they belong to. rows: the row of each token that is
    written; -1: it has none. opens: from a row that is pinned to the card that it opens.
    signs: what the tokens show from now on.
    """
    places = {"rows": list(rows), "opens": {str(row): word for row, word in opens.items()}}
    style = cards[0][0] if cards else None
    bodies = [card[1:] for card in cards]
    of_all: dict[str, Any] = {"style": style, "cards": bodies, "signs": signs.data()}
    return pack({"of": of, "theme": theme.name, **places, **of_all})


def word_card(of: str, theme: Theme, pins: Sequence[int], card: Elements | None) -> None:
    """Show a card; None: only what a pin in the browser opens, once all cards are there.

    of: the same. pins: the rows that are pinned, the last one last.
    """
    data = envelope(pack({"card": card}), theme, of=of, pins=list(pins))
    # The token rows tell what is pinned: what was heard of them says whose pins hold.
    show(WORD_CARD, data, KEY, more={"heard": heard(TOKENS), "opened": opened()})
