"""The way from the app to the page that runs in the visitor's own browser, with all that is chosen:
whoever would wait is offered it.
"""

import html
import time
from dataclasses import replace
from math import inf
from typing import Any

from viz.app_packages import DeltaGenerator
from viz.run.pace import PACE
from viz.run.request import Request
from viz.run.settings import live
from viz.run.work import Work
from viz.screen import FIRST_PAGE, Screen, query
from viz.state.live_page import AT, LIVE_PAGE
from viz.state.state import session
from viz.stories.story import bare

LONG = 2.0
"""Seconds that nobody should wait."""
SOON = 0.3
"""Seconds after which it is offered, where the estimate is longer: most answers are there then."""
OFFER = "Go on in your browser, without waiting"
OWN = "Type a sentence of your own"


def address_there(screen: Screen, request: Request) -> str:
    """The address in the page of what is chosen here, relative to any page of the app; empty where
    there is no such page, or where it shows something else.
    """
    from viz.live.models import METHODS
    from viz.live.shelf.lists import EDITS
    from viz.live.site import DONE, page_names

    if live() == "no" or screen.page not in page_names():
        return ""
    LIVE_PAGE.begin()
    if request.checkpoint not in LIVE_PAGE.models or request.method not in (*METHODS, "none"):
        return ""
    there = replace(bare(screen), text=request.text, checkpoint=request.checkpoint)
    spelled = query(there)
    names = {each.partition("=")[0] for each in spelled.split("&")}
    kinds = {each.partition(":")[0] for each in request.edits}
    if names - set(DONE) or kinds - set(EDITS):
        return ""
    named = "" if screen.page == FIRST_PAGE else f"page={screen.page}&"
    return f"./{AT}/?{named}{spelled}"


def link_there(address: str, words: str, **attributes: str) -> str:
    """HTML of the link; where a sentence is typed, a browser puts that into the address. With
    data-tab it opens beside what is shown.
    """
    more = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f'<a data-typed{more} href="{html.escape(address)}">{html.escape(words)}</a>'


def offered(work: Work[Any]) -> str:
    """HTML of the offer to who has waited for long; empty before, and where there is none."""
    return "" if time.perf_counter() - work.began < LONG else _offer(work)


def _offer(work: Work[Any]) -> str:
    """Empty on a wall, and for what is not done there."""
    screen, request = session().screen, work.study
    if not isinstance(request, Request) or screen.role not in (None, "audience"):
        return ""
    address = address_there(screen, request)
    return address and link_there(address, OFFER)


def own_sentence(request: Request) -> str:
    """HTML of a link for a phone of an audience, in place of a field: there are hundreds of them,
    and what each types is answered by itself. Empty on a wall, and where the page does not do it.
    """
    screen = session().screen
    address = address_there(screen, request) if screen.role == "audience" else ""
    return address and link_there(address, OWN, **{"data-tab": "other"})


class WaitOffer:
    """The offer to who waits for a work, made once: when the wait is long, or will be."""

    def __init__(self, work: Work[Any]) -> None:
        self._work, self._since, self._may_come = work, time.perf_counter(), True

    @property
    def soon(self) -> float:
        """The seconds after which to ask whether it is due, at most."""
        return SOON if self._may_come else inf

    def due(self) -> str:
        """HTML of the link, once; empty before and after, and where there is none."""
        waited = time.perf_counter() - self._since
        is_long = waited >= LONG or (waited >= SOON and PACE.estimate() > LONG)
        if not self._may_come or not is_long:
            return ""
        self._may_come = False
        return _offer(self._work)


def beside(place: DeltaGenerator, escaped_link: str) -> DeltaGenerator:
    """Draw the link there, and return the place before it, where words come and go."""
    row = place.container(horizontal=True, vertical_alignment="center", gap="small")
    words = row.empty()
    row.html(escaped_link, width="content")
    return words
