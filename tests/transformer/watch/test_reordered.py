"""A model may turn its text round inside: its rows are then not the words that they are named."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer import record

ORDER = torch.tensor([4, 2, 0, 1, 3])
Change = Callable[[Tensor], Tensor]


def same(tensor: Tensor) -> Tensor:
    return tensor


class Reader(nn.Module):
    """One attention; what is done to ids, to states before it, and to what it gives."""

    def __init__(self, ids: Change = same, states: Change = same, output: Change = same) -> None:
        super().__init__()
        self.embed, self.project = nn.Embedding(20, 16), nn.Linear(16, 48)
        self.ids, self.states, self.output = ids, states, output

    def forward(self, ids: Tensor) -> Tensor:
        states = self.states(self.embed(self.ids(ids)))
        q, k, v = self.project(states).view(1, 5, 3, 4, 4).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(heads.transpose(1, 2).flatten(2))


REORDERED = {
    "ids are flipped": {"ids": lambda it: it.flip(1)},
    "ids are rolled": {"ids": lambda it: it.roll(1, 1)},
    "ids are permuted": {"ids": lambda it: it[:, ORDER]},
    "states are flipped": {"states": lambda it: torch.flip(it, [-2])},
    "states are rolled": {"states": lambda it: torch.roll(it, 2, dims=-2)},
    "states are flipped by name": {"states": lambda it: torch.flip(it, dims=(1,))},
    "ids are rolled by name": {"ids": lambda it: torch.roll(it, shifts=2, dims=1)},
    "states are permuted": {"states": lambda it: it[:, ORDER]},
}
AS_THEY_WERE = {
    "nothing": {},
    "after attention": {"output": lambda it: it.flip(1)},
    "their dimensions": {"states": lambda it: it.flip(-1).roll(1, -1)},
    "by nothing": {"ids": lambda it: it.roll(5, 1)},
    "an index in order": {"states": lambda it: it[:, torch.arange(5)]},
}


@pytest.mark.parametrize("case", [*REORDERED, *AS_THEY_WERE])
def test_another_order_is_said(case: str) -> None:
    model = Reader(**(REORDERED | AS_THEY_WERE)[case]).eval()
    recording = record(model, torch.tensor([[3, 1, 4, 1, 5]]), list("abcde"))
    assert any("order" in note for note in recording.notes) == (case in REORDERED)
