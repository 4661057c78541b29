"""A place where models run, and what comes back from there."""

from typing import NamedTuple, Protocol

from transformer import Checkpoint, Decoding, Recording
from transformer.device import DeviceError
from transformer.refusal import Refusal
from viz.run.batches import Runner
from viz.run.models.task import Task


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
