"""The one order of arguments, and the public functions that are held against it."""

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, get_overloads

ORDER = (
    *("checkpoint", "module", "inputs", "tokens", "decoding", "recording", "evidence", "survey"),
    *("text", "sentences", "target", "targets", "name", "kind", "layer", "head", "heads"),
    *("query", "key", "word", "other", "lens", "words"),
    *("method", "edits", "second", "prefix", "force", "forbid"),
    *("show", "sort", "path", "step", "metric", "numbers", "theme", "height", "live"),
    *("batch", "on_step", "on_token"),
)
"""What a public function has of these, it has in this order: what is looked at, its text, the place
in it and how it is read; what is changed; how it is drawn; how it runs."""
FORMER = ("source",)
"""Names that no public function has any more."""


def signatures(public: ModuleType) -> Iterator[tuple[str, list[str]]]:
    """Yield each public function of a package, with its parameters; every overload by itself."""
    for name in vars(public)["__all__"]:
        function: Callable[..., Any] = getattr(public, name)
        if inspect.isfunction(function):
            for each in get_overloads(function) or [function]:
                yield name, list(inspect.signature(each).parameters)
