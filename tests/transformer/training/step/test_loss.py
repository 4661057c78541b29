"""The loss and its gradient are those of torch, and the sampled one is right on average."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.training.batches import IGNORED
from transformer.training.step import chosen_pieces, sampled_loss, smoothed_loss


@pytest.fixture
def targets() -> Tensor:
    random = torch.Generator().manual_seed(1)
    return torch.randint(500, (40,), generator=random)


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_loss_and_gradient_are_those_of_torch(targets: Tensor, epsilon: float) -> None:
    logits = torch.randn(40, 500, generator=torch.Generator().manual_seed(2), requires_grad=True)
    targets[[3, 17]] = IGNORED
    ours = smoothed_loss(logits, targets, epsilon)
    theirs = F.cross_entropy(logits, targets, label_smoothing=epsilon, ignore_index=IGNORED)
    torch.testing.assert_close(ours, theirs)
    gradients = [torch.autograd.grad(3 * loss, logits)[0] for loss in (ours, theirs)]
    torch.testing.assert_close(*gradients)
    assert not gradients[0][[3, 17]].any()


def test_with_all_pieces_the_sampled_loss_is_the_whole_one(targets: Tensor) -> None:
    states, embedding = _states_and_embedding()
    whole = F.cross_entropy(states @ embedding.t(), targets, label_smoothing=0.1)
    sampled = sampled_loss(states, embedding, targets, 0.1, 1000)
    torch.testing.assert_close(sampled, whole)
    for wanted in (states, embedding):
        ours, theirs = (
            torch.autograd.grad(loss, wanted, retain_graph=True)[0] for loss in (sampled, whole)
        )
        torch.testing.assert_close(ours, theirs)


def test_the_sampled_loss_is_near_the_whole_one_on_average(targets: Tensor) -> None:
    torch.manual_seed(3)
    states, embedding = _states_and_embedding()
    whole = F.cross_entropy(states @ embedding.t(), targets, label_smoothing=0.1)
    losses = [sampled_loss(states, embedding, targets, 0.1, 200).item() for _ in range(200)]
    assert max(losses) - min(losses) > 0.01
    assert sum(losses) / len(losses) == pytest.approx(whole.item(), abs=0.02)


def test_the_pieces_are_the_commonest_the_targets_and_some_that_stand_for_the_rest() -> None:
    targets = torch.tensor([7, 400, 450, 400])
    pieces, log_counts = chosen_pieces(targets, 500, 100)
    assert len(set(pieces.tolist())) == len(pieces) == 100
    assert set(range(50)) | {400, 450} <= set(pieces.tolist())
    assert float(log_counts.exp().sum()) == pytest.approx(500)
    own = dict(zip(pieces.tolist(), log_counts.tolist(), strict=True))
    assert own[7] == own[400] == own[450] == 0
    # However many are known, an eighth is drawn.
    assert len(chosen_pieces(torch.arange(200), 500, 100)[0]) == 200 + 12


def _states_and_embedding() -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(4)
    states = torch.randn(40, 16, generator=random, requires_grad=True)
    embedding = torch.randn(500, 16, generator=random) * 0.3
    return states, embedding.requires_grad_()
