"""Label smoothing taken apart equals the loss that training uses."""

import math

import pytest
import torch
from torch.nn import CrossEntropyLoss

from transformer.training.task import cross_entropy, divergence, entropy, smoothed_target

V = 11
TARGETS = (0, 3, 10, 3)


@pytest.fixture
def logits() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return 3 * torch.randn(len(TARGETS), V, generator=generator, dtype=torch.float64)


def smoothed(epsilon: float) -> torch.Tensor:
    return torch.stack([smoothed_target(target, V, epsilon) for target in TARGETS])


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.4])
def test_torchs_loss_is_the_divergence_and_the_entropy_of_the_target(
    logits: torch.Tensor, epsilon: float
) -> None:
    loss = CrossEntropyLoss(label_smoothing=epsilon)(logits, torch.tensor(TARGETS))
    target, log_probs = smoothed(epsilon), logits.log_softmax(-1)
    apart = (divergence(target, log_probs) + entropy(target)).mean()
    assert float(apart) == pytest.approx(float(loss), abs=1e-6)
    assert float(cross_entropy(target, log_probs).mean()) == pytest.approx(float(loss), abs=1e-6)


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
def test_the_target_keeps_its_share_of_what_is_spread(epsilon: float) -> None:
    target = smoothed_target(3, V, epsilon)
    assert float(target[3]) == pytest.approx(1 - epsilon + epsilon / V)
    assert float(target[4]) == pytest.approx(epsilon / V)
    assert float(target.sum()) == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [0.1, 0.4])
def test_only_the_smoothed_target_itself_has_no_divergence(epsilon: float) -> None:
    target = smoothed_target(3, V, epsilon)
    assert float(divergence(target, target.log())) == pytest.approx(0, abs=1e-12)
    sure = smoothed_target(3, V, 1e-6)
    assert float(divergence(target, sure.log())) > 0.1


def test_without_smoothing_the_loss_is_the_surprise_at_the_target(logits: torch.Tensor) -> None:
    log_probs = logits.log_softmax(-1)[1]
    target = smoothed_target(3, V, 0.0)
    assert float(entropy(target)) == 0
    assert float(divergence(target, log_probs)) == pytest.approx(-float(log_probs[3]))


def test_an_impossible_piece_costs_nothing_unless_the_target_wants_it() -> None:
    log_probs = torch.tensor([0.0, -math.inf], dtype=torch.float64)
    assert float(divergence(smoothed_target(0, 2, 0.0), log_probs)) == 0
    assert float(divergence(smoothed_target(0, 2, 0.1), log_probs)) == math.inf
