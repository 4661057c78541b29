"""A verdict on a written word: whether what it looks at is what it needs, by stated thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from torch import Tensor

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.refusal import quoted

LEAST = 0.5
"""Nats from which a word is needed: hiding it makes the written one less likely by exp(LEAST)."""

MUCH = 2.0
"""Times the cost of the word of the source from which on a written one is named beside it."""

SENTENCES: Mapping[str, str] = {
    "agrees": "{own} looks at {seen} and needs {needs}.",
    "backed up": (
        "{own} looks at {seen} and needs {needs}; where the decoder may not read {it}, other words "
        "say the same."
    ),
    "moved by the encoder": (
        "{own} looks at {seen} and needs {needs}: the encoder had carried {it} to other words."
    ),
    "undecided": "{own} looks at {seen} most, and needs {needs}.",
    "elsewhere": "{own} needs {needs}; {where}.",
    "held": (
        "{own}{looks} needs no single word of the source (at most {cost} nats): it is held by "
        "{before} before it ({held} nats)."
    ),
    "nothing": (
        "{own}{looks} needs no single word of the source (at most {cost} nats), and none that is "
        "written."
    ),
    "looks": " looks at {seen}, but",
    "written": " {before}, written before it, costs more ({held} nats).",
    "not known": "where it looks is not known",
    "no word": "it looks at no word of the source",
    "beside": "it looks at {beside} most, outside the source",
    "cost": "{word} ({cost} nats)",
    "cost of several": "{word} ({cost})",
    "two": "both {first} and {last}",
    "many": "{first} and {last}",
    "one": "it",
    "several": "them",
}
"""All that a verdict says, by kind and part, with the places of words and their costs."""

Kind = Literal["agrees", "backed up", "moved by the encoder", "held by the prefix", "undecided"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The words of the table in docs/evidence.md, of files and of screens."""
OLD: Mapping[str, Kind] = {"moved": "moved by the encoder", "prefix": "held by the prefix"}
"""Spelling of an earlier version -> the kind: what was written by it is still read."""


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Verdict:
    """One written word: where it looks, and what it cannot be written without.

    That both agree says nothing of whether the word is right.
    """

    kind: Kind
    """The relation of what it looks at to what it needs: "agrees", "backed up", "moved by the
    encoder", "held by the prefix" or "undecided"."""
    text: str
    """A sentence."""
    looks_at: int | None
    """The number of the source word of the largest weight; None: weights are not known, or what is
    no word of the source has more."""
    needs: int | None
    """The number of the word that costs most: of the source, or where `kind` is "held by the
    prefix" of the target; None: no word costs as much as LEAST, in nats."""
    nats: float
    """The cost of that word; where there is none, of the most expensive one of the source."""
    also: tuple[int, ...] = ()
    """Further source words that are needed as much, the most expensive first."""

    def __post_init__(self) -> None:
        """Read an old spelling, as of a pickle or a table; raise ValueError for what is no kind."""
        object.__setattr__(self, "kind", kind_of(self.kind))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, kind=kind_of(state["kind"]))


def kind_of(spelling: str) -> Kind:
    """The kind that a word stands for, in its old spelling too. Raises ValueError.

    >>> kind_of("moved"), kind_of("agrees")
    ('moved by the encoder', 'agrees')
    """
    for kind in KINDS:
        if kind == OLD.get(spelling, spelling):
            return kind
    raise ValueError(f"There is no verdict {quoted(spelling)}: there is {', '.join(KINDS)}.")


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

    *Needed* is the source word that costs most when hidden, LEAST at least, and as much as it
    every other one that costs LEAST and comes within LEAST of it: a difference of two costs that is
    below the threshold says nothing, so all of them are named, with their costs.

    *Agrees*: the word that it looks at most is needed, and closing it to the decoder costs LEAST,
    too. *Backed up*: it is needed, and closing it to the decoder costs less. *Moved by the
    encoder*: it is not needed, and closing any that is to the decoder costs less than LEAST. *Held
    by the prefix*: no source word costs LEAST, and a written one does. Else *undecided*. The text
    of a word that is moved or undecided names a written word that costs MUCH as much, too.
    """
    own, (most, *also) = _quoted(words[number]), _needed(hidden)
    cost = float(hidden[most])
    looks_at = None if weights is None or beside is not None else int(weights.argmax())
    if cost < LEAST:
        seen = None if looks_at is None else _quoted(source_words[looks_at])
        return _without_source(own, seen, words, looks_at, cost, prefix)
    costs = [(_quoted(source_words[i]), float(hidden[i])) for i in (most, *also)]
    needs, read = _list(costs), {i for i in (most, *also) if cut is None or cut[i] >= LEAST}
    kind: Kind = "undecided"
    if looks_at is None:
        text = _says("elsewhere", own=own, needs=needs, where=_elsewhere(beside))
    else:
        seen = _quoted(source_words[looks_at])
        it = SENTENCES["several" if also else "one"]
        if looks_at in (most, *also):
            kind = "agrees" if looks_at in read else "backed up"
            needs = needs if also else _says("cost", word=it, cost=f"{cost:.2f}")
            it = seen if also else it
        elif not read:
            kind = "moved by the encoder"
        text = _says(kind, own=own, seen=seen, needs=needs, it=it)
    if kind in ("moved by the encoder", "undecided"):
        text += _written(words, prefix, cost)
    return Verdict(kind, text, looks_at, most, cost, tuple(also))


def _says(name: str, **places: str) -> str:
    return SENTENCES[name].format_map(places)


def _held(prefix: Tensor) -> tuple[int, float]:
    """Number the written word that costs most, with its cost; 0 where none is before."""
    before = int(prefix.argmax()) if len(prefix) else 0
    return before, float(prefix[before]) if len(prefix) else 0.0


def _written(words: Sequence[str], prefix: Tensor, cost: float) -> str:
    """Say which written word costs MUCH as much as any of the source."""
    before, held = _held(prefix)
    if held < max(MUCH * cost, cost + LEAST):
        return ""
    return _says("written", before=_quoted(words[before]), held=f"{held:.2f}")


def _needed(hidden: Tensor) -> list[int]:
    """Number the words that are needed, the most expensive first: that one whatever it costs."""
    most, *others = hidden.argsort(descending=True, stable=True).tolist()
    least = max(LEAST, float(hidden[most]) - LEAST)
    return [most, *(i for i in others if float(hidden[i]) >= least)]


def _list(costs: Sequence[tuple[str, float]]) -> str:
    """List words with their costs, the unit once."""
    *first, (word, cost) = costs
    last = _says("cost", word=word, cost=f"{cost:.2f}")
    if not first:
        return last
    others = (_says("cost of several", word=word, cost=f"{cost:.2f}") for word, cost in first)
    return _says("two" if len(first) == 1 else "many", first=", ".join(others), last=last)


def _elsewhere(beside: str | None) -> str:
    if not beside:
        return SENTENCES["not known" if beside is None else "no word"]
    return _says("beside", beside=_quoted(beside))


def _without_source(
    own: str,
    seen: str | None,
    words: tuple[str, ...],
    looks_at: int | None,
    cost: float,
    prefix: Tensor,
) -> Verdict:
    """The verdict on a word that needs no single word of the source."""
    looks = "" if seen is None else _says("looks", seen=seen)
    text = {"own": own, "looks": looks, "cost": f"{max(cost, 0.0):.2f}"}
    before, held = _held(prefix)
    if held >= LEAST:
        text |= {"before": _quoted(words[before]), "held": f"{held:.2f}"}
        return Verdict("held by the prefix", _says("held", **text), looks_at, before, held)
    return Verdict("undecided", _says("nothing", **text), looks_at, None, cost)


def _quoted(word: str) -> str:
    return f"“{word}”"
