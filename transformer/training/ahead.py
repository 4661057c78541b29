"""Epochs of batches made ahead, each by a process of its own.

A GPU takes the batches of a small model faster than one process draws and splits their sentences:
690,000 tokens a second on an H200, where a core of the CPU that it was measured on makes 360,000.
"""

import multiprocessing
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from multiprocessing.connection import Connection

import torch

from transformer.training.batches import Batch

MOST = 8
"""Processes at once; each keeps an epoch."""
Epochs = Callable[[int], Iterable[Batch]]
"""The batches of an epoch, which only its number decides."""


def n_processes(device: torch.device) -> int:
    """The processes worth having beside the one that trains: none where a CPU does that, too."""
    is_able = device.type == "cuda" and "fork" in multiprocessing.get_all_start_methods()
    return min(MOST, (os.cpu_count() or 1) - 1) if is_able else 0


def epochs(batches: Epochs, first: int, n: int) -> Iterator[tuple[int, Iterable[Batch]]]:
    """The epochs from the first one on with their numbers, for ever; n: processes that make them.

    Raises what an epoch raises, when it is its turn.
    """
    if not n:
        yield from ((epoch, batches(epoch)) for epoch in count(first))
    numbers, works = count(first), deque[_Work]()
    try:
        while True:
            while len(works) < n:
                works.append(_Work(batches, next(numbers)))
            work = works.popleft()
            yield work.epoch, work.result()
    finally:
        for work in works:
            work.process.kill()


class _Work:
    """A process that makes one epoch, hands it over and ends."""

    def __init__(self, batches: Epochs, epoch: int) -> None:
        # Forked: it has the data already, and never touches the GPU.
        context = multiprocessing.get_context("fork")
        self.epoch = epoch
        self.end, end = context.Pipe(duplex=False)
        self.process = context.Process(target=_make, args=(batches, epoch, end), daemon=True)
        self.process.start()
        end.close()

    def result(self) -> list[Batch]:
        arrays = self.end.recv()
        self.process.join()
        if isinstance(arrays, Exception):
            raise arrays
        return [Batch(tuple(map(torch.from_numpy, ids)), torch.from_numpy(y)) for ids, y in arrays]


def _make(batches: Epochs, epoch: int, end: Connection) -> None:
    # As arrays: tensors would be handed over by files that are gone with the process.
    try:
        made = batches(epoch)
        end.send([([ids.numpy() for ids in b.inputs], b.target_output.numpy()) for b in made])
    except Exception as error:
        end.send(error)
