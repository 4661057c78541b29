"""A decoding method, as it declares itself, its options, and what it gives back."""

import math
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import torch
from torch import Tensor

from transformer.config import ModelConfig
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted
from transformer.tokenizer import Side

# A decoding method, as it declares itself, and what it gives back.

Rules = Callable[[Tensor, Tensor], Tensor]
"""A change of a step's scores: (tokens written [n, t], scores [n, V]) -> scores [n, V]."""


class Model(Protocol):
    """A model that decoding can use: it starts on a source, then takes target tokens."""

    config: ModelConfig

    def start(self, source: Tensor) -> Any: ...

    def first(self, source: Tensor) -> Tensor: ...

    def room(self, n_source: int) -> int: ...

    def advance(self, state: Any, target: Tensor) -> Tensor: ...


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Hypothesis:
    """One finished target."""

    ids: tuple[int, ...]
    """The T token ids that were written, without the start."""
    log_probs: Tensor
    """[T, V]: row t is the model's distribution at the step that wrote ids[t], in nats."""
    score: float
    """The number that hypotheses are ranked by; the method defines it."""
    ruled: Tensor | None = None
    """[T, V]: log_probs after the rules that its folder has for writing; None: it has none."""
    error: Exception | None = None
    """The error that ended it before its time, after it had written something."""
    leaf: int | None = None
    """The node of the search's trail where it ends; None: it has left none."""
    text: str = ""
    """The same without special tokens, as `Decoding.text`; empty before a decoding is finished."""
    n_lost: int | None = None
    """Words of the source that it loses; None: it was not ranked by them."""

    @cached_property
    def log_prob(self) -> float:
        """log p(target | source), in nats."""
        return float(sum(self.log_probs[t, id] for t, id in enumerate(self.ids)))

    def without_distributions(self) -> "Hypothesis":
        """The same with log_probs [T, 0], and log_prob computed before: V numbers a token less."""
        short = replace(self, log_probs=self.log_probs.new_empty(len(self.ids), 0), ruled=None)
        vars(short)["log_prob"] = self.log_prob
        return short


@dataclass(frozen=True, eq=False)
class Ask:
    """A step that a search wants: these tokens are read, and it is sent the logits [n, T, V]."""

    tokens: Tensor
    """[n, T]"""
    parents: Tensor | None = None
    """[n] which rows of the step before they continue; None: each its own."""


Search = Generator[Ask, Tensor, list[Hypothesis]]
"""A decoding on its way: yields what is to be read next; returns hypotheses, best first.

It never runs the model, so that one pass can serve many of them: see `SharedBatch`.
"""


FLAGS = (False, 0), (True, 1)
"""The spellings of an option that is off at 0 and on at 1."""


@dataclass(frozen=True)
class Option:
    """A number that a method may be given, within limits."""

    name: str
    title: str
    default: float
    least: float
    most: float
    explain: str = ""
    widest: tuple[float, float] | None = None
    """The range that a script may use, where that is more than a screen offers."""
    off: float | None = None
    """The value at which the option changes nothing; None where there is no such value."""
    formula: str = ""
    """The formula of its method where the option is on, and that is another one."""
    term: str = ""
    """A term that is added to the formula of its method where the option is on."""
    source: str = ""
    """The publication that this is from."""
    spellings: tuple[tuple[bool | str, int], ...] = ()
    """Other ways to say some of its values, as Hugging Face's generate() takes them."""

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the most that the method takes."""
        return self.widest or (self.least, self.most)

    @property
    def is_off_by_default(self) -> bool:
        """Tell whether it is off where nothing is said of it."""
        return self.off is not None and self.default == self.off

    @property
    def is_whole(self) -> bool:
        return isinstance(self.default, int)

    def with_default(self, value: float) -> "Option":
        """The same with another default, which a screen offers too."""
        least, most = min(self.least, value), max(self.most, value)
        return replace(self, default=value, least=least, most=most)


@dataclass(frozen=True)
@in_a_line
class Method:
    """A way to decode.

    run: (model, source [1, S], max_len, course, **options) -> a generator that yields what the
    model is to read, starting with `course.first`, and returns hypotheses, best first.
    """

    name: str
    title: str
    run: Callable[..., Search]
    explain: str
    """The way it chooses; the first sentence stands by itself on a card."""
    formula: str = ""
    """The quantity that it maximises or draws from, in LaTeX as viz/formula.py reads it."""
    source: str = ""
    options: tuple[Option, ...] = ()
    needs_target: bool = False
    """True: the target comes as the option `target_ids`, and is only judged."""
    first_for: tuple[Side, ...] = ()
    """Models that read so decode like this unless told otherwise: see `default_method`."""
    streams: bool = False
    """True: it takes `on_token`, and tells it of each step: see `OnToken` in `left_to_right`."""
    follows: str = ""
    """The option that says how many hypotheses it follows at once; empty: one."""
    places: bool = False
    """True: it finds a place for words that must stand somewhere: see `Constraints.force`."""

    def with_defaults(self, values: Mapping[str, float]) -> "Method":
        """The same with other defaults of its options, by name."""
        own = (
            each.with_default(values[each.name]) if each.name in values else each
            for each in self.options
        )
        return replace(self, options=tuple(own))

    def with_options(self, values: Mapping[str, Any]) -> "Method":
        """The same with the formula, and the source, of what these options make of it."""
        on = [
            each
            for each in self.options
            if each.off is not None and values.get(each.name, each.default) != each.off
        ]
        formula, source = self.formula, self.source
        for each in on:
            if each.formula:
                formula, source = each.formula, each.source
        terms = [each for each in on if each.term]
        sources = dict.fromkeys((source, *(each.source for each in terms)))
        formula = "".join((formula, *(each.term for each in terms)))
        return replace(self, formula=formula, source="; ".join(sources))

    def n_rows(self, options: Mapping[str, Any]) -> int:
        """Return how many hypotheses it follows at once, at most, with these options."""
        usual = next((each.default for each in self.options if each.name == self.follows), 1)
        return int(options.get(self.follows, usual))


def rules_of(model: Model, source: Tensor, limit: int) -> Rules | None:
    """Make the rules of its folder for writing at most `limit` tokens; None: there are none."""
    make: Callable[[Tensor, int], Rules | None] | None = getattr(model, "rules", None)
    return None if make is None else make(source, limit)


def ruled(rules: Rules, output: Tensor, scores: Tensor) -> Tensor:
    """The scores that are chosen by: [n, V]. Raises InputError where nothing may be written."""
    result = rules(output, scores)
    if not bool((result > -torch.inf).any()):
        raise InputError("The rules of its folder for writing leave no token that may come next.")
    return result


def length_limit(model: Model, source: Tensor, max_len: int | None) -> int:
    """Return how many target tokens may be written. Raises ValueError for a max_len below 1."""
    limit = model.room(source.size(1))
    if max_len is None:
        return limit
    if max_len < 1:
        raise ValueError(f"max_len must be at least 1, not {max_len}.")
    return min(limit, max_len)


# The options of a decoding method: known names, numbers within limits.

MAX_LEN = Option("max_len", "Length", 1, 1, 2**31 - 1)
"""Taken by every method, in tokens."""


class OptionError(InputError, Refusal, ValueError):
    """An option that a method does not have, or that is out of its range."""


def checked_options(
    method: Method, values: Mapping[str, Any], instead: Callable[[str], str] = lambda name: ""
) -> dict[str, Any]:
    """The options as their methods take them. Raises OptionError in a sentence.

    None is as if it had not been said. instead: name of one that is unknown -> a further sentence.
    """
    options = {each.name: each for each in (MAX_LEN, *method.options)}
    options |= {MAX_LEN.name: MAX_LEN}
    for name in values:
        if name not in options:
            raise OptionError(
                f"no option {quoted(name)} of this method; its options: {', '.join(options)}."
                + instead(name)
            )
    return {
        name: checked_option(options[name], value)
        for name, value in values.items()
        if value is not None
    }


def checked_option(option: Option, value: Any) -> float:
    """The value as a method takes it. Raises OptionError in a sentence."""
    for spelling, number in option.spellings:
        if type(value) is type(spelling) and value == spelling:
            return number
    sort = "a whole number" if option.is_whole else "a number"
    if option.spellings:
        sort += f" or {', '.join(str(spelling) for spelling, _ in option.spellings)}"
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not _is_finite(value) or (option.is_whole and value != int(value)):
        raise OptionError(f"{option.name} must be {sort}, not {quoted(value)}.")
    least, most = option.limits
    if value < least:
        raise OptionError(f"{option.name} must be at least {_text(least)}, not {quoted(value)}.")
    if value > most:
        raise OptionError(f"{option.name} must be at most {_text(most)}, not {quoted(value)}.")
    return int(value) if option.is_whole else float(value)


def _text(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond every float
        return True
