"""The spelling of the fields of a Screen in an address, both ways.

What cannot be read is a ValueError; whoever parses an address takes the default instead.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

from transformer.edits import EditError
from transformer.edits import parse as parse_edit
from transformer.hugging_face.chat.chatting import MOST as MOST_TURNS
from transformer.hugging_face.chat.chatting import Turn, turn_of
from transformer.hugging_face.chat.chatting import spell as spell_turn
from transformer.hugging_face.hub import is_hub_name

MOST_EDITS = 200
"""In an address; browsers and servers cut longer ones."""
MOST_HEADS = 300
Head = tuple[str, int, int]
MOST_IDS = 400
"""Tokens of a prefix or a branch in an address: with the phrases below about 7,000 characters, and
a proxy takes 8,000 (nginx, large_client_header_buffers)."""
MOST_OF_PHRASES = 64
"""Tokens of all phrases of one field of an address."""


@dataclass(frozen=True)
class Spelling:
    """The spelling of a value in an address, both ways. read: raises ValueError."""

    read: Callable[[str], Any]
    write: Callable[[Any], str]
    has_entries: bool = False
    """The value is a tuple of (name, value) pairs, each spelled as "field.name=value"."""


def _read_name(text: str) -> str:
    if not text:
        raise ValueError("a name is not empty")
    return text


def _read_hub_name(text: str) -> str:
    if not is_hub_name(text):
        raise ValueError(f"{text[:20]!r} is not a name such as some/model")
    return text


def _read_whole(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ValueError(f"{text[:20]!r} is not a whole number")
    return int(text)


def _read_number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is finite")
    return number


def _read_yes(text: str) -> bool:
    if text != "yes":
        raise ValueError("a switch is on or not mentioned")
    return True


def _read_wholes(text: str) -> tuple[int, ...]:
    return () if text == "none" else tuple(map(_read_whole, text.split(",")))


def _read_pair(text: str) -> tuple[int, int]:
    first, second = map(_read_whole, text.split(","))
    return first, second


def _read_pins(text: str) -> tuple[str, ...]:
    pins = tuple(text.split(","))
    if not all(re.fullmatch(r"[qk][0-9]{1,9}", pin) for pin in pins):
        raise ValueError("a pin is a row, such as q5, or a column, such as k3")
    return pins


def _read_ids(text: str) -> tuple[int, ...]:
    ids = tuple(map(_read_whole, text.split(".")))
    if len(ids) > MOST_IDS:
        raise ValueError(f"more than {MOST_IDS} tokens")
    return ids


def _write_ids(ids: tuple[int, ...]) -> str:
    return ".".join(map(str, ids))


def _read_phrases(text: str) -> tuple[tuple[int, ...], ...]:
    phrases = tuple(dict.fromkeys(map(_read_ids, text.split(","))))
    if sum(map(len, phrases)) > MOST_OF_PHRASES:
        raise ValueError(f"phrases of more than {MOST_OF_PHRASES} tokens")
    return phrases


def _write_phrases(phrases: tuple[tuple[int, ...], ...]) -> str:
    return ",".join(map(_write_ids, phrases))


def _read_heads(text: str) -> tuple[Head, ...]:
    return tuple(map(_head, text.split(",")[:MOST_HEADS]))


def _head(text: str) -> Head:
    match = re.fullmatch(r"(.+)\.([0-9]{1,9})\.([0-9]{1,9})", text)
    if match is None:
        raise ValueError(f"{text[:20]!r} is not a head, such as cross.2.3")
    kind, layer, head = match.groups()
    return unquote(kind), int(layer), int(head)


def _write_heads(heads: tuple[Head, ...]) -> str:
    return ",".join(f"{quote(kind, safe='')}.{layer}.{head}" for kind, layer, head in heads)


def _read_edits(text: str) -> tuple[str, ...]:
    """Return the edits that can be read: one that cannot takes no other with it."""
    edits = (_edit(unquote(each)) for each in text.split("/")[:MOST_EDITS])
    return tuple(dict.fromkeys(filter(None, edits)))


def _edit(text: str) -> str | None:
    try:
        return str(parse_edit(text))
    except EditError:
        return None


def _write_edits(edits: tuple[str, ...]) -> str:
    """Some hold a sentence: what stands between edits, and what says so, is written otherwise."""
    return "/".join(each.replace("%", "%25").replace("/", "%2F") for each in edits)


def _read_turns(text: str) -> tuple[Turn, ...]:
    turns = tuple(turn_of(unquote(each)) for each in text.split("/"))
    if len(turns) > MOST_TURNS:
        raise ValueError("a conversation of too many turns")
    return turns


def _write_turns(turns: tuple[Turn, ...]) -> str:
    return _write_edits(tuple(map(spell_turn, turns)))


def _commas(values: tuple[object, ...]) -> str:
    return ",".join(map(str, values)) or "none"


def one_of(*names: str) -> Spelling:
    """One of a few names."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"{text[:20]!r} is none of {', '.join(names)}")
        return text

    return Spelling(read, str)


TEXT = Spelling(str, str)
NAME = Spelling(_read_name, str)
HUB_NAME = Spelling(_read_hub_name, str)
FORMER = {"experiment": "sweep"}
"""The name of a page by each one that it had: links go on meaning what they meant."""
PAGE = Spelling(lambda text: FORMER.get(text, _read_name(text)), str)
WHOLE = Spelling(_read_whole, str)
NUMBER = Spelling(_read_number, lambda value: repr(float(value)).removesuffix(".0"))
YES = Spelling(_read_yes, lambda value: "yes")
HEADS = Spelling(_read_heads, _write_heads)
"""Heads: kind, layer and number of each."""
WHOLES = Spelling(_read_wholes, _commas)
PAIR = Spelling(_read_pair, _commas)
PINS = Spelling(_read_pins, _commas)
IDS = Spelling(_read_ids, _write_ids)
"""Token ids: "12.45"."""
PHRASES = Spelling(_read_phrases, _write_phrases)
"""Phrases of token ids: "12.45,7"."""
EDITS = Spelling(_read_edits, _write_edits)
TURNS = Spelling(_read_turns, _write_turns)
NUMBERS = replace(NUMBER, has_entries=True)
NAMES = replace(NAME, has_entries=True)
