"""The declaration of a checkpoint format, and the defaults of a checkpoint for decoding."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint import Checkpoint, Description
from transformer.decoding.decode import decoding_methods
from transformer.decoding.method import OptionError, checked_option
from transformer.inspection.tensor_statistics import Contents
from transformer.refusal import quoted

# The declaration of a checkpoint format: how to tell it, describe it, and open it.


@dataclass(frozen=True)
class Format:
    """One way in which people keep trained models: a folder, or a file."""

    name: str
    title: str
    fits: Callable[[Path], bool]
    """Tell whether a path looks like one, by its files' names and a small configuration."""
    describe: Callable[[Path], Description]
    """Describe it before weights are read. Raises CheckpointError."""
    load: Callable[[Path, torch.device], Checkpoint]
    """Open it, ready to run. Raises CheckpointError; whatever it holds, none of it is executed."""
    files: Callable[[Path], Sequence[Path]]
    """The files that it is read from: once one of them changes, it is another checkpoint."""
    contents: Callable[[Path], Contents] | None = None
    """All that can be read of it, whole or damaged, for inspecting. Raises CheckpointError.

    None: what `load` makes of it, for a format whose models have a ModelConfig.
    """


# The defaults of a checkpoint for decoding, as its folder says them.


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
