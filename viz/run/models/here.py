"""Models in this process."""

from dataclasses import dataclass
from typing import Any

from transformer import Checkpoint, decode, record
from transformer.decoding import decoding_methods
from viz.run.batches import Runner
from viz.run.models.place import Outcome
from viz.run.models.task import Task


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
            choices = (runner.hear, task.edits, runner.check, runner.run(checkpoint.model))
            decoding = decode(checkpoint, task.text, task.method, *choices, **options)
            target, decoding = decoding.target, decoding.without_distributions()
        with runner.turn(checkpoint.model):
            return Outcome(decoding, record(checkpoint, task.text, target, task.edits))


def _decided(task: Task) -> dict[str, Any]:
    """The constraints that there are, by the names of `decode`'s arguments."""
    every = vars(task.constraints)
    return {name: value for name, value in every.items() if value}


HERE = Here()
