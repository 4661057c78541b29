"""The card of a written word that is pinned in its parts, which a page draws below each other."""

from viz.causes.card import TITLE, PlaceOf, why_word, word_exhibits
from viz.causes.of_word import of_word, of_word_exhibits
from viz.causes.right_word import TITLE as RIGHT_WORD
from viz.causes.right_word import right_word_exhibits, type_right_word
from viz.ui.parts import Part


def card_parts(place_of: PlaceOf) -> tuple[Part, ...]:
    """place_of: what is pinned there. The card itself is the first one."""
    return (
        Part(
            TITLE,
            lambda pane: word_exhibits(pane, place_of(pane)),
            draw=lambda pane: why_word(pane, place_of),
        ),
        Part(
            RIGHT_WORD,
            lambda pane: right_word_exhibits(pane, place_of(pane)),
            draw=lambda pane: type_right_word(pane, place_of(pane)),
        ),
        Part(
            "Further studies",
            lambda pane: of_word_exhibits(pane, place_of(pane)),
            draw=lambda pane: of_word(pane, place_of(pane)),
        ),
    )
