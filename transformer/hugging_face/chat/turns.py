"""The turns of a conversation before a text: who spoke, and what was said."""

from collections.abc import Iterable, Mapping

from transformer.inputs import InputError
from transformer.refusal import quoted

Turn = tuple[str, str]
"""A role and a text."""
ROLES = ("user", "assistant", "system")
MOST = 100


def turn_of(text: str) -> Turn:
    """Read "user:TEXT". Raises InputError.

    >>> turn_of("assistant: It rains.")
    ('assistant', 'It rains.')
    """
    role, colon, words = text.partition(":")
    if not colon or role.strip() not in ROLES:
        raise InputError(f"{quoted(text)} is not a turn: write {':TEXT, '.join(ROLES)}:TEXT.")
    return role.strip(), words.removeprefix(" ")


def spell(turn: Turn) -> str:
    """Write a turn as `turn_of` reads it."""
    return ": ".join(turn)


def turns_of(messages: Iterable[Mapping[str, str]]) -> tuple[Turn, ...]:
    """Read messages as `apply_chat_template` takes them. Raises InputError."""
    turns = []
    for each in messages:
        message = each if isinstance(each, Mapping) else {}
        role, text = message.get("role"), message.get("content")
        if role not in ROLES or not isinstance(text, str):
            raise InputError(
                "A message is a dict with a role, one of "
                f"{', '.join(ROLES)}, and a content that is text: {quoted(str(each))} is none."
            )
        turns.append((role, text))
    if len(turns) > MOST:
        raise InputError(f"A conversation has at most {MOST} earlier turns; this one {len(turns)}.")
    return tuple(turns)
