"""A scene's screen in a few words, as many scenes may be of one sentence."""

from collections.abc import Iterator

from viz.fields.decode import DecodeFields
from viz.fields.heads import HeadsFields
from viz.labels import kind_title
from viz.screen import Screen

PICTURES = {"map": "heat map", "inside": "one cell", "why": "the card of a word"}


def screen_words(screen: Screen) -> str:
    """The page, the head, the picture, and what else tells it from its neighbours.

    >>> screen_words(Screen(kind="cross", layer=2, head=3, picture="map", pins=("q5",)))
    'Explore · Cross L2 H3 · heat map · 1 pin'
    >>> screen_words(Screen(page="decode", kind="encoder_self", layer=2, head=3, picture="map"))
    'Decode'
    """
    return " · ".join(_parts(screen))


def _parts(screen: Screen) -> Iterator[str]:
    yield screen.page.replace("_", " ").capitalize()
    is_map, is_decode = screen.page in ("explore", "compare"), screen.page == "decode"
    decode_as = screen.of(DecodeFields).decode_as or "" if is_decode else ""
    place = list(_head(screen, is_map)) if _has_head(screen, decode_as) else []
    if place:
        yield " ".join(place)
    if decode_as:
        yield decode_as
    if is_map and screen.picture in PICTURES:
        yield PICTURES[screen.picture]
    n_pins = len(screen.pins) if is_map or is_decode else 0
    for n, thing in ((n_pins, "pin"), (len(screen.edits), "change")):
        if n:
            yield f"{n} {thing}{'s' * (n > 1)}"
    if is_decode and screen.step:
        yield f"step {screen.step}"


def _has_head(screen: Screen, decode_as: str) -> bool:
    """Tell whether the page shows the chosen head: an address keeps it where none is shown, too."""
    if screen.page == "heads":
        return screen.of(HeadsFields).heads_of == "one"
    return screen.page in ("explore", "compare", "training") or decode_as == "steps"


def _head(screen: Screen, is_map: bool) -> Iterator[str]:
    if screen.kind and screen.page != "decode":  # where both kinds of the decoder are shown
        yield kind_title(screen.kind)
    if screen.layer is not None:
        yield f"L{screen.layer}"
    if screen.heads and is_map:
        yield f"heads {', '.join(map(str, screen.heads))}"
    elif screen.head is not None:
        yield f"H{screen.head}"
