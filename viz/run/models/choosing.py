"""The place where a checkpoint's model runs, as the operator has it."""

import time
from dataclasses import dataclass, field
from logging import getLogger
from threading import Lock

from transformer import Checkpoint
from transformer.checkpoint import shipped_path
from viz.run.line import Runner
from viz.run.models.elsewhere import Elsewhere
from viz.run.models.place import HERE, Models, ModelsError, Outcome, SilentModels, Task
from viz.run.settings import models_address, models_token, runs_here_instead

RESTS = 10.0
"""Seconds for which models elsewhere are not asked again, after they did not answer."""
_LOG = getLogger(__name__)


def models_for(checkpoint: Checkpoint) -> Models:
    """Return the place; models of others, and those that were opened by path, run here."""
    address = models_address()
    is_shipped = checkpoint.path == shipped_path(checkpoint.name)
    if not address or checkpoint.family.is_watched or not is_shipped:
        return HERE
    there = Elsewhere(address, models_token())
    return HereInstead(there) if runs_here_instead() else there


@dataclass
class _Rest:
    """The time until which each place is left alone, by `time.monotonic`, in s; and why it is."""

    until: dict[str, tuple[float, str]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


_REST = _Rest()


@dataclass(frozen=True)
class HereInstead:
    """Models elsewhere; while they do not answer, this process."""

    there: Elsewhere

    def run(self, task: Task, checkpoint: Checkpoint, runner: Runner) -> Outcome:
        """Ask there; what they do not do is done here, and the outcome says why.

        Only silence rests the address: models that refuse a task may well do the next one.
        """
        address = self.there.address
        with _REST.lock:
            until, why = _REST.until.get(address, (0.0, ""))
        if time.monotonic() >= until:
            try:
                return self.there.run(task, checkpoint, runner)
            except SilentModels as error:
                why = f"{error.state}: this process computed the answer in their place."
                with _REST.lock:
                    _REST.until[address] = time.monotonic() + RESTS, why
            except ModelsError as error:
                why = f"{error} This process computed the answer in their place."
            _LOG.warning("The models at %s did not do a task.", address)
        return HERE.run(task, checkpoint, runner)._replace(instead=why)
