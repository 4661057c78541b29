"""A checkpoint's weights in sentences: each sentence decoded and recorded once."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from transformer import decode, load_checkpoint, record
from transformer.token import Token
from transformer.words import word_groups, word_piece


@dataclass(frozen=True)
class Word:
    """A word of a sentence, and where its pieces are."""

    text: str
    places: tuple[int, ...]

    @property
    def first(self) -> int:
        return self.places[0]

    @property
    def last(self) -> int:
        return self.places[-1]

    @property
    def is_noun_like(self) -> bool:
        """Whether it has a capital, as German nouns and all names do."""
        return self.text[:1].isupper() and self.text[1:].islower()


def words_of(tokens: tuple[Token, ...]) -> list[Word]:
    return [
        Word(word_piece([tokens[i] for i in places]).replace("▁", ""), places)
        for places in word_groups(tokens)
    ]


@dataclass(frozen=True, eq=False)
class Seen:
    """One sentence, its translation, and the weights of all heads."""

    pieces: list[str]
    source: list[Word]
    target: list[Word]
    weights: dict[str, Tensor]
    """kind -> [L, H, Q, K]. Row t of the decoder's kinds is about to write piece t."""

    def find(self, text: str) -> list[Word]:
        """The words of the translation that read so."""
        return [word for word in self.target if word.text == text]


class Seeing:
    """Reads and translates with one checkpoint."""

    def __init__(self, folder: Path) -> None:
        self.checkpoint = load_checkpoint(folder, "cpu")
        self.read, self.translated = cache(self._read), cache(self._translated)

    def _read(self, text: str) -> Seen:
        """Its source only: what would be written makes no difference to the encoder."""
        return self._seen(text, "")

    def _translated(self, text: str) -> Seen:
        """Decoded greedily."""
        return self._seen(text, decode(self.checkpoint, text, "greedy").target)

    def _seen(self, text: str, target: str | tuple[Token, ...]) -> Seen:
        recording = record(self.checkpoint, text, target)
        return Seen(
            [token.piece for token in recording.source],
            words_of(recording.source),
            words_of(recording.target),
            {
                kind: torch.stack([each.weights(layer) for layer in range(each.n_layers)])
                for kind, each in recording.attentions.items()
            },
        )
