"""An exhibit that takes time: it is made of a study's value, and made anew as that grows."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic

from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.run.study import Study, Value
from viz.run.work import finish


@dataclass(frozen=True, eq=False)
class Growth(Generic[Value]):
    """An exhibit of a study: a screen shows it as far as it is, and all else waits for the end."""

    title: str
    """Its name, while the text of the page is not written."""
    study: Study[Value]
    exhibit: Callable[[Value], Exhibit]
    """Return the exhibit of a value. Raises NothingLeft where there is nothing to see in it."""
    is_main: bool = True
    """True: everybody looks at it, as at such an exhibit."""


def finished(exhibits: Mapping[str, Exhibit | Growth[Any]]) -> dict[str, Exhibit]:
    """The same by name, each study run to its end. Raises what the studies raise."""
    whole = {}
    for name, each in exhibits.items():
        with suppress(NothingLeft):
            whole[name] = each.exhibit(finish(each.study)) if isinstance(each, Growth) else each
    return whole
