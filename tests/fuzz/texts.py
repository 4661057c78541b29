"""What people type: a model reads it or a sentence says why not, and every label is text."""

import html
from collections.abc import Callable
from pathlib import Path
from random import Random
from xml.etree import ElementTree

from tests.fuzz.kind import Attempt, Kind
from tests.fuzz.strings import strange_text
from transformer import decode, load_checkpoint, record
from transformer.files.foreign_text import halves
from transformer.refusal import visible
from transformer.token import Token
from viz.labels import figure_label, figure_text, label, literal

ROOT = Path(__file__).parents[2]
NAMES = ("copy", "en-de-small", "everyday", "shakespeare", "sentiment")
HIDDEN = ("\n", "\r", "\x00", "\x1b", "\u202e", "\u2066", "\u2028")


def start(_: Path) -> Attempt:
    checkpoints = [load_checkpoint(ROOT / "checkpoints" / name, "cpu") for name in NAMES]

    def attempt(random: Random) -> None:
        text, checkpoint = strange_text(random), random.choice(checkpoints)
        _is_shown(text)
        target = None
        if checkpoint.family.decodes:
            decoding = decode(checkpoint, text, random.choice(("greedy", "beam")), max_len=3)
            target = random.choice((decoding.target, strange_text(random)))
            for token in decoding.target:
                _is_shown(token.piece)
        recording = record(checkpoint, text, target)
        assert recording.logits.isfinite().all()
        texts = (text, target) if isinstance(target, str) else (text,)
        assert any("?" in note for note in recording.notes) == bool(halves(*texts))
        for token in recording.source:
            _is_shown(token.piece)

    return attempt


def _is_shown(text: str) -> None:
    """Neither hidden nor markup, wherever it is shown."""
    token = Token(7, text)
    shown: tuple[Callable[[], str], ...] = (
        lambda: label(token),
        lambda: literal(text),
        lambda: visible(text),
        lambda: figure_text(text),
        lambda: figure_label(token, "#777777"),
    )
    for show in shown:
        said = show()
        assert not any(sign in said for sign in HIDDEN), ascii(said[:200])
        said.encode("utf-8")
    unescaped = html.unescape(figure_text(text))
    assert "<" not in figure_text(text) and unescaped.count("<") == text.count("<")
    ElementTree.fromstring(f"<text>{figure_text(text)}</text>")


KIND = Kind("texts", start, n=4000, n_quick=40)
