"""The defaults of a checkpoint for decoding, as its folder says them."""

from typing import Any

from transformer.decoding.decode import decoding_methods
from transformer.decoding.options import OptionError, checked_option
from transformer.refusal import quoted


def checked_defaults(values: Any) -> dict[str, dict[str, float]]:
    """method -> option -> value, as `About.decoding` has it. Raises OptionError in a sentence.

    >>> checked_defaults({"beam": {"length_penalty": 2}})
    {'beam': {'length_penalty': 2.0}}
    """
    methods, result = decoding_methods(), dict[str, dict[str, float]]()
    for name, own in _fields(values, "decoding", "methods").items():
        if name not in methods:
            names = ", ".join(methods)
            raise OptionError(f"decoding: unknown method {quoted(name)}; known: {names}.")
        options = {each.name: each for each in methods[name].options}
        result[name] = {}
        for option, value in _fields(own, f"decoding.{name}", "options").items():
            if option not in options:
                names = ", ".join(options) or "none"
                raise OptionError(
                    f"decoding.{name}: no option {quoted(option)} of this method; its options: "
                    f"{names}."
                )
            result[name][option] = checked_option(options[option], value)
    return result


def _fields(values: Any, name: str, of: str) -> dict[str, Any]:
    if not isinstance(values, dict):
        raise OptionError(f"{name} must have {of} by their names, not {quoted(values)}.")
    return values
