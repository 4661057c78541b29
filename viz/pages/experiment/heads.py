"""The heads of an experiment on Explore."""

from dataclasses import replace

from transformer.edits import Edit
from viz.screen import FIRST_PAGE, Screen, choose


def on_explore(screen: Screen, *edits: Edit) -> Screen:
    """The heads that are off, and what the model writes then."""
    screen = choose(screen, page=FIRST_PAGE, edits=tuple(map(str, edits)), tool="heads")
    first = edits[0]
    return replace(screen, kind=first.place, layer=first.layer, head=first.head)
