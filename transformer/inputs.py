"""Typed text -> token ids that a model accepts, or a sentence that says why not."""

from collections.abc import Sequence
from typing import Any

from transformer.checkpoint import Checkpoint
from transformer.refusal import Refusal
from transformer.token import Token
from transformer.tokenizer import Side, TokenizerError
from transformer.vocabulary import source_side


class InputError(Refusal, ValueError):
    """Input that a model cannot take; the message says what to change."""


MAX_CHARACTERS = 20_000
"""Longer text is refused before it is split: no model here reads a tenth of it."""


def source_ids(checkpoint: Checkpoint, text: str) -> list[int]:
    """Token ids of a source text. Raises InputError when it is empty or too long."""
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
    checkpoint: Checkpoint, target: str | Sequence[Token] | None, n_source: int = 0
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
        ids = [token.id for token in target]
    if not ids:
        raise InputError("The target is empty.")
    taken = max(0, n_source - 1) if checkpoint.family.continues else 0
    return _checked(checkpoint, ids, "target", checkpoint.config.vocab_size, taken)


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
        piece = _piece(checkpoint, strange)
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


def _piece(checkpoint: Checkpoint, id: int) -> str:
    """Return the tokenizer's name of a token that the model lacks, or else the token's number."""
    try:
        return source_side(checkpoint.tokenizer).token(id).piece
    except (IndexError, KeyError):
        return f"<{id}>"
