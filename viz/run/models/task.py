"""A task: what a model is to do for a request, as plain values that can be sent elsewhere.

It names a checkpoint and no file, and has no number of files: another machine has others.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from transformer.decoding.constraints import Constraints
from transformer.refusal import Refusal, quoted

FIELDS: dict[str, Any] = {
    "checkpoint": str,
    "text": str,
    "method": (str, type(None)),
    "options": list,
    "languages": list,
    "edits": list,
    "pair": str,
    "prefix": list,
    "force": list,
    "forbid": list,
    "target": (list, type(None)),
}
"""Name in JSON -> what stands there."""


FREE = Constraints()


class TaskError(Refusal, ValueError):
    """Text that is no task."""


@dataclass(frozen=True)
class Task:
    """A text, and what a model does with it: it may write, and is recorded."""

    checkpoint: str
    """The name of its folder among the shipped ones."""
    text: str
    languages: tuple[str | None, str | None] = (None, None)
    edits: tuple[str, ...] = ()
    pair: str = ""
    method: str | None = None
    """The name of a decoding method; None: nothing is written."""
    options: tuple[tuple[str, float], ...] = ()
    constraints: Constraints = FREE
    target: tuple[int, ...] | None = None
    """The ids that it reads or judges in place of what it would write; None: there are none."""

    def to_json(self) -> str:
        """Spell it, for `task_of`."""
        values = asdict(self)
        decided = values.pop("constraints")
        return json.dumps({**values, **decided})


def task_of(values: Any) -> Task:
    """Return the task of JSON values. Raises TaskError."""
    if not isinstance(values, dict) or any(
        not isinstance(values.get(name, ...), kind) for name, kind in FIELDS.items()
    ):
        raise TaskError("The task has other fields than a task has.")
    try:
        task = Task(
            checkpoint=values["checkpoint"],
            text=values["text"],
            method=values["method"],
            options=tuple((_of(str, name), _number(it)) for name, it in values["options"]),
            languages=_pair(values["languages"]),
            edits=tuple(_of(str, each) for each in values["edits"]),
            pair=values["pair"],
            constraints=Constraints(
                _ids(values["prefix"]), _phrases(values["force"]), _phrases(values["forbid"])
            ),
            target=None if values["target"] is None else _ids(values["target"]),
        )
    except (TypeError, ValueError) as error:
        raise TaskError(f"The task has values of another kind: {quoted(str(error))}.") from error
    name = task.checkpoint
    if not name or name.startswith(".") or Path(name).name != name or "\\" in name or "\0" in name:
        raise TaskError(f"{quoted(name)} is not the name of a checkpoint's folder.")
    return task


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise TypeError(f"{quoted(value)} where {kind.__name__} stands")
    return value


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise TypeError(f"{quoted(value)} for a number")
    return value


def _pair(values: list[Any]) -> tuple[str | None, str | None]:
    one, two = (None if each is None else _of(str, each) for each in values)
    return one, two


def _ids(values: Any) -> tuple[int, ...]:
    return tuple(_of(int, each) for each in _of(list, values))


def _phrases(values: list[Any]) -> tuple[tuple[int, ...], ...]:
    return tuple(map(_ids, values))
