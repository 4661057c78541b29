"""A verdict on a written word: whether what it looks at is what it needs, by stated thresholds."""

from dataclasses import dataclass
from typing import Literal

from torch import Tensor

LEAST = 0.5
"""Nats from which a word is needed: hiding it makes the written one less likely by exp(LEAST)."""

Kind = Literal["agrees", "moved", "prefix", "backed up", "undecided"]
TITLES: dict[Kind, str] = {
    "agrees": "agrees",
    "moved": "moved by the encoder",
    "prefix": "held by the prefix",
    "backed up": "backed up",
    "undecided": "undecided",
}


@dataclass(frozen=True)
class Verdict:
    """One written word: where it looks, and what it cannot be written without.

    That both agree says nothing of whether the word is right.
    """

    kind: Kind
    text: str
    """A sentence."""
    looks_at: int | None
    """The number of the source word of the largest weight; None: weights are not known, or what is
    no word of the source has more."""
    needs: int | None
    """The number of the word that costs most: of the source, or where `kind` is "prefix" of the
    target; None: no word costs as much as LEAST."""
    nats: float
    """The cost of that word; where there is none, of the most expensive one of the source."""


def verdict(
    number: int,
    words: tuple[str, ...],
    source_words: tuple[str, ...],
    weights: Tensor | None,
    hidden: Tensor,
    cut: Tensor | None,
    prefix: Tensor,
    beside: str | None = None,
) -> Verdict:
    """Judge one word by its rows: weights, hidden and cut [S], prefix [T], in nats.

    beside: what has more weight than any word of the source; "": nothing has any; None: such a
    word has most.

    *Agrees*: the word that it looks at most costs most when hidden, LEAST at least, and so does
    closing it to the decoder. *Backed up*: the same word, and closing it to the decoder costs less
    than LEAST. *Moved by the encoder*: another word, which costs LEAST hidden and less cut off.
    *Held by the prefix*: no source word costs LEAST, and a written one does. Else *undecided*.
    """
    own, most = _quoted(words[number]), int(hidden.argmax())
    cost = float(hidden[most])
    looks_at = None if weights is None or beside is not None else int(weights.argmax())
    if cost < LEAST:
        return _without_source(own, words, looks_at, cost, prefix)
    needed = f"{_quoted(source_words[most])} ({cost:.2f} nats)"
    is_read = cut is not None and float(cut[most]) >= LEAST
    kind: Kind = "undecided"
    if looks_at is None:
        text = f"{own} needs {needed}; {_elsewhere(beside)}."
    elif looks_at == most and (is_read or cut is None):
        kind, text = "agrees", f"{own} looks at {_quoted(source_words[most])} and needs it"
        text += f" ({cost:.2f} nats)."
    elif looks_at == most:
        kind, text = (
            "backed up",
            f"{own} looks at {needed} and needs it; where the decoder may not ",
        )
        text += "read it, other words say the same."
    elif cut is not None and not is_read:
        kind, text = "moved", f"{own} looks at {_quoted(source_words[looks_at])} and needs {needed}"
        text += ": the encoder had carried it to other words."
    else:
        text = f"{own} looks at {_quoted(source_words[looks_at])} most, and needs {needed}."
    return Verdict(kind, text, looks_at, most, cost)


def _elsewhere(beside: str | None) -> str:
    if beside is None:
        return "where it looks is not known"
    if not beside:
        return "it looks at no word of the source"
    return f"it looks at {_quoted(beside)} most, outside the source"


def _without_source(
    own: str, words: tuple[str, ...], looks_at: int | None, cost: float, prefix: Tensor
) -> Verdict:
    """The verdict on a word that needs no single word of the source."""
    text = f"{own} needs no single word of the source (at most {max(cost, 0.0):.2f} nats)"
    before = int(prefix.argmax()) if len(prefix) else 0
    held = float(prefix[before]) if len(prefix) else 0.0
    if held >= LEAST:
        text += f": it is held by {_quoted(words[before])} before it ({held:.2f} nats)."
        return Verdict("prefix", text, looks_at, before, held)
    return Verdict("undecided", f"{text}, and none that is written.", looks_at, None, cost)


def _quoted(word: str) -> str:
    return f"“{word}”"
