"""Typed text -> token ids that a model accepts, or a sentence that says why not."""

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

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
