"""The sentence and its translation as tokens: the spine of every page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from transformer.decoding import Decoding
from transformer.recording import Recording
from transformer.token import Token, second_at
from viz.components.kit.browser import Component, envelope, pieces_of_words
from viz.components.kit.pack import pack
from viz.components.kit.sync import mountable
from viz.components.token_rows.alignment import LEAST, aligned
from viz.components.token_rows.certainty import TINTS, Tint, tinted
from viz.components.token_rows.signs import Signs
from viz.labels import bare_label, labels
from viz.theme import Theme

TOKEN_ROWS = Component("token_rows")
TITLES = {
    "source": ("source", "target"),
    "prompt": ("prompt", "continuation"),
    "text": ("text", "target"),
}
"""The names of the two lines of tokens, by how the model reads."""

token_rows = mountable(TOKEN_ROWS)
"""Pointing at a token marks it in every component.

on_pin: {"side", "position", "key"} of the one that was clicked; key: whether it is meant as a key,
where it is a query, too. on_tint, on_alignment: as in `data`.
"""


@dataclass(frozen=True)
class TokenRows:
    """The tokens of both sides."""

    titles: tuple[str, str] = ("source", "target")
    words: bool = True
    """They read as the words that they make, in which a space is no piece of its own."""
    component: ClassVar[Component] = TOKEN_ROWS

    def title(self, recording: Recording) -> str:
        return "Tokens"

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        source, target = (self._pieces(each) for each in (recording.source, recording.target))
        pair = {"second": second} if (second := second_at(recording.source)) else {}
        rows = {"source": source, "target": target, "titles": list(self.titles)}
        over = {"certainty": tinted(recording), "tints": TINTS}
        between = {"alignment": aligned(recording), "least": LEAST}
        return pack(rows | over | between | pair)

    def data(
        self,
        payload: bytes,
        theme: Theme,
        *,
        pinned: Sequence[tuple[str, int]] = (),
        signs: Signs | None = None,
        is_awaited: bool = False,
        address: str = "",
        tint: Tint = "off",
        alignment: bool = False,
    ) -> bytes:
        """pinned: tokens that stay marked, by side and position.

        signs: of tokens, "parted" or "unneeded", whose meaning the row has at its end; and what
        the sentences of pictures say of the evidence.
        is_awaited: the browser asks for them, as they are not known yet.
        address: of previews, which answers what differs with data for the page's components.
        While a sentence is being typed they show these. tint: the measure by which written words
        are the deeper, the less sure the model was of them. alignment: whether lines
        lead from written words to those of the source that they look at most.
        """
        over = {"pinned": list(map(list, pinned)), "signs": signs and signs.data()}
        look = {"address": address, "tint": tint, "alignment": alignment, "awaited": is_awaited}
        return envelope(payload, theme, **over, **look)

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        sides = zip(self.titles, (recording.source, recording.target), strict=True)
        parts = [f"{title}: {' '.join(labels(tokens))}" for title, tokens in sides if tokens]
        return "; ".join(parts) + "."

    def _pieces(self, tokens: Sequence[Token]) -> list[tuple[str, int, int]]:
        """Read words as pieces_of_words does; where pieces are asked for, each is seen."""
        if self.words:
            return pieces_of_words(tokens, words=True)
        pieces = zip(tokens, pieces_of_words(tokens), strict=True)
        return [(bare_label(token), special, begins) for token, (_, special, begins) in pieces]
