"""Pooling sees real positions alone."""

import pytest
import torch

from transformer.layers.embedding import Pool


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_padded_row_is_pooled_like_the_row_alone(pooling: str) -> None:
    torch.manual_seed(0)
    x, n_real = torch.randn(3, 6, 8) - 5, (6, 4, 1)
    real = torch.arange(6) < torch.tensor(n_real)[:, None]
    pooled = Pool(pooling)(x.masked_fill(~real[..., None], torch.nan), real)
    for row, n in enumerate(n_real):
        alone = x[row, :n].mean(0) if pooling == "mean" else x[row, :n].max(0).values
        torch.testing.assert_close(pooled[row], alone, rtol=0, atol=1e-6)
