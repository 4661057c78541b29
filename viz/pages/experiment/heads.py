"""A head by its name, and its place on Explore, as experiments list them."""

from dataclasses import replace

from transformer import Recording
from transformer.edits import Edit
from viz.labels import kind_title
from viz.screen import FIRST_PAGE, Screen, choose


def head_name(edit: Edit, recording: Recording) -> str:
    """Such as "Cross L2 H3"; the number of a layer is the one that the model itself gives it."""
    attention = recording.attentions.get(edit.place)
    layer = edit.layer if attention is None else attention.number(edit.layer)
    return f"{kind_title(edit.place)} L{layer} H{edit.head}"


def on_explore(screen: Screen, *edits: Edit) -> Screen:
    """The heads that are off, and what the model writes then."""
    screen = choose(screen, page=FIRST_PAGE, edits=tuple(map(str, edits)), tool="heads")
    first = edits[0]
    return replace(screen, kind=first.place, layer=first.layer, head=first.head)
