"""Batches of nearly equal lengths, and epochs of them made ahead."""

import multiprocessing
import os
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection

import torch
from torch import Tensor

# Batches of nearly equal lengths, each about the same number of tokens.

Pair = tuple[Sequence[int], Sequence[int]]
"""Source ids and target ids, without the start token."""


IGNORED = -100
"""The value in target_output where nothing is predicted: torch's own ignore_index."""


@dataclass(frozen=True, eq=False)
class Batch:
    """The inputs of a model, and what it should have answered."""

    inputs: tuple[Tensor, ...]
    """Token ids, each [B, T]: of a translation source and target, of a generator the text."""
    target_output: Tensor
    """The tokens that positions should predict [B, T]; of a classifier the class [B]."""

    @property
    def n_tokens(self) -> int:
        """Positions computed, padding included."""
        return sum(ids.numel() for ids in self.inputs)

    @property
    def n_targets(self) -> int:
        """Predictions that count."""
        return int(self.target_output.ne(IGNORED).sum())

    def to(self, device: torch.device) -> "Batch":
        inputs = tuple(ids.to(device) for ids in self.inputs)
        return Batch(inputs, self.target_output.to(device))


def make_batch(pairs: Sequence[Pair], pad_id: int, bos_id: int) -> Batch:
    """Pad each side to its longest; the decoder reads the target one step behind."""
    targets = [target for _, target in pairs]
    read = pad([[bos_id, *target[:-1]] for target in targets], pad_id)
    source = pad([source for source, _ in pairs], pad_id)
    return Batch((source, read), pad(targets, IGNORED))


def bucketed(
    pairs: Sequence[Pair], tokens_per_batch: int, pad_id: int, bos_id: int, seed: int
) -> Iterator[Batch]:
    """One epoch of pairs: every pair once, in an order that only `seed` decides."""
    for group in grouped([(len(s), len(t)) for s, t in pairs], tokens_per_batch, seed):
        yield make_batch([pairs[i] for i in group], pad_id, bos_id)


def grouped(
    lengths: Sequence[tuple[int, ...]], tokens_per_batch: int, seed: int
) -> list[list[int]]:
    """Indices in groups of nearly equal lengths, each of about `tokens_per_batch` tokens.

    lengths: of every side of each item. Every index comes once.
    """
    rng = random.Random(seed)
    order = list(range(len(lengths)))
    rng.shuffle(order)
    # A stable sort keeps the shuffle within equal lengths, so that batches differ between epochs.
    # By the longer side first: so little is padded, even where there are few pairs to choose from.
    order.sort(key=lambda i: (max(lengths[i]), lengths[i]))
    groups: list[list[int]] = []
    longest: tuple[int, ...] = ()
    for i in order:
        grown = tuple(map(max, zip(longest, lengths[i], strict=True))) if longest else lengths[i]
        if not groups or (len(groups[-1]) + 1) * sum(grown) > tokens_per_batch:
            groups.append([])
            grown = lengths[i]
        longest = grown
        groups[-1].append(i)
    rng.shuffle(groups)
    return groups


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> Tensor:
    """Rows as one tensor [B, T], the shorter ones filled up at their ends."""
    longest = max(map(len, rows))
    return torch.tensor([[*ids, *[pad_id] * (longest - len(ids))] for ids in rows])


# Epochs of batches made ahead, each by a process of its own.
#
# A GPU takes the batches of a small model faster than one process draws and splits their
# sentences: 690,000 tokens a second on an H200, where a core of the CPU that it was measured on
# makes 360,000.

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
