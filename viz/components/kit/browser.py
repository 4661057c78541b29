"""The way of every component to the browser: its files, colours and pieces.

A component's script is its index.js with all that this imports: one text, no build step.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from transformer.token import Token
from transformer.visible import visible
from transformer.words import SPACES, characters, is_byte, word_groups
from viz.components.kit.modules import Bundle, bundle
from viz.components.kit.pack import pack
from viz.glossary import cards
from viz.labels import bare_label, label
from viz.theme import Theme

_FOLDER = Path(__file__).parents[1]


@dataclass(frozen=True)
class Component:
    """All that the browser needs to draw: the same in the app and in a page of its own."""

    name: str
    """The name of its folder, too, in which index.js stands."""

    @property
    def script(self) -> str:
        """A function that is called with { data, parentElement, setTriggerValue }."""
        return self._bundle.script

    @property
    def js(self) -> str:
        """A module whose default export is the script."""
        return f"export default {self.script};\n"

    @property
    def css(self) -> str:
        return self._bundle.style

    @property
    def _bundle(self) -> Bundle:
        return bundle(_FOLDER / self.name / "index.js")

    @property
    def class_name(self) -> str:
        """The class of the element that it draws into."""
        return f"headscope {self.name.replace('_', '-')}"

    @property
    def html(self) -> str:
        """Its element, and the cards of the words in it."""
        return f'<div class="{self.class_name}"></div>{cards(self.name)}'


def pieces(tokens: Iterable[Token]) -> list[tuple[str, int]]:
    """Label and whether special (1) or not (0), for each token."""
    return [(label(token), int(token.special)) for token in tokens]


def pieces_of_words(tokens: Sequence[Token], words: bool = False) -> list[tuple[str, int, int]]:
    """The same, and 1 where a word begins with it, else 0.

    words: they are drawn as the words that they make: without the sign of a space, with 2 for a
    piece that is nothing but the space before its word, and with bytes as the characters that they
    spell: the last byte of one has it, and the label of those before it is empty.
    """
    groups = word_groups(tokens)
    begins = {group[0]: 1 for group in groups}
    if not words:
        return [(*piece, begins.get(i, 0)) for i, piece in enumerate(pieces(tokens))]
    texts = [bare_label(token) for token in tokens]
    for group in groups:
        if len(group) > 1:
            spelled = characters([tokens[i] for i in group])
            for i, text in zip(group, spelled, strict=True):
                texts[i] = visible(text) if is_byte(tokens[i]) else texts[i]
        spaces = takewhile(lambda i: not tokens[i].piece.strip(SPACES), group[:-1])
        begins |= dict.fromkeys(spaces, 2)
    return [(texts[i], int(it.special), begins.get(i, 0)) for i, it in enumerate(tokens)]


def palette(theme: Theme) -> dict[str, Any]:
    """The colours that the scripts draw with."""
    names = ("name", "background", "surface", "text", "dim", "grid", "accent", "masked")
    return {name: getattr(theme, name) for name in names} | {"scale": theme.attention_scale}


def envelope(payload: bytes, theme: Theme, **state: Any) -> bytes:
    """A payload with what may change while it stays the same.

    The nonce lets the browser see that a payload is the one it has already drawn. Streamlit takes
    bytes only alone, not within a dict; so the whole is packed once more.
    """
    header = {"nonce": digest(payload), "palette": palette(theme), **state}
    return pack(header, np.frombuffer(payload, np.uint8))


def digest(content: bytes) -> str:
    """A short name of a content."""
    return blake2b(content, digest_size=8).hexdigest()
