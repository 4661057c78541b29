"""Settings for writing that are options of a decoding method here: what it starts with.

Beam search of the library divides by a power of the length itself, so a folder that says anything
of its beams has `plain_length` too; and where it says nothing of a number, its own is meant.
"""

from collections.abc import Mapping
from typing import Any

from transformer.hugging_face.writing.values import is_count, is_flag, is_number

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
