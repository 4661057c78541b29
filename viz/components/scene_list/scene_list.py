"""The scenes of a story in their order, with small pictures; one is dragged to another place."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from viz.components.kit.browser import Component, envelope, pack
from viz.components.kit.sync import mountable
from viz.theme import Theme

SCENE_LIST = Component("scene_list")
_scene_list = mountable(SCENE_LIST)


class SceneEntry(NamedTuple):
    """A scene in the list."""

    heading: str
    shows: str
    """Some words about its screen."""
    link: str
    """The address that opens its form."""
    picture: str
    """The address of its picture."""
    key: str
    """Its name, which no other one has."""


def scene_list(
    scenes: Sequence[SceneEntry],
    at: int,
    theme: Theme,
    *,
    on_order: Callable[[Sequence[int]], None],
    key: str = "scene_list",
) -> None:
    """Draw the list. at: the scene that is open. on_order: called with the places, from 0, that the
    scenes of the new order have in the one before.
    """
    keys = [each.key for each in scenes]

    def take(value: object) -> None:
        if isinstance(value, list) and sorted(map(str, value)) == sorted(keys):
            on_order([keys.index(str(each)) for each in value])

    data = envelope(pack({}), theme, scenes=[each._asdict() for each in scenes], at=at)
    _scene_list(data, key, on_order=take)
