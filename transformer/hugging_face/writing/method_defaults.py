"""Settings for writing that are options of a decoding method here, and the longest text."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple

# Values that a setting for writing may have: each tells whether one can be followed.

IsLegal = Callable[[Any, int], bool]
"""(value, size of the vocabulary) -> whether it can be followed."""


def is_count(value: Any, vocab_size: int) -> bool:
    """A whole number, 0 or more."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value: Any, vocab_size: int) -> bool:
    """A finite number of a size that no sum suffers from."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < 1e6 and isfinite(value)


def is_penalty(value: Any, vocab_size: int) -> bool:
    """A factor above 0."""
    return is_number(value, vocab_size) and value > 0


def is_flag(value: Any, vocab_size: int) -> bool:
    """True or False."""
    return isinstance(value, bool)


def is_id(value: Any, vocab_size: int) -> bool:
    """The id of a token."""
    return is_count(value, vocab_size) and value < vocab_size


def are_numbers(value: Any, vocab_size: int) -> bool:
    """Ids, be they in the vocabulary or not: some folders say -1 for none."""
    numbers = value if isinstance(value, list) else [value]
    return all(isinstance(each, int) and not isinstance(each, bool) for each in numbers)


def are_ids(value: Any, vocab_size: int) -> bool:
    """A list of ids."""
    return isinstance(value, list) and all(is_id(each, vocab_size) for each in value)


def is_one_id(value: Any, vocab_size: int) -> bool:
    """An id, or a list of one."""
    ids = value if isinstance(value, list) else [value]
    return len(ids) == 1 and is_id(ids[0], vocab_size)


def is_id_or_ids(value: Any, vocab_size: int) -> bool:
    """An id, or a list of them."""
    return is_id(value, vocab_size) or are_ids(value, vocab_size)


def are_runs(value: Any, vocab_size: int) -> bool:
    """A list of runs of ids, none of them empty."""
    return isinstance(value, list) and all(each and are_ids(each, vocab_size) for each in value)


def are_biases(value: Any, vocab_size: int) -> bool:
    """Runs of ids, each with what is added to the logit of its last one."""
    return isinstance(value, list) and all(
        isinstance(each, list)
        and len(each) == 2
        and are_runs([each[0]], vocab_size)
        and is_number(each[1], vocab_size)
        for each in value
    )


def is_decay(value: Any, vocab_size: int) -> bool:
    """The number of tokens after which the end grows likelier, and the factor of each further."""
    is_two = isinstance(value, list) and len(value) == 2
    return is_two and is_count(value[0], vocab_size) and is_penalty(value[1], vocab_size)


# Settings for writing that are options of a decoding method here: what it starts with.
#
# Beam search of the library divides by a power of the length itself, so a folder that says
# anything of its beams has `plain_length` too; and where it says nothing of a number, its own is
# meant.

MOST_BEAMS = 16
"""A folder may not start more of them; a person may."""
LONGEST = 1000
"""The most tokens that sampling takes for its option."""
STOPS: Mapping[Any, int] = {False: 0, True: 1, "never": 2}
"""early_stopping -> the option of the same name."""


def _is_size(value: Any, vocab_size: int) -> bool:
    return is_count(value, vocab_size) and 1 <= value <= MOST_BEAMS


def _is_exponent(value: Any, vocab_size: int) -> bool:
    return is_number(value, vocab_size) and abs(value) <= 100


def _stops(value: Any, vocab_size: int) -> bool:
    return is_flag(value, vocab_size) or value == "never"


def _is_temperature(value: Any, vocab_size: int) -> bool:
    return is_number(value, vocab_size) and 1e-4 <= value <= 1e4


def _is_rank(value: Any, vocab_size: int) -> bool:
    return is_count(value, vocab_size) and value < 2**31


def _is_share(value: Any, vocab_size: int) -> bool:
    return is_number(value, vocab_size) and 1e-9 <= value <= 1


def _is_least(value: Any, vocab_size: int) -> bool:
    return is_number(value, vocab_size) and 0 <= value <= 1


OF_BEAMS = {"num_beams": _is_size, "length_penalty": _is_exponent, "early_stopping": _stops}
OF_DRAWING = {
    **{"do_sample": is_flag, "temperature": _is_temperature, "top_k": _is_rank},
    **{"top_p": _is_share, "min_p": _is_least},
}
OF_METHODS = OF_BEAMS | OF_DRAWING
"""Name -> whether a value can be followed."""


def method_defaults(settings: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """method -> option -> value, as `About.decoding` has it. settings: legal ones.

    >>> method_defaults({"num_beams": 5, "length_penalty": 2.0})["beam"]
    {'length_penalty': 2.0, 'early_stopping': 0, 'plain_length': 1, 'beam_size': 5}
    >>> method_defaults({"do_sample": True, "top_p": 0.9})["sample"]
    {'temperature': 1.0, 'top_k': 50, 'top_p': 0.9, 'min_p': 0.0}
    """
    result: dict[str, dict[str, float]] = {}
    beams = {name: settings[name] for name in OF_BEAMS if name in settings}
    size = beams.pop("num_beams", 1)
    if beams or size > 1:
        result["beam"] = {
            "length_penalty": float(beams.get("length_penalty", 1.0)),
            "early_stopping": STOPS[beams.get("early_stopping", False)],
            "plain_length": 1,
            **({"beam_size": size} if size > 1 else {}),
        }
    drawing = {name: settings[name] for name in OF_DRAWING if name in settings}
    if drawing.pop("do_sample", False) or drawing:
        result["sample"] = {
            "temperature": float(drawing.get("temperature", 1.0)),
            "top_k": drawing.get("top_k", 50),
            "top_p": float(drawing.get("top_p", 1.0)),
            "min_p": float(drawing.get("min_p", 0.0)),
        }
    if "max_new_tokens" in settings:  # of the others the model itself ends the text there
        result.setdefault("sample", {})["max_len"] = min(settings["max_new_tokens"], LONGEST)
    return result


# The longest text that may be written: by the model's positions, its folder, and this project.

MOST_WRITTEN = 128
"""Tokens that a decoder-only model writes at most: few of them stop by themselves."""


def _is_length(value: Any, vocab_size: int) -> bool:
    return is_count(value, vocab_size) and value > 0


LENGTHS: Mapping[str, IsLegal] = {"max_length": _is_length, "max_new_tokens": _is_length}
"""Name -> whether a value can be followed."""


class Room(NamedTuple):
    """The tokens that may be written, and who says so."""

    n_tokens: int
    is_cut: bool
    """True: the text ends there by nobody's wish."""


def room(
    settings: Mapping[str, Any],
    n_source: int,
    n_starts: int,
    longest: int,
    most: int = MOST_WRITTEN,
) -> Room:
    """Return the room after a source, or a prompt, of n_source tokens.

    n_starts: what a decoder beside an encoder is fed first; 0: there is none. longest: tokens that
    the model has positions for.
    """
    n_begun = n_starts or n_source
    n_tokens = longest - n_begun + 1  # the last one is not read
    own = _own_limit(settings, n_begun, n_starts)
    if own is not None and own < n_tokens:
        n_tokens = own
    usual = most
    if n_starts:
        usual = 2 * n_source + 10
        least = max(settings.get("min_length", 0), settings.get("min_new_tokens", 0))
        if least:  # such a text is no translation, as long as its source
            usual = max(usual, n_tokens if own is not None else least + usual)
    result = min(n_tokens, usual)
    return Room(result, own is None or result < own)


def _own_limit(settings: Mapping[str, Any], n_begun: int, n_starts: int) -> int | None:
    """Return how many tokens its folder lets be written; None: it says nothing that leaves any."""
    if "max_new_tokens" in settings:
        own = settings["max_new_tokens"] - max(0, n_starts - 1)  # a forced one counts as written
    elif "max_length" in settings:
        own = settings["max_length"] - n_begun
    else:
        return None
    return own if own > 0 else None
