"""All heads of a kind as marks: by likeness of their footprints, or any number against another."""

from collections.abc import Container, Sequence

import numpy as np

from transformer.corpus.atlas import Atlas, place_of, title_of
from transformer.corpus.shipped import Place
from viz.exhibits.chart import Axis, Chart, Curve, Mark, Point, nothing
from viz.figures.heads.inks import OTHERS, inks_of
from viz.figures.heads.names import head_name, label_text, sparkline, text_of
from viz.labels import counted, kind_name, kind_title, number

LIKENESS = "likeness"
"""In place of a number: both axes are those of the map by likeness."""
SMALLEST, LARGEST, USUAL = 7.0, 30.0, 12.0
"""Pixels across the mark of a head that is worth nothing or harms, of the one that is worth most,
and where nobody knows."""
HOVER = "{0}\n{1}\n{2}\n{3}"
NO_LABEL = "no label"
HEIGHT = 300


def chart(atlas: Atlas, kind: str, x: str, y: str, chosen: Place | None = None) -> Chart:
    """The heads of a kind; colour: the label, size: what the head is worth to the output."""
    heads = [place_of(each) for each in atlas.of_kind(kind)]
    name, title = f"heads {kind}", kind_title(kind)
    if len(heads) < 2:
        return nothing(name, title, "There is only one head of this kind: a map needs two.")
    places = _places(atlas, kind, heads, x, y)
    if np.isnan(places).any(-1).all():
        return nothing(name, title, _why_nothing(atlas, kind, x, y))
    inks = inks_of(labels[0] for labels in atlas.labels.values() if labels)
    sizes = _sizes(atlas, heads)
    marks: list[Mark] = []
    for label, some in _by_label(atlas, heads, inks).items():
        at = [heads.index(place) for place in some]
        marks.append(
            Curve(
                label or NO_LABEL,
                places[at, 0],
                places[at, 1],
                inks[label] if label else "dim",
                HOVER,
                width=0,
                sizes=[sizes[i] for i in at],
                names=[head_name(place, atlas) for place in some],
                more=[_card(atlas, place) for place in some],
            )
        )
    if chosen in heads:
        a, b = places[heads.index(chosen)].tolist()
        marks.append(Point(a, b, head_name(chosen, atlas)))
    across, up, more = _axes(atlas, kind, x, y)
    return Chart(name, title, more, across, up, marks, HEIGHT, is_for_choice=True)


def describe(atlas: Atlas, kind: str) -> str:
    """Say how many heads there are, and how many of them have a label."""
    heads = [place_of(each) for each in atlas.of_kind(kind)]
    n = sum(atlas.label(place) is not None for place in heads)
    return f"{counted(len(heads), 'head', 'heads')} of {kind_name(kind)}, {n} with a label."


def spelled(place: Place) -> str:
    """Its name for whoever asks which marks were chosen."""
    return ".".join(map(str, place))


def _places(atlas: Atlas, kind: str, heads: Sequence[Place], x: str, y: str) -> np.ndarray:
    if LIKENESS in (x, y):
        return atlas.likeness[kind].places
    estimates = [[atlas.number(place, name) for name in (x, y)] for place in heads]
    return np.array([[np.nan if it is None else it.mean for it in pair] for pair in estimates])


def _why_nothing(atlas: Atlas, kind: str, x: str, y: str) -> str:
    """Say which of the numbers the heads of a kind lack."""
    there = atlas.numbers(kind)
    lacking = [title_of(each).lower() for each in dict.fromkeys((x, y)) if each not in there]
    what = " and no ".join(lacking)
    if not what:
        return f"No head of {kind_name(kind)} has both numbers: choose another one."
    return f"Heads of {kind_name(kind)} have no {what}: choose another number."


def _axes(atlas: Atlas, kind: str, x: str, y: str) -> tuple[Axis, Axis, str]:
    if LIKENESS in (x, y):
        stress = number(atlas.likeness[kind].stress, 2)
        more = f": like footprints are near (stress {stress})"
        return Axis("", is_labelled=False), Axis("", is_labelled=False), more
    across, up = (Axis(_with_unit(atlas, name), has_grid=True) for name in (x, y))
    return across, up, ""


def _with_unit(atlas: Atlas, name: str) -> str:
    """The title of a number, with the unit in which an axis has it."""
    return f"{title_of(name)} ({atlas.shipped.unit})" if name == "worth" else title_of(name)


def _sizes(atlas: Atlas, heads: Sequence[Place]) -> list[float]:
    worth = [atlas.number(place, "worth") for place in heads]
    if not any(worth):
        return [USUAL] * len(heads)
    means = [max(0.0, each.mean) if each else 0.0 for each in worth]
    most = max(means) or 1.0
    return [SMALLEST + (LARGEST - SMALLEST) * (mean / most) ** 0.5 for mean in means]


def _by_label(
    atlas: Atlas, heads: Sequence[Place], titles: Container[str]
) -> dict[str, list[Place]]:
    """Heads by the label that names them; those without one first, below all others."""
    result: dict[str, list[Place]] = {}
    for place in heads:
        label = atlas.label(place)
        title = "" if label is None else label.title if label.title in titles else OTHERS
        result.setdefault(title, []).append(place)
    return dict(sorted(result.items()))


def _card(atlas: Atlas, place: Place) -> list[str]:
    """The lines of a head under the pointer, and its name for whoever asks which were chosen."""
    label, worth = atlas.label(place), atlas.number(place, "worth")
    says = NO_LABEL if label is None else label_text(label)
    is_worth = "" if worth is None else f"worth: {text_of('worth', worth.mean, atlas.shipped.unit)}"
    shares = sparkline(atlas.heads[place].footprint)
    return [head_name(place, atlas), says, is_worth, shares, spelled(place)]
