"""A scene's screen in a few words, as many scenes may be of one sentence."""

from collections.abc import Iterator

from viz.labels import kind_title
from viz.screen import Screen

PICTURES = {"map": "heat map", "inside": "one cell", "why": "the card of a word"}


def screen_words(screen: Screen) -> str:
    """The page, the head, the picture, and what else tells it from its neighbours.

    >>> screen_words(Screen(kind="cross", layer=2, head=3, picture="map", pins=("q5",)))
    'Explore · Cross L2 H3 · heat map · 1 pin'
    """
    return " · ".join(_parts(screen))


def _parts(screen: Screen) -> Iterator[str]:
    yield screen.page.replace("_", " ").capitalize()
    place = [kind_title(screen.kind)] if screen.kind else []
    place += [f"L{screen.layer}"] if screen.layer is not None else []
    if screen.heads:
        place.append(f"heads {', '.join(map(str, screen.heads))}")
    elif screen.head is not None:
        place.append(f"H{screen.head}")
    if place:
        yield " ".join(place)
    if screen.picture in PICTURES:
        yield PICTURES[screen.picture]
    for n, thing in ((len(screen.pins), "pin"), (len(screen.edits), "change")):
        if n:
            yield f"{n} {thing}{'s' * (n > 1)}"
    if screen.step:
        yield f"step {screen.step}"
