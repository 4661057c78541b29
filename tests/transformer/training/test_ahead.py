"""Epochs made ahead are those that would have been made one after the other."""

import os
from collections.abc import Iterator
from itertools import islice

import pytest
import torch

from transformer.training.batches import Batch, epochs, make_batch, n_processes
from transformer.training.task import TrainingError


def drawn(epoch: int) -> Iterator[Batch]:
    """Three batches that tell their epoch, their place and their process."""
    if epoch == 6:
        raise TrainingError("no pairs left")
    for i in range(3):
        yield make_batch([([epoch, i], [os.getpid(), 2])], pad_id=0, bos_id=1)


def taken(n: int, first: int = 2) -> list[tuple[int, list[list[int]], int]]:
    """Of four epochs their numbers, their sources and who made them."""
    return [
        (epoch, [batch.inputs[0].tolist()[0] for batch in made], int(made[0].target_output[0, 0]))
        for epoch, batches in islice(epochs(drawn, first, n), 4)
        for made in [list(batches)]
    ]


@pytest.mark.parametrize("n", [1, 3])
def test_processes_make_the_same_epochs_in_order(n: int) -> None:
    inline, made = taken(0), taken(n)
    assert [row[:2] for row in made] == [row[:2] for row in inline]
    assert [epoch for epoch, *_ in made] == [2, 3, 4, 5]
    assert {pid for *_, pid in inline} == {os.getpid()}
    assert len({os.getpid(), *(pid for *_, pid in made)}) == 5


@pytest.mark.parametrize("n", [0, 2])
def test_what_an_epoch_raises_comes_when_it_is_its_turn(n: int) -> None:
    made = (batch for _, batches in epochs(drawn, 4, n) for batch in batches)
    assert [int(next(made).inputs[0][0, 0]) for _ in range(6)] == [4, 4, 4, 5, 5, 5]
    with pytest.raises(TrainingError, match="no pairs left"):
        next(made)


def test_a_cpu_trains_without_other_processes() -> None:
    assert n_processes(torch.device("cpu")) == 0
    assert n_processes(torch.device("cuda")) in range(9)
