"""A place where models run, and what comes back from there."""

from typing import Protocol

from transformer import Checkpoint, Decoding, Recording
from transformer.device import DeviceError
from transformer.refusal import Refusal
from viz.run.batches import Runner
from viz.run.models.task import Task

Outcome = tuple[Decoding | None, Recording]
"""The decoding, where something was written, and the recording."""


class ModelsError(DeviceError, Refusal):
    """Models elsewhere that did not do what was asked; the message says what to do."""


class Models(Protocol):
    """A place where models run."""

    def run(self, task: Task, checkpoint: Checkpoint, runner: Runner) -> Outcome:
        """Decode first, record once.

        checkpoint: this process's own, of the same name and weights. runner: says when, hears what
        is written, and ends it. Raises InputError, CheckpointError, DeviceError, and what the
        runner raises.
        """
        ...
