"""A recording stays as it was: whatever becomes of the model, its inputs and its weights later."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.conftest import SENTENCES
from transformer import Checkpoint, decode, record
from transformer.watch import Watcher

T, D, H = 4, 8, 2


def heads(x: Tensor) -> Tensor:
    return x.view(1, T, H, D // H).transpose(1, 2)


class Vectors(nn.Module):
    """Queries, keys and values are what it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.rand(1, H, T, D // H))
        self.bias = nn.Parameter(torch.rand(H, T, T))
        self.output = nn.Linear(D, D)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        h = heads(x)
        return self.joined(F.scaled_dot_product_attention(h, h, h))

    def joined(self, each: Tensor) -> Tensor:
        result: Tensor = self.output(each.transpose(1, 2).flatten(2))
        return result


class LearnedQueries(Vectors):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.joined(F.scaled_dot_product_attention(self.queries, heads(x), heads(x)))


class LearnedBias(Vectors):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        h = heads(x)
        return self.joined(F.scaled_dot_product_attention(h, h, h, attn_mask=self.bias[None]))


class GivenMask(Vectors):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        h = heads(x)
        return self.joined(F.scaled_dot_product_attention(h, h, h, attn_mask=mask))


class ByHand(Vectors):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        h = heads(x)
        return self.joined((h @ h.mT + self.bias).softmax(-1) @ h)


class TorchLayer(Vectors):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(D, H, 16, batch_first=True)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        result: Tensor = self.layer(x)
        return result


def trained(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    with torch.no_grad():
        for each in module.parameters():
            each.mul_(-3)


def given_anew(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    for each in inputs:
        each.mul_(-3)


@pytest.mark.usefixtures("wrong_recordings")  # the check reads the matrices as they are
@pytest.mark.parametrize("edits", [(), ("head-off:encoder_self.0.1",)])
@pytest.mark.parametrize("later", [trained, given_anew])
@pytest.mark.parametrize(
    "make", [Vectors, LearnedQueries, LearnedBias, GivenMask, ByHand, TorchLayer]
)
def test_nothing_that_comes_later_changes_it(
    make: Callable[[], nn.Module],
    later: Callable[[nn.Module, tuple[Tensor, ...]], None],
    edits: tuple[str, ...],
) -> None:
    """A recording is often looked at when the next steps of a training are done."""
    torch.manual_seed(0)
    module = make().eval()
    inputs = torch.rand(1, T, D), torch.rand(1, 1, T, T)
    (before,) = record(module, inputs, edits=edits).attentions.values()
    weights, given = before.weights(0), before.calls[0].heads_given()
    (after,) = record(module, inputs, edits=edits).attentions.values()
    later(module, inputs)
    assert after.weights(0).equal(weights)
    assert after.calls[0].heads_given().equal(given)


@pytest.mark.usefixtures("wrong_recordings")
@pytest.mark.parametrize("is_kept", [True, False])
def test_only_what_is_kept_is_projected_at_once(is_kept: bool) -> None:
    """A pass that plans edits, or is run for its logits, asks for none of it."""
    module, inputs = TorchLayer().eval(), (torch.rand(1, T, D), torch.rand(1))
    watcher = Watcher(module, inputs=inputs, is_kept=is_kept)
    with torch.no_grad(), watcher:
        module(*inputs)
    values = record(module, inputs).attentions["encoder_self"].calls[0].v
    trained(module, inputs)
    assert watcher.seen[0].make().v.equal(values) is is_kept


@pytest.mark.parametrize("make", [Vectors, ByHand, TorchLayer])
def test_weights_are_a_copy(make: Callable[[], nn.Module]) -> None:
    """The first key is often set to 0, since every head looks at it."""
    (attention,) = record(make().eval(), (torch.rand(1, T, D), torch.rand(1))).attentions.values()
    for head in (None, 1):
        weights = attention.weights(0, head)
        attention.weights(0, head)[..., 0] = 0
        assert attention.weights(0, head).equal(weights)


def test_nobody_changes_the_model_by_its_encodings(text_checkpoint: Checkpoint) -> None:
    before = decode(text_checkpoint, SENTENCES[0], max_len=4).log_prob
    for each in record(text_checkpoint, SENTENCES[0], "ja").positions.values():
        each.encodings.mul_(0)
    assert decode(text_checkpoint, SENTENCES[0], max_len=4).log_prob == before
