"""The button that changes what is written, in a place that is kept until it is known."""

from collections.abc import Callable, Mapping
from typing import Any

from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.sync import mountable
from viz.theme import Theme

CHANGE_OFFER = Component("change_offer")
_offer = mountable(CHANGE_OFFER)
Button = Mapping[str, Any]
"""Its words (`parts`, every other of which is quoted), its `title`, the `edits` that a click puts
in force, and whose it is (`of`)."""

PARTS: Mapping[str, tuple[str, ...]] = {
    "known": ("Switch off {heads} that {carry} ", "{gone}"),
    "number": ("Switch off {heads} without which ", "{gone}", " becomes ", "{came}"),
    "lost": ("Switch off {heads} without which ", "{gone}", " {are} lost"),
}
"""The parts of a button, by what its click does: words, and by turns with them those of texts."""
SAYS: Mapping[str, tuple[str, str]] = {
    "heads": ("the head", "the {n} heads"),
    "carry": ("carries", "carry"),
    "are": ("is", "are"),
}
"""Each of one head or word, and of several."""
TITLE = "{heads}. Then the model writes: {text}"


def change_offer(
    of: str, theme: Theme, button: Button | None, is_sought: bool, on_taken: Callable[[Any], None]
) -> None:
    """Draw it. of: names the answer that is changed. button: None where it is not known, or nothing
    is offered. is_sought: whether the browser asks for it once the page is at rest. on_taken:
    called with the edits.
    """
    data = envelope(pack({"offer": button}), theme, of=of, isSought=is_sought)
    _offer(data, "change-offer", on_taken=on_taken)
