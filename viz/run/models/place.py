"""A place where models run, here or elsewhere, and what it is asked, as plain values."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from transformer import Checkpoint, Decoding, Recording, decode, record
from transformer.decoding import decoding_methods
from transformer.decoding.constraints import Constraints
from transformer.device import DeviceError
from transformer.refusal import Refusal, quoted
from viz.run.line import Runner

# A task: what a model is to do for a request, as plain values that can be sent elsewhere.
#
# It names a checkpoint and no file, and has no number of files: another machine has others.

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


# A place where models run, and what comes back from there.


class Outcome(NamedTuple):
    """A decoding and a recording."""

    decoding: Decoding | None
    """None: nothing was written."""
    recording: Recording
    instead: str = ""
    """The reason, in a sentence, why this process did what others were asked for; or empty."""


class ModelsError(DeviceError, Refusal):
    """Models elsewhere that did not do what was asked; the message says what to do."""


class SilentModels(ModelsError):
    """Models elsewhere that do not answer. state: the sentence about them, without its end."""

    def __init__(self, state: str) -> None:
        super().__init__(f"{state}: once they do, the same text is answered.")
        self.state = state


class Models(Protocol):
    """A place where models run."""

    def run(self, task: Task, checkpoint: Checkpoint, runner: Runner) -> Outcome:
        """Decode first, record once.

        checkpoint: this process's own, of the same name and weights. runner: says when, hears what
        is written, and ends it. Raises InputError, CheckpointError, DeviceError, and what the
        runner raises.
        """
        ...


# Models in this process.


@dataclass(frozen=True)
class Here:
    """This process: texts of one model share its steps."""

    def run(self, task: Task, checkpoint: Checkpoint, runner: Runner) -> Outcome:
        """Decode and record, each when it is its turn."""
        decoding, ids = None, task.target
        target = None if ids is None else tuple(map(checkpoint.tokenizer.token, ids))
        if task.method is not None:
            options: dict[str, Any] = {**dict(task.options), **_decided(task)}
            if task.method in (methods := decoding_methods()) and methods[task.method].needs_target:
                options["target"] = target
            options |= {"on_token": runner.hear, "on_step": runner.check}
            options |= {"edits": task.edits, "run": runner.run(checkpoint.model)}
            decoding = decode(checkpoint, task.text, task.method, **options)
            target, decoding = decoding.target, decoding.without_distributions()
        with runner.turn(checkpoint.model):
            return Outcome(decoding, record(checkpoint, task.text, target, task.edits))


def _decided(task: Task) -> dict[str, Any]:
    """The constraints that there are, by the names of `decode`'s arguments."""
    every = vars(task.constraints)
    return {name: value for name, value in every.items() if value}


HERE = Here()
