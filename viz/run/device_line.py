"""The line for a device: one step of one piece of work at a time, in the order of their ranks."""

import atexit
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock

from torch import nn

from transformer.device import choose_device
from viz.run.line import Line

END, ENTERED, PREVIEW, WORK = -1, 0, 1, 2
"""Ranks: the end of the process, texts that were entered, texts that are being typed, work that
goes on for long."""
LONGEST_STEP = 5.0
"""Seconds that the end of the process waits for."""


@dataclass(frozen=True)
class DeviceLine:
    """Two lines: one for each step, and one for whole texts that share no batch."""

    steps: Line = field(default_factory=Line)
    """The line of steps: the batch of each model, one text that shares none, and long work."""
    texts: Line = field(default_factory=lambda: Line(patience=10.0))
    """The line of texts that share no batch."""


_lock = Lock()
_lines: defaultdict[str, DeviceLine] = defaultdict(DeviceLine)


def device_line(model: nn.Module | None = None) -> DeviceLine:
    """The one of the device that a model is on; None: of the device that models are loaded to."""
    weights = () if model is None else model.parameters()
    weight = next((each for each in weights if not each.is_meta), None)  # others lie on disk
    device = choose_device() if weight is None else weight.device
    with _lock:
        return _lines[str(device)]


@atexit.register
def _end() -> None:
    """Let nobody take a step any more: a thread within torch aborts a process that ends."""
    deadline = time.monotonic() + LONGEST_STEP

    def give_up(_: int) -> None:
        if time.monotonic() > deadline:
            raise TimeoutError

    with _lock:
        lines = list(_lines.values())
    for line in lines:
        with suppress(TimeoutError):
            line.steps.enter(END, give_up)
