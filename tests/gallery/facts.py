"""What the shipped weights say of the facts of stories."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

import torch

from transformer import Recording, decode, load_checkpoint, record
from transformer.analysis.reading import AttentionMap, read
from transformer.checkpoint import Checkpoint, shipped_path
from transformer.edits import parse as parse_edit
from transformer.token import Token
from viz.stories.story import SPREAD, Fact, Scene, reading_of


@dataclass(frozen=True)
class Seen:
    """What stands where a fact points."""

    row: str
    column: str
    weight: float
    is_largest: bool
    """Of its row."""

    def holds(self, fact: Fact) -> bool:
        in_words = (self.row, self.column) == (fact.row, fact.column)
        return in_words and self.is_largest and fact.least <= self.weight < fact.least + SPREAD


@cache
def opened(name: str) -> Checkpoint:
    return load_checkpoint(shipped_path(name), "cpu")


@cache
def recorded(
    checkpoint: str, text: str, decoding: str | None, edits: tuple[str, ...]
) -> tuple[Recording, str]:
    """What is recorded, and what was written."""
    model, changes = opened(checkpoint), tuple(map(parse_edit, edits))
    if not decoding:
        return record(model, text, None, edits=changes), ""
    decoding_of = decode(model, text, decoding, edits=changes)
    return record(model, text, decoding_of.target, edits=changes), decoding_of.text


def recording_of(scene: Scene) -> Recording:
    """What a scene's screen is of."""
    return _of(scene)[0]


def written(scene: Scene) -> str:
    """What the model writes on a scene's screen."""
    return _of(scene)[1]


def _of(scene: Scene) -> tuple[Recording, str]:
    screen = scene.screen
    assert screen.checkpoint is not None and screen.text is not None
    return recorded(screen.checkpoint, screen.text, screen.decoding, screen.edits)


def maps_of(scene: Scene) -> Mapping[str, AttentionMap]:
    """Every kind of attention as the scene's picture shows it: by words, or by pieces."""
    recording, checkpoint = recording_of(scene), scene.screen.checkpoint
    assert checkpoint is not None
    reading = reading_of(scene, opened(checkpoint).about)
    return {kind: read(recording, kind, reading) for kind in recording.attentions}


def seen(maps: Mapping[str, AttentionMap], fact: Fact) -> Seen:
    """What is at its place now; words are "" where there is none."""
    map = maps[fact.kind]
    if fact.query >= len(map.rows) or fact.key >= len(map.columns):
        return Seen("", "", 0.0, False)
    row = map.values(fact.layer, fact.head)[fact.query]
    words = word(map.rows[fact.query]), word(map.columns[fact.key])
    return Seen(*words, float(row[fact.key]), int(row.argmax()) == fact.key)


def cells_of(maps: Mapping[str, AttentionMap], fact: Fact) -> list[tuple[int, int]]:
    """Positions of query and key that its cell stands for, as cells and steps of screens are."""
    map = maps[fact.kind]
    if fact.query >= len(map.rows) or fact.key >= len(map.columns):
        return []
    return list(product(map.row_groups[fact.query], map.column_groups[fact.key]))


def word(token: Token) -> str:
    """As facts name it."""
    return token.piece.removeprefix("▁")


def strongest(
    maps: Mapping[str, AttentionMap], fact: Fact, n: int = 3
) -> list[tuple[int, int, float]]:
    """The heads (layer, head, weight) that give this cell most; none where there is no cell."""
    map = maps[fact.kind]
    if fact.query >= len(map.rows) or fact.key >= len(map.columns):
        return []
    found = torch.stack([map.values(i)[:, fact.query, fact.key] for i in range(map.n_layers)])
    best = found.flatten().argsort(descending=True)[:n].tolist()
    places = (divmod(i, found.size(1)) for i in best)
    return [(layer, head, float(found[layer, head])) for layer, head in places]
