"""Norms and residual orders against their formulas and against torch's own."""

import pytest
import torch
from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.blocks import Residual
from transformer.layers.norm import BatchNorm, ScalarNorm

B, T, D = 4, 6, 8
close = {"rtol": 0.0, "atol": 1e-5}


def rows() -> tuple[Tensor, Tensor]:
    """Vectors [B, T, D] and which of them are real; the others are large."""
    torch.manual_seed(0)
    x = torch.randn(B, T, D) * 3 + 1
    real = torch.arange(T) < torch.tensor([6, 4, 1, 3])[:, None]
    return x.masked_fill(~real[..., None], 1e4), real


def randomise(module: nn.Module) -> None:
    for parameter in module.parameters():
        nn.init.normal_(parameter, 0.5, 0.5)


def test_scalar_norm_follows_the_formula() -> None:
    torch.manual_seed(0)
    norm = ScalarNorm(1e-6).double()
    randomise(norm)
    assert [parameter.numel() for parameter in norm.parameters()] == [1, 1]
    for x in (torch.randn(D).double() for _ in range(5)):
        mean = sum(x) / D
        deviation = (sum((value - mean) ** 2 for value in x) / D) ** 0.5
        expected = [norm.weight * (value - mean) / (deviation + 1e-6) + norm.bias for value in x]
        torch.testing.assert_close(norm(x[None, None])[0, 0], torch.cat(expected))


def test_scalar_norm_of_equal_values_is_its_bias() -> None:
    norm = ScalarNorm(1e-6)
    randomise(norm)
    torch.testing.assert_close(norm(torch.ones(1, 2, D)), norm.bias.expand(1, 2, D))


@pytest.mark.parametrize("norm", ["layer", "scalar"])
@pytest.mark.parametrize("order", ["post", "pre", "sublayer"])
def test_the_three_orders(order: str, norm: str) -> None:
    torch.manual_seed(0)
    residual = Residual(ModelConfig(d_model=D, norm_order=order, norm=norm)).eval()
    randomise(residual)
    x, sublayer = torch.randn(B, T, D), nn.Linear(D, D)
    expected = {
        "post": residual.norm(x + sublayer(x)),
        "pre": x + sublayer(residual.norm(x)),
        "sublayer": x + residual.norm(sublayer(x)),
    }
    assert torch.equal(residual(x, sublayer), expected[order])


@pytest.mark.parametrize("order", ["post", "pre", "sublayer"])
def test_dropout_spares_the_residual_path(order: str) -> None:
    """With a sublayer all but dropped, x itself is left, normed in post-norm alone."""
    torch.manual_seed(0)
    residual = Residual(ModelConfig(d_model=D, norm_order=order, dropout=0.999999)).train()
    x = torch.randn(B, T, D)
    assert torch.equal(residual(x, nn.Linear(D, D)), residual.norm(x) if order == "post" else x)


def test_batch_norm_in_training_equals_torch_on_the_real_rows() -> None:
    x, real = rows()
    ours, theirs = BatchNorm(D, 1e-5).train(), nn.BatchNorm1d(D, 1e-5).train()
    randomise(ours)
    theirs.load_state_dict({"weight": ours.weight, "bias": ours.bias}, strict=False)
    for step in range(3):  # padding counts nowhere, in no step
        expected = theirs(x[real] + step)
        torch.testing.assert_close(ours(x + step, real)[real], expected, **close)
    torch.testing.assert_close(ours.running_mean, theirs.running_mean, **close)
    torch.testing.assert_close(ours.running_variance, theirs.running_var, **close)
    x = torch.randn(B, T, D)
    expected = theirs.eval()(x.flatten(0, 1)).view_as(x)
    torch.testing.assert_close(ours.eval()(x, real), expected, **close)


def test_batch_norm_without_padding() -> None:
    x, theirs = torch.randn(B, T, D), nn.BatchNorm1d(D).train()
    expected = theirs(x.flatten(0, 1)).view_as(x)
    torch.testing.assert_close(BatchNorm(D, 1e-5).train()(x), expected, **close)


def test_batch_norm_of_a_single_row_stays_finite() -> None:
    norm = BatchNorm(D, 1e-5).train()
    assert bool(norm(torch.randn(1, 1, D)).isfinite().all())
    assert bool(norm.running_variance.isfinite().all())
