"""Which heads align words: the metric needs no gold, and agrees with alignments made by people."""

import pytest
import torch
from torch import Tensor

from tests.representatives import cases
from transformer import load_checkpoint, record
from transformer.analysis.alignment import error_rate
from transformer.analysis.metrics.metrics import ALIGNMENT_METRIC
from transformer.training.evaluation.heads import readings, stage_alignments

TRANSLATORS = ("en-de", "en-de-1")


def test_it_is_how_far_both_directions_agree() -> None:
    weights = torch.randn(2, 5, 7, generator=torch.Generator().manual_seed(3)).softmax(-1)
    for head, value in zip(
        weights.tolist(), ALIGNMENT_METRIC.compute(weights).tolist(), strict=True
    ):
        total = 0.0
        for i in range(5):
            for j in range(7):
                received = sum(head[other][j] for other in range(5))
                total += head[i][j] * head[i][j] / received
        assert value == pytest.approx(total / 5, abs=1e-6)


def test_order_does_not_matter_and_a_shared_key_does() -> None:
    order = torch.tensor([3, 0, 2, 1])
    shared = torch.eye(4)[torch.tensor([0, 0, 2, 3])]
    values = ALIGNMENT_METRIC.compute(torch.stack([torch.eye(4)[order], shared]))
    assert values.tolist() == pytest.approx([1, 0.75])


def test_keys_that_nobody_looks_at_are_no_trouble() -> None:
    weights = torch.zeros(1, 3, 9)
    weights[0, :, :3] = torch.eye(3)
    assert float(ALIGNMENT_METRIC.compute(weights)) == 1


def ranks(values: Tensor) -> Tensor:
    return values.argsort().argsort().double()


@pytest.mark.parametrize("name", cases(TRANSLATORS, {"a translator": "en-de-1"}))
def test_the_head_that_comes_first_is_the_one_that_aligns_best(name: str) -> None:
    """Over 30 sentences of the stage set that were aligned by hand: the first head, and all."""
    checkpoint = load_checkpoint(f"checkpoints/{name}", "cpu")
    pairs = stage_alignments()[:30]
    measured, found = [], {}
    for pair in pairs:
        attention = record(checkpoint, pair.source, pair.target).attentions["cross"]
        layers = range(attention.n_layers)
        measured.append(
            torch.cat([ALIGNMENT_METRIC.compute(attention.weights(layer)) for layer in layers])
        )
        for reader, links in readings(checkpoint, pair):
            if reader.lens == "weight" and reader.head is not None:
                found.setdefault(reader, []).append(links)
    rates: dict[tuple[int, int | None], float] = {}
    for reader, links in found.items():
        place = (reader.layer, reader.head)
        rates[place] = min(rates.get(place, 100.0), error_rate(links, pairs))
    heads = sorted(rates)
    errors = torch.tensor([rates[head] for head in heads])
    values = torch.stack(measured).mean(0)
    assert heads[int(values.argmax())] == heads[int(errors.argmin())]
    correlation = torch.corrcoef(torch.stack([ranks(values), ranks(errors)]))[0, 1]
    assert float(correlation) < -0.8
