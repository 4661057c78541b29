"""The addresses of other pages over the text that is on the screen."""

from typing import Any

from viz.about import REQUEST
from viz.screen import Screen, link


def elsewhere(screen: Screen, page: str, **choices: Any) -> str:
    """The address of another page over the same text, checkpoint and decoding."""
    of_request = {name: getattr(screen, name) for name in REQUEST}
    return link(Screen(page, **of_request, **choices))
