"""Engines of this machine: in this process, or in several with a model each."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

import torch

from transformer.corpus.shards import Shard
from transformer.engines.engine import (
    ALONE,
    Death,
    Done,
    EngineError,
    Job,
    Report,
    Resources,
    Work,
    attempt,
    do_all,
)

# Processes of this machine, each with its own model and the same number of threads.

PATIENCE = 0.5
"""Seconds in which workers that are to end take their drafts away."""
THREADS = "OMP_NUM_THREADS"


@dataclass(frozen=True)
class Processes:
    """Processes of this machine."""

    name: str = "processes"
    title: str = "--jobs processes of this machine"

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Start the processes, and give each a shard whenever it is ready."""
        if resources.address:
            raise EngineError("Processes are of this machine: leave out --address.")
        yield from do_all(_Processes(job, resources.threads), shards, resources.jobs)


@dataclass
class _Processes:
    """A process and the end of its pipe, each."""

    job: Job
    threads: int
    at: dict[Connection, BaseProcess] = field(default_factory=dict)

    def start(self) -> Connection:
        # Not a fork: threads of torch and locks that they hold would be copied half-way.
        context = get_context("spawn")
        end, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(self.job, theirs, self.threads), daemon=True)
        with _inherited(self.threads):
            process.start()
        theirs.close()  # so that this end hears when the process ends
        self.at[end] = process
        return end

    def give(self, worker: Connection, shard: Shard) -> None:
        with suppress(OSError):  # it has ended, which the next report says
            worker.send(shard)

    def report(self) -> tuple[Connection, Report]:
        end: Any = wait(list(self.at))[0]
        try:
            return end, end.recv()
        except (EOFError, OSError):
            process = self.at.pop(end)
            process.join()
            end.close()
            return end, Death(_why(process.exitcode))

    def end(self) -> None:
        for process in self.at.values():
            process.terminate()
        last = time.monotonic() + PATIENCE
        for process in self.at.values():
            process.join(max(0, last - time.monotonic()))
            process.kill()
            process.join()
        for end in self.at:
            end.close()


def _why(code: int | None) -> str:
    return f"the last by signal {-code}" if code is not None and code < 0 else f"exit code {code}"


@contextmanager
def _inherited(threads: int) -> Iterator[None]:
    """Give a process that is started here its threads, and keep an interrupt from it.

    Ctrl-C in a shell interrupts all processes; this one ends the others, so that each can take its
    draft away.
    """
    blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
    before = os.environ.get(THREADS)
    os.environ[THREADS] = str(threads)  # read when numpy and torch are imported
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else set()
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS]
        else:
            os.environ[THREADS] = before
        if blocks:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _serve(job: Job, end: Connection, threads: int) -> None:
    """Run a worker: open the checkpoint, then do one shard after the other."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    work: list[Work] = []
    report = attempt(lambda: work.append(job.open()))
    try:
        while True:
            end.send(report)
            shard = end.recv()
            report = attempt(partial(work[0], shard))
    except (EOFError, OSError):  # whoever asked has ended
        return


def _end_with_parent() -> None:
    """End when the parent does, even by a kill: its successor does the same shards anew."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


PROCESSES_ENGINE = Processes()


# In this process, one shard after the other.


@dataclass(frozen=True)
class Here:
    """This process."""

    name: str = "here"
    title: str = "in this process"

    def run(
        self, job: Job, shards: Sequence[Shard], resources: Resources = ALONE
    ) -> Iterator[Done]:
        """Do one after the other."""
        if resources.address or resources.jobs > 1:
            raise EngineError("The engine here is one process: leave out --jobs and --address.")
        if not shards:
            return
        threads = torch.get_num_threads()
        torch.set_num_threads(resources.threads)
        try:
            yield from map(job.open(), shards)
        finally:
            torch.set_num_threads(threads)


HERE_ENGINE = Here()


ENGINE = (
    PROCESSES_ENGINE,
    HERE_ENGINE,
)
