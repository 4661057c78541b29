"""Dropout whose masks are cut from a pool drops as often as torch's and keeps the mean."""

import pytest
import torch
from torch import nn

from transformer.training.step import PooledDropout, pool_dropout


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_drops_as_often_as_asked_and_scales_the_rest(dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    dropout = PooledDropout(0.25).train()
    x = torch.ones(200, 300, dtype=dtype)
    first, second = dropout(x), dropout(x)
    assert first.dtype == dtype
    assert float(first.eq(0).float().mean()) == pytest.approx(0.25, abs=0.01)
    assert float(first.max()) == pytest.approx(1 / 0.75, rel=1e-2)
    assert not torch.equal(first, second)


def test_the_seed_decides_the_masks_and_evaluation_keeps_everything() -> None:
    dropout, x = PooledDropout(0.5).train(), torch.ones(10, 10)
    masks = []
    for _ in range(2):
        torch.manual_seed(5)
        masks.append(dropout(x))
    assert torch.equal(*masks)
    assert dropout.eval()(x) is x
    assert PooledDropout(0.0).train()(x) is x


def test_every_dropout_of_a_model_is_replaced() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(0.1), nn.ReLU()))
    before = list(model.state_dict())
    pool_dropout(model)
    assert [type(m) for m in model.modules() if "Dropout" in type(m).__name__] == [PooledDropout]
    assert list(model.state_dict()) == before
