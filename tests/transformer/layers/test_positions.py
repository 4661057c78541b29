"""Order is told by positions and by nothing else; embeddings are tied and scaled as named."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from tests.conftest import random_model, tiny
from transformer.config import ModelConfig

CLASSIFIER = ModelConfig(
    family="encoder_classifier", classes=("a", "b", "c"), n_decoder_layers=0, positions="none"
)
SCHEMES = ("sinusoidal", "learned", "concatenated")
close = {"rtol": 0.0, "atol": 1e-6}


def shuffled() -> tuple[Tensor, Tensor]:
    """Ids [2, 9] and another order of their positions [9]."""
    torch.manual_seed(2)
    return torch.randint(3, 20, (2, 9)), torch.randperm(9)


@pytest.mark.parametrize("norm_order", ["post", "pre", "sublayer"])
def test_without_positions_outputs_move_with_their_inputs(norm_order: str) -> None:
    model = random_model(tiny(CLASSIFIER, norm_order=norm_order))
    ids, order = shuffled()
    straight = model.encoder(model.embed(ids), None)
    moved = model.encoder(model.embed(ids[:, order]), None)
    torch.testing.assert_close(moved, straight[:, order], **close)


@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_without_positions_a_class_does_not_depend_on_order(pooling: str) -> None:
    model = random_model(tiny(CLASSIFIER, pooling=pooling))
    ids, order = shuffled()
    torch.testing.assert_close(model(ids[:, order]), model(ids), **close)


@pytest.mark.parametrize("positions", SCHEMES)
def test_with_positions_order_matters(positions: str) -> None:
    model = random_model(tiny(CLASSIFIER, positions=positions))
    model.positions.table.mul_(20 if positions != "sinusoidal" else 1)  # as if trained
    ids, order = shuffled()
    straight = model.encoder(model.embed(ids), None)
    moved = model.encoder(model.embed(ids[:, order]), None)
    assert float((moved - straight[:, order]).abs().max()) > 0.01
    assert float((model(ids[:, order]) - model(ids)).abs().max()) > 0.001


@pytest.mark.parametrize("positions", SCHEMES)
@pytest.mark.parametrize("is_scaled", [True, False])
def test_what_the_first_layer_reads(positions: str, is_scaled: bool) -> None:
    model = random_model(tiny(CLASSIFIER, positions=positions, scaled_embeddings=is_scaled))
    ids, _ = shuffled()
    embedded = model.embedding.weight[ids] * (math.sqrt(12) if is_scaled else 1)
    encoded = model.positions.table[4:13].expand_as(embedded)
    if positions == "concatenated":
        projection = model.join.project
        joined = torch.cat([embedded, encoded], -1) @ projection.weight.T + projection.bias
    else:
        joined = embedded + encoded
    torch.testing.assert_close(model.embed(ids, start=4), joined, **close)


def test_only_learned_positions_are_weights() -> None:
    for positions in ("none", *SCHEMES):
        weights = dict(random_model(tiny(CLASSIFIER, positions=positions)).named_parameters())
        assert ("positions.table" in weights) == (positions in ("learned", "concatenated"))
        assert ("join.project.weight" in weights) == (positions == "concatenated")


@pytest.mark.parametrize(
    ("family", "tied", "matrices"),
    [
        ("encoder_decoder", "all", {"embedding.weight"}),
        ("encoder_decoder", "output", {"embedding.weight", "source_embedding.weight"}),
        (
            "encoder_decoder",
            "none",
            {"embedding.weight", "source_embedding.weight", "output.weight"},
        ),
        ("decoder_only", "all", {"embedding.weight"}),
        ("decoder_only", "output", {"embedding.weight"}),
        ("decoder_only", "none", {"embedding.weight", "output.weight"}),
        ("encoder_classifier", "none", {"embedding.weight"}),
    ],
)
def test_which_vocabulary_matrices_there_are(family: str, tied: str, matrices: set[str]) -> None:
    config = tiny(replace(CLASSIFIER, family=family, n_decoder_layers=1), vocab_size=23, tied=tied)
    model = random_model(config)
    found = {name for name, p in model.named_parameters() if 23 in p.shape and p.dim() == 2}
    assert found == matrices


@pytest.mark.parametrize("tied", ["output", "none"])
def test_untied_sources_have_embeddings_of_their_own(tied: str) -> None:
    model = random_model(tiny(ModelConfig(), tied=tied))

    def memory_keys() -> Tensor:
        return model.start(torch.tensor([[3, 4]])).caches[0].cross[0]

    before = memory_keys()
    model.embedding.weight[3] *= 2
    assert torch.equal(memory_keys(), before)
    model.source_embedding.weight[3] *= 2
    assert not torch.equal(memory_keys(), before)


@pytest.mark.parametrize("family", ["encoder_decoder", "decoder_only"])
def test_an_untied_output_is_a_linear_layer_with_a_bias(family: str) -> None:
    config = tiny(replace(CLASSIFIER, family=family, n_decoder_layers=1), tied="none")
    model, inputs = random_model(config), [torch.tensor([[3, 4, 5]])]
    inputs *= 2 if family == "encoder_decoder" else 1
    before = model(*inputs)
    model.output.bias += torch.arange(20.0)
    torch.testing.assert_close(model(*inputs), before + torch.arange(20.0), rtol=0, atol=1e-5)
