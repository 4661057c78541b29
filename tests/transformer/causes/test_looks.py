"""A word is said to look at the source where that has most of its weight, and else at what has."""

from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, evidence, load_checkpoint, record
from transformer.causes.verdict import verdict


@pytest.fixture(scope="module")
def windowed(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    folder = tmp_path_factory.mktemp("hub") / "Mistral"
    model: Any = build("Mistral")  # its rows see four keys
    model.save_pretrained(folder)
    return load_checkpoint(folder, "cpu")


@pytest.mark.parametrize("family", ["ours", "Mistral"])
def test_a_word_is_not_said_to_look_at_the_source_where_another_has_more_weight(
    family: str, windowed: Checkpoint
) -> None:
    checkpoint = windowed
    if family == "ours":
        alone = next(name for name, config in CONFIGS.items() if config.family == "decoder_only")
        checkpoint = random_checkpoint(CONFIGS[alone])
    source, target = "7 9", "10 12 14 8 11 13 6 9"
    result = evidence(checkpoint, source, target)
    plain = record(checkpoint, source, target)
    attention, n = plain.attentions["decoder_self"], len(plain.source)
    rows = attention.weights(attention.n_layers - 1).mean(0)[-len(plain.target) :]
    assert len(result.beside) == len(rows) == len(result.verdicts)
    for row, name, judged in zip(rows, result.beside, result.verdicts, strict=True):
        most = int(row.argmax())
        assert (name is None) is (most < n)
        if name is None:
            assert judged.looks_at == most
        else:
            assert judged.looks_at is None and name == attention.keys[most].piece
            assert judged.kind in ("undecided", "held by the prefix")
    assert any(name is not None for name in result.beside)
    assert any(name is None for name in result.beside)
    if family == "Mistral":
        assert result.weights is not None and float(result.weights[-1].sum()) == 0
    spoken = [it for it in result.verdicts if it.looks_at is None and it.kind == "undecided"]
    assert all("not known" not in verdict.text for verdict in spoken)


def test_a_row_without_any_weight_on_what_is_read_looks_at_nothing() -> None:
    row = torch.tensor([0.0, 0.0])
    result = verdict(0, ("a",), ("x", "y"), row, torch.tensor([0.9, 0.1]), None, row[:0], "")
    assert result.looks_at is None and result.kind == "undecided" and result.needs == 0
