"""The heads that a table of all of them lists, and their order."""

from collections.abc import Iterable
from functools import partial

from transformer.corpus.labels import Atlas
from transformer.corpus.shipped import Place
from viz.figures.heads.all_heads import head_name

LAYER, LABEL = "layer", "label"
"""Orders that are no number: of the model, and by the titles of labels."""


def numbers_of(atlas: Atlas, kinds: Iterable[str]) -> dict[str, str]:
    """Name -> title of the numbers that heads of any of these kinds have."""
    return {name: title for kind in kinds for name, title in atlas.numbers(kind).items()}


def orders_of(numbers: dict[str, str]) -> dict[str, str]:
    """Name -> title of each order of such a table. numbers: those of its columns."""
    by_number = {name: f"By {title.lower()}" for name, title in numbers.items()}
    return {LAYER: "By layer", LABEL: "By label"} | by_number


def searched_in(place: Place, atlas: Atlas) -> str:
    """The text of a head that a search looks for words in: its name, and its labels."""
    titles = (label.title for label in atlas.labels.get(place, ()))
    return " ".join((head_name(place, atlas), *titles)).casefold()


def in_order(places: Iterable[Place], atlas: Atlas, order: str) -> list[Place]:
    """Heads by a label, or by a number, the most of it first; stable."""
    return sorted(places, key=partial(_rank, atlas, order))


def _rank(atlas: Atlas, order: str, place: Place) -> tuple[float | str, ...]:
    if order == LABEL:
        label = atlas.label(place)
        return ("~",) if label is None else (label.title, -label.score)
    if order == LAYER:
        return ()
    number = atlas.number(place, order)
    if number is None:
        return (1.0, 0.0)
    return (0.0, -number.mean)
