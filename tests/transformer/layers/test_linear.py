"""Affine maps: torch's own numbers, however many rows there are."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from transformer.layers.attention import FEW, Linear


@pytest.mark.parametrize("shape", [(5,), (1, 5), (2, 3, 5), (FEW, 5), (FEW + 1, 5), (4, 1, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_it_is_torchs_own(shape: tuple[int, ...], bias: bool) -> None:
    ours, torchs = Linear(5, 7, bias, dtype=torch.float64), nn.Linear(5, 7, bias).double()
    ours.load_state_dict(torchs.state_dict())
    x, y = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(2))
    y.data.copy_(x.data)
    mine, theirs = ours(x), torchs(y)
    assert_close(mine, theirs)
    assert mine.is_contiguous()
    mine.square().sum().backward()
    theirs.square().sum().backward()
    assert_close(x.grad, y.grad)
    assert_close([each.grad for each in ours.parameters()], [it.grad for it in torchs.parameters()])
