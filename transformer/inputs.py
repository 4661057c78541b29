"""Typed text -> token ids, and arguments of public functions; or a sentence that says why not."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from numbers import Integral
from operator import index
from os import fsencode
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.refusal import Refusal, items_of, quoted
from transformer.token import Token
from transformer.tokenizer import Side, Tokenizer, TokenizerError
from transformer.vocabulary import source_side


class InputError(Refusal, ValueError):
    """Input that a model cannot take; the message says what to change."""


MAX_CHARACTERS = 20_000
"""Longer text is refused before it is split: no model here reads a tenth of it."""


def source_ids(checkpoint: Checkpoint, text: str) -> list[int]:
    """Token ids of a source text. Raises InputError when it is empty or too long."""
    if not isinstance(text, str):
        raise InputError(f"A text is one string: {quoted(text)} is none.")
    if not text.strip():
        raise InputError("The text is empty: type a sentence.")
    ids = _encode(checkpoint, text, checkpoint.family.reads)
    tokenizer = source_side(checkpoint.tokenizer)
    if all(token.special or token.unknown for token in map(tokenizer.token, ids)):
        raise InputError("This text holds nothing that the model can read: type a sentence.")
    is_own = tokenizer is not checkpoint.tokenizer
    n_pieces = tokenizer.vocab_size if is_own else checkpoint.config.vocab_size
    ends: Any = getattr(checkpoint.config, "ends", None)
    what = "pair of texts" if ends and ends.n_second else "text"
    return _checked(checkpoint, ids, what, n_pieces)


def target_ids(
    checkpoint: Checkpoint, target: str | Sequence[Token | int] | None, n_source: int = 0
) -> list[int] | None:
    """Token ids of the target, for a source of n tokens. Raises InputError."""
    if target is None:
        if checkpoint.family.target == "needed":
            raise InputError(f"{checkpoint.name} has a decoder: give it a target, text or tokens.")
        return None
    if checkpoint.family.recorded is not None:
        raise InputError(f"{checkpoint.name} holds arrays, without a model: none reads a target.")
    if checkpoint.family.target == "none":
        raise InputError(f"{checkpoint.name} writes nothing: leave the target out.")
    if isinstance(target, str):
        side: Side = "continuation" if checkpoint.family.continues else "target"
        ids = _encode(checkpoint, target, side)
    else:
        ids = token_ids(checkpoint, target)
    if not ids:
        raise InputError("The target is empty.")
    taken = max(0, n_source - 1) if checkpoint.family.continues else 0
    return _checked(checkpoint, ids, "target", checkpoint.config.vocab_size, taken)


def token_ids(checkpoint: Checkpoint, tokens: Iterable[Token | int]) -> list[int]:
    """The ids of tokens, each a Token or its id. Raises InputError for others than the model's.

    An id alone does not tell of which vocabulary it is; a Token is compared by its piece too, so
    that what one checkpoint wrote is never read as other words by the next.
    """
    every = _in_order(tokens)
    if every is None:
        raise InputError(
            f"{quoted(tokens)} is neither a text nor tokens: give one string, the tokens of a "
            "decoding (its .target), or a list of their ids."
        )
    size = checkpoint.config.vocab_size
    for each in every:
        id = each.id if isinstance(each, Token) else each
        if not 0 <= id < size:
            name = f"{quoted(each.piece)} has the id" if isinstance(each, Token) else "there is no"
            raise InputError(
                f"{checkpoint.name} does not know all of these tokens: {name} {quoted(id)}, and "
                f"its last id is {size - 1:,}."
            )
        own = _piece(checkpoint.tokenizer, id)
        if isinstance(each, Token) and each.piece != own:
            raise InputError(
                f"These tokens are of another vocabulary: {id:,} is {quoted(each.piece)} there, "
                f"and {quoted(own)} in {checkpoint.name}. Give it the text instead."
            )
    return [each.id if isinstance(each, Token) else each for each in every]


def _in_order(tokens: Any) -> list[Token | int] | None:
    """Tokens, or ids as whole numbers; None for what is neither.

    A set has no order, and True is no id.
    """
    every = None if isinstance(tokens, set | frozenset) else items_of(tokens)
    if every is None or any("bool" in str(getattr(it, "dtype", type(it))) for it in every):
        return None
    try:
        return [each if isinstance(each, Token) else index(each) for each in every]
    except TypeError:
        return None


def check_length(text: str) -> None:
    """Raise InputError for a text that is not even split."""
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"The text has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read. "
            "Shorten it."
        )


def _encode(checkpoint: Checkpoint, text: str, side: Side) -> list[int]:
    check_length(text)
    try:
        return checkpoint.tokenizer.encode(text, side)
    except TokenizerError as error:
        raise InputError(str(error)) from error


def _checked(
    checkpoint: Checkpoint, ids: list[int], what: str, n_pieces: int, taken: int = 0
) -> list[int]:
    limit = (_longest_target(checkpoint) if what == "target" else checkpoint.config.max_len) - taken
    if len(ids) > limit:
        raise InputError(
            f"The {what} has {len(ids):,} tokens; {checkpoint.name} takes at most {limit:,}. "
            "Shorten it."
        )
    if max(ids) >= n_pieces:
        strange = next(id for id in ids if id >= n_pieces)
        piece = _piece(source_side(checkpoint.tokenizer), strange)
        raise InputError(
            f"The {what} has tokens that {checkpoint.name} does not know: {piece!r} has the id "
            f"{strange:,}, and the model has {n_pieces:,} tokens."
        )
    return ids


def _longest_target(checkpoint: Checkpoint) -> int:
    """Tokens of a target; what decoding starts with takes its place too, the first token aside."""
    config = checkpoint.config
    limit = getattr(config, "max_target_len", None)
    if limit is None:
        return config.max_len
    return max(1, int(limit) - max(0, len(getattr(config, "start_ids", ())) - 1))


def _piece(tokenizer: Tokenizer, id: int) -> str:
    """Return the tokenizer's name of a token that the model lacks, or else the token's number."""
    try:
        return tokenizer.token(id).piece
    except (IndexError, KeyError):
        return f"<{id}>"


# Arguments of public functions: a wrong one ends in a sentence that says what to give.

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Wanted:
    """A description of what an argument must be."""

    fits: Callable[[Any], bool]
    says: str
    """A noun, with where one comes from, as it stands behind "must be"."""

    @property
    def or_none(self) -> "Wanted":
        return Wanted(lambda value: value is None or self.fits(value), f"{self.says}, or None")


def of_class(classes: type | tuple[type, ...], says: str) -> Wanted:
    """Want an instance of one of some classes."""
    return Wanted(lambda value: isinstance(value, classes), says)


def is_whole(value: Any) -> bool:
    """Tell whether it is a whole number, which True is not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, which no file takes."""


def _is_name(path: str | Path) -> bool:
    """Tell whether a system can look for it."""
    try:
        return b"\0" not in fsencode(path)
    except UnicodeEncodeError:
        return False


def _are_tokens(value: Any) -> bool:
    return isinstance(value, Sequence) and items_of(value) is not None  # characters are no pieces


MODULE = of_class(nn.Module, "a torch module, an instance with its weights")
FUNCTION = Wanted(callable, "a function")
NUMBER = Wanted(is_whole, "a whole number")
COUNT = Wanted(lambda value: is_whole(value) and value > 0, "a whole number from 1 on")
TEXT = Wanted(lambda value: isinstance(value, str) and not _HALF.search(value), "a text")
TOKENS = Wanted(
    lambda value: all(map(_are_tokens, value.values() if isinstance(value, Mapping) else [value])),
    'a list of the pieces at its positions, or {"source": such a list, "target": another}',
)
PATH = Wanted(lambda value: isinstance(value, str | Path) and _is_name(value), "a path")
YES_OR_NO = of_class(int, "True or False")


def checks(**wanted: Wanted) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Check the arguments of these names before a function runs: each raises InputError.

    One that is left out is right.
    """

    def checked(function: Callable[P, T]) -> Callable[P, T]:
        names = tuple(signature(function).parameters)

        @wraps(function)
        def checking(*args: P.args, **named: P.kwargs) -> T:
            check(function.__name__, {**dict(zip(names, args, strict=False)), **named}, wanted)
            return function(*args, **named)

        return checking

    return checked


def check(function: str, values: Mapping[str, Any], wanted: Mapping[str, Wanted]) -> None:
    """Raise InputError for the first of these values that is not what is wanted."""
    for name, value in values.items():
        want = wanted.get(name)
        if want is not None and not want.fits(value):
            raise InputError(f"{function}: {name} must be {want.says}, not {thing(value)}.")


def check_call(called: str, function: Callable[..., Any], *args: Any, **named: Any) -> None:
    """Raise InputError for arguments that a function does not take, or lacks.

    called: the name of the function that hands them on, as it is called.
    """
    try:
        signature(function).bind(*args, **named)
    except TypeError as error:
        raise InputError(f"{called}: {error} (help({called}) lists all).") from None


def thing(value: Any) -> str:
    """Name a value within a sentence: a plain one by itself, another by its class.

    >>> thing("x"), thing(2), thing((1, 2)), thing(len), thing(dict)
    ("'x'", '2', 'a tuple', 'the function len', 'the class dict')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, Tensor):
        return f"a tensor {list(value.shape)}"
    if callable(value) and hasattr(value, "__name__"):
        return f"the function {value.__name__}"
    if value is None or isinstance(value, str | bytes | int | float | Path):
        return quoted(value)
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def all_whole(values: Iterable[Any]) -> bool:
    """Tell whether these are whole numbers, one after the other."""
    items = items_of(values)
    return items is not None and all(map(is_whole, items))
