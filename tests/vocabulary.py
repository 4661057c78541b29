"""The one order of arguments, and the public functions that are held against it."""

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, get_overloads

ORDER = (
    *("checkpoint", "module", "recording", "decoding", "evidence", "survey"),
    *("text", "sentences", "target", "targets", "kind", "layer", "head", "heads"),
    *("word", "other", "lens", "words", "method", "edits", "second", "prefix", "force", "forbid"),
    *("theme", "height", "live", "batch", "on_step", "on_token"),
)
"""What a public function has of these, it has in this order: what is looked at, the text, the place
in it, how it is shown, what is changed, and how it runs."""
FORMER = ("source",)
"""Names that no public function has any more."""


def signatures(public: ModuleType) -> Iterator[tuple[str, list[str]]]:
    """Yield each public function of a package, with its parameters; every overload by itself."""
    for name in vars(public)["__all__"]:
        function: Callable[..., Any] = getattr(public, name)
        if inspect.isfunction(function):
            for each in get_overloads(function) or [function]:
                yield name, list(inspect.signature(each).parameters)
