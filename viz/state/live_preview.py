"""Previews of what is not entered yet: the browser gets their pictures without a rerun.

A rerun of the script costs the browser more than the pictures do. So each run leaves behind which
pictures it drew; the browser posts what differs from the entered request to an address of the
session's own, and is answered with the data of every picture. What is entered then is an ordinary
rerun, which takes over what the preview made.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

from transformer.causes import Evidence
from viz.components.kit.picture import Picture
from viz.run.previews import Derive, Drawn, LivePreview, Offer, Ready, is_small, keep_payload
from viz.run.request import Answer, Request, keep_answer
from viz.run.settings import base_path
from viz.state.state import current_theme, session

_PATH = "preview"

_sessions: WeakValueDictionary[str, LivePreview] = WeakValueDictionary()
_is_served = False


def open_previews() -> str:
    """Let pages preview from now on. Returns the path of the route, with a place for the ticket."""
    global _is_served
    _is_served = True
    return _address("{ticket}")


def of_session(ticket: str) -> LivePreview | None:
    """The preview of a session by its ticket; None where it is over."""
    return _sessions.get(ticket)


@contextmanager
def previewed(request: Request, answer: Answer | None) -> Iterator[None]:
    """A run draws a page of this answer; at its end, its pictures are the ones to make.

    request: what the controls say.
    """
    live = _live()
    follows = _is_served and answer is not None and is_small(answer, answer.request)
    if session().screen.stopped is not None:
        follows = False  # another text is written to its end
    if answer is None or replace(request, text="") != replace(answer.request, text=""):
        follows = False  # the checkpoint that is chosen cannot be opened
    live.is_drawing, live.drawn = True, [] if follows else None
    live.cards, live.is_first, live.offer = None, False, None
    try:
        yield
        drawn = live.drawn or []
        leads = any(each.leads for each in drawn)
        ready = (live.cards, live.is_first, live.offer)
        live.ready = Ready(answer, drawn, *ready) if answer and leads else None
    finally:
        live.is_drawing = False


def preview_address() -> str:
    """Return the address of the page's previews; empty where its pictures wait for Enter."""
    live = _live()
    return "" if live.drawn is None else _address(live.ticket)


def preview(
    key: str, picture: Picture, *, leads: bool = True, of: Derive | None = None, **state: Any
) -> None:
    """Let the picture that is mounted with this key follow what is typed.

    state: as its `data` takes it, for a request whose pins, cells and steps nobody chose yet.
    leads: False for what follows only where another picture does. of: whose picture it is, where
    that is not the answer of the page; equal where it is the same one.
    """
    drawn = _live().drawn
    if drawn is not None:
        drawn.append(Drawn(key, picture, current_theme(), state, leads, of))


def preview_cards(cards: Callable[[Evidence], bytes], is_first: bool) -> None:
    """Let whoever points at a written word have the cards of all, before they pin one.

    cards: called by another thread, where nothing of the session is. is_first: they are of what
    everybody sees first.
    """
    live = _live()
    live.cards, live.is_first = cards, is_first


def preview_offer(offer: Offer) -> None:
    """Let a browser that is at rest ask for what the page may offer."""
    _live().offer = offer


def let_links_ask(there: Callable[[str], str | None]) -> str:
    """Let links ask for the part of the page that they change. Returns the address that answers.

    there: the part as HTML for the query of a link, called in another thread; None: not by itself.
    """
    live = _live()
    live.there = there
    return _address(live.ticket)


def take_preview(request: Request) -> None:
    """Put what this session was shown of this request into the caches, if it was previewed."""
    for made in _live().taken(request):
        for each in made.answers:
            keep_answer(each)
        for (of, picture), payload in made.payloads.items():
            keep_payload(of, picture, payload)


def _live() -> LivePreview:
    live = session().of(LivePreview)
    _sessions[live.ticket] = live
    return live


def _address(ticket: str) -> str:
    base = base_path()
    return "/".join(["", *filter(None, (base, _PATH, ticket))])
