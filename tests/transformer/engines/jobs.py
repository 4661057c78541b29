"""Jobs that need no model, as a worker anywhere can import them."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow
import torch

from transformer.corpus.shards import Shard, write_part
from transformer.engines.engine import Done, Work
from transformer.inputs import InputError

LEFT = ("a", "b", "hang 1", "hang 2", "c")
"""Lines of which the last three are not done when two workers are at work on the third."""


@dataclass(frozen=True)
class Lengths:
    """Writes the length of each line. A line that begins with the name of an act is acted upon."""

    folder: Path
    checkpoint: Path = Path("checkpoints/copy")
    opens: bool = True

    def open(self) -> Work:
        if not self.opens:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.do

    def do(self, shard: Shard) -> Done:
        for line in shard.lines:
            name, _, rest = line.partition(" ")
            if name in ACTS:
                ACTS[name](self.folder, rest)
        numbers = range(shard.first, shard.first + len(shard.lines))
        columns = {"line": list(numbers), "length": list(map(len, shard.lines))}
        write_part(pyarrow.table(columns), self.folder, shard.number)
        about = os.getpid(), torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")
        return Done(shard.number, len(shard.lines), {"write": 0.0}, result=about)


def is_first(mark: Path) -> bool:
    if mark.exists():
        return False
    mark.touch()
    return True


def kill(folder: Path, rest: str) -> None:
    """End the worker, every time or once."""
    if is_first(folder / ".killed") or rest != "once":
        os.kill(os.getpid(), signal.SIGKILL)


def hang(folder: Path, rest: str) -> None:
    """Take half a minute, the first time."""
    if is_first(folder / f".hung-{rest}"):
        time.sleep(30)


def refuse(folder: Path, rest: str) -> None:
    raise InputError(f"{rest} cannot be read.")


def fail(folder: Path, rest: str) -> None:
    raise ZeroDivisionError(rest)


ACTS: dict[str, Callable[[Path, str], None]] = {
    **{"kill": kill, "hang": hang, "refuse": refuse, "fail": fail}
}
