"""Facts of stories that no longer hold: what is there now, and the same scene with it.

A fact whose weight is another gets that one; one whose words stand elsewhere, for a translation
has grown or shrunk, is found there again. Where the words themselves are others, somebody must
look: nothing is changed, and what the row looks at now is said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.gallery.facts import Seen, cells_of, maps_of, seen, strongest, word, written
from transformer.analysis.reading import AttentionMap
from viz.stories.reading import fact_line
from viz.stories.story import SPREAD, Fact, Scene, Story

BELOW = 0.02
"""A fact's `least` is its weight less this."""
Maps = Mapping[str, AttentionMap]
_FIGURE = re.compile(r"\b[01]\.\d\d\b(?! on average)")


@dataclass(frozen=True)
class Renewed:
    """A scene with its figures of now."""

    scene: Scene
    said: tuple[str, ...]
    """A line for each fact that did not hold."""
    is_whole: bool
    """Whether all of its facts hold now."""


def renewed(scene: Scene) -> Renewed:
    """The scene with facts that hold, as far as these can be found."""
    if not scene.facts and not scene.writes:
        return Renewed(scene, (), True)
    maps = maps_of(scene)
    found = {fact: _found(maps, fact) for fact in scene.facts}
    said = [
        f"{fact_line(fact)}: {_what(maps, fact, new)}"
        for fact, new in found.items()
        if not seen(maps, fact).holds(fact)
    ]
    is_written = not scene.writes or written(scene) == scene.writes
    if not is_written:
        said.append(f"writes: {scene.writes}: it writes “{written(scene)}” now")
    known = {old: new for old, new in found.items() if new is not None}
    facts = tuple(found[fact] or fact for fact in scene.facts)
    text = _with_figures(scene, maps, known)
    moved = {old.query: new.query for old, new in known.items()}
    columns = {old.key: new.key for old, new in known.items()}
    again = _moved(replace(scene, facts=facts, text=text), moved, columns, maps)
    return Renewed(again, tuple(said), is_written and len(known) == len(found))


def _found(maps: Maps, fact: Fact) -> Fact | None:
    """The fact where its words are now, the largest of its row, with the weight of now; or None."""
    here = seen(maps, fact)
    if here.holds(fact):
        return fact
    if (here.row, here.column) == (fact.row, fact.column) and here.is_largest:
        return replace(fact, least=_least(here.weight))
    map = maps[fact.kind]
    rows = [i for i, token in enumerate(map.rows) if word(token) == fact.row]
    columns = [i for i, token in enumerate(map.columns) if word(token) == fact.column]
    places = [replace(fact, query=row, key=column) for row in rows for column in columns]
    there = [(each, seen(maps, each)) for each in places]
    largest = [(each, found) for each, found in there if found.is_largest]
    if len(largest) != 1:
        return None
    return replace(largest[0][0], least=_least(largest[0][1].weight))


def _least(weight: float) -> float:
    return max(0.0, round(weight - BELOW, 2))


def _what(maps: Maps, old: Fact, new: Fact | None) -> str:
    """What is there instead."""
    here = seen(maps, old)
    if new is not None:
        weight = seen(maps, new).weight
        place = f" at {new.query}.{new.key}" if new.query != old.query or new.key != old.key else ""
        return f"is {weight:.2f} now{place}"
    return f"is gone: {_looks(maps, old, here)}"


def _looks(maps: Maps, fact: Fact, here: Seen) -> str:
    map = maps[fact.kind]
    if not here.row:
        return f"there are {len(map.rows)} rows and {len(map.columns)} columns"
    row = map.values(fact.layer, fact.head)[fact.query]
    most = int(row.argmax())
    heads = ", ".join(f"L{i} H{j} {weight:.2f}" for i, j, weight in strongest(maps, fact))
    return (
        f"‘{here.row}’ gives ‘{here.column}’ {here.weight:.2f}, and most to "
        f"‘{word(map.columns[most])}’ ({most}), {float(row[most]):.2f}; strongest at this cell: "
        f"{heads}"
    )


def figures_of(scene: Scene) -> dict[Fact, re.Match[str]]:
    """Where a scene's text states the weights of its facts: a figure is of one fact.

    It is the one nearest to what the fact was made of, if any may be.
    """
    found: dict[Fact, re.Match[str]] = {}
    left = list(_FIGURE.finditer(scene.text))
    for fact in scene.facts:
        far = {each: float(each[0]) - fact.least for each in left}
        fitting = [each for each, above in far.items() if 0 <= above < SPREAD - 0.005]
        if fitting:
            found[fact] = min(fitting, key=lambda each: abs(far[each] - BELOW))
            left.remove(found[fact])
    return found


def _with_figures(scene: Scene, maps: Maps, known: Mapping[Fact, Fact]) -> str:
    text = scene.text
    for old, there in figures_of(scene).items():
        if old in known:  # each is of four characters, as the old one was
            figure = f"{seen(maps, known[old]).weight:.2f}"
            text = text[: there.start()] + figure + text[there.end() :]
    return text


def _moved(scene: Scene, rows: Mapping[int, int], columns: Mapping[int, int], maps: Maps) -> Scene:
    """Pins, cell, step and question where the rows and columns of its facts are now."""
    screen, question = scene.screen, scene.question
    pins = tuple(
        f"{pin[0]}{(rows if pin[0] == 'q' else columns).get(int(pin[1:]), int(pin[1:]))}"
        for pin in screen.pins
    )
    cells = [cell for fact in scene.facts for cell in cells_of(maps, fact)]
    cell, step = screen.cell, screen.step
    if cell is not None and cell not in cells:
        cell = next(iter(cells), cell)
    if step and step not in {query for query, _ in cells}:
        step = next((query for query, _ in cells), step)
    if question is not None:
        question = replace(question, query=rows.get(question.query, question.query))
    screen = replace(screen, pins=pins, cell=cell, step=step)
    return replace(scene, screen=screen, question=question)


def renewed_story(story: Story) -> tuple[Story, list[tuple[int, Renewed]]]:
    """The story with the figures of now, and the scenes, by number, of which a fact failed."""
    scenes = [renewed(scene) for scene in story.scenes]
    wrong = [(i + 1, each) for i, each in enumerate(scenes) if each.said]
    return replace(story, scenes=tuple(each.scene for each in scenes)), wrong
