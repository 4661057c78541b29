"""The options of a decoding method: known names, numbers within limits."""

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from transformer.decoding.method import Method, Option
from transformer.inputs import InputError
from transformer.refusal import Refusal, quoted

MAX_LEN = Option("max_len", "Length", 1, 1, 2**31 - 1)
"""Taken by every method, in tokens."""


class OptionError(InputError, Refusal, ValueError):
    """An option that a method does not have, or that is out of its range."""


def checked_options(method: Method, values: Mapping[str, Any]) -> dict[str, Any]:
    """The options as their methods take them. Raises OptionError in a sentence.

    None is as if it had not been said.
    """
    options = {each.name: each for each in (MAX_LEN, *method.options)}
    options |= {MAX_LEN.name: MAX_LEN}
    for name in values:
        if name not in options:
            raise OptionError(
                f"no option {quoted(name)} of this method; its options: {', '.join(options)}."
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
