"""What the shipped weights say of the facts of stories."""

from dataclasses import dataclass
from functools import cache

import torch

from transformer import Recording, decode, load_checkpoint, record
from transformer.checkpoint import Checkpoint, shipped_path
from transformer.edits import parse as parse_edit
from transformer.recording import Attention
from transformer.token import Token
from viz.stories.story import SPREAD, Fact, Scene


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


def seen(recording: Recording, fact: Fact) -> Seen:
    """What is at its positions now; words are "" where there are none."""
    attention = recording.attentions[fact.kind]
    rows = rows_of(attention)
    if fact.query >= len(rows) or fact.key >= len(attention.keys):
        return Seen("", "", 0.0, False)
    row = attention.weights(fact.layer, fact.head)[fact.query]
    words = word(rows[fact.query]), word(attention.keys[fact.key])
    return Seen(*words, float(row[fact.key]), int(row.argmax()) == fact.key)


def rows_of(attention: Attention) -> tuple[Token, ...]:
    """The rows' tokens as facts name them."""
    rows = attention.produced if attention.is_cross else attention.queries
    assert rows is not None
    return tuple(rows)


def word(token: Token) -> str:
    """As facts name it."""
    return token.piece.removeprefix("▁")


def strongest(recording: Recording, fact: Fact, n: int = 3) -> list[tuple[int, int, float]]:
    """The heads (layer, head, weight) that give this cell most; none where there is no cell."""
    attention = recording.attentions[fact.kind]
    if fact.query >= len(rows_of(attention)) or fact.key >= len(attention.keys):
        return []
    layers = range(attention.n_layers)
    found = torch.stack([attention.weights(i)[:, fact.query, fact.key] for i in layers])
    best = found.flatten().argsort(descending=True)[:n].tolist()
    places = (divmod(i, found.size(1)) for i in best)
    return [(layer, head, float(found[layer, head])) for layer, head in places]
