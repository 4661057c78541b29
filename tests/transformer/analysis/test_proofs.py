"""Proofs hold of runs of every family, and fail where something is wrong."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, Recording, load_checkpoint, record
from transformer.analysis import proofs as module
from transformer.analysis.proofs import Proof, proofs
from transformer.edits import edits_of

OTHER = "5 8 11 2 7"


def found(checkpoint: Checkpoint, *edits: str) -> dict[str, Proof]:
    target = TARGET if checkpoint.family.decodes else None
    before = record(checkpoint, SOURCE, target)
    after = record(checkpoint, SOURCE, target, edits)
    return {each.name: each for each in proofs(checkpoint, SOURCE, before, after, edits_of(edits))}


def opened(name: str, folder: Path) -> Checkpoint:
    torch.manual_seed(0)
    model: Any = build(name)
    model.save_pretrained(folder)
    return load_checkpoint(folder, "cpu")


@pytest.mark.parametrize(
    ("name", "edits", "first", "n"),
    [
        ("post-norm", ("head-off:cross.1.0", "cut:cross.1.2.1.2"), ("cross", 1), 6),
        ("post-norm", ("head-off:decoder_self.1.0",), ("decoder_self", 1), 5),
        ("pre-norm", (f"state-from:encoder_self.0.1={OTHER}",), ("encoder_self", 1), 1),
        ("pre-norm", (f"state-from:decoder_self.0.0={OTHER}",), ("decoder_self", 1), 4),
        ("encoder_decoder, wide", ("head-uniform:encoder_self.0.1",), ("encoder_self", 0), 1),
        ("gpt2", ("emphasise:decoder_self.1.0=0.1,1",), ("decoder_self", 1), 2),
        ("former-classifier", ("head-off:encoder_self.1.0",), ("encoder_self", 1), 2),
        ("Marian", ("head-off:decoder_self.1.0",), ("decoder_self", 1), 5),
        ("GPT-2", (f"state-from:decoder_self.0.1={OTHER}",), ("decoder_self", 1), 1),
        ("T5", ("head-off:encoder_self.1.2",), ("encoder_self", 1), 2),
        ("post-norm", ("hide:source.1",), ("encoder_self", 0), 1),
        ("post-norm", ("cut-word:cross.1",), ("cross", 0), 4),
        ("gpt2", ("hide:text.1",), ("decoder_self", 0), 1),
        ("Marian", ("hide:source.1",), ("encoder_self", 0), 1),
    ],
)
def test_they_hold(
    name: str, edits: tuple[str, ...], first: tuple[str, int], n: int, tmp_path: Path
) -> None:
    is_ours = name in CONFIGS
    checkpoint = random_checkpoint(CONFIGS[name]) if is_ours else opened(name, tmp_path)
    proved = found(checkpoint, *edits)
    assert {name for name, each in proved.items() if each.is_right} == set(proved)
    assert proved["before"].first == first
    assert (proved["before"].value, proved["before"].n) == (0.0, n)
    assert proved["factor"].value == 0.0
    assert proved["sum"].value is not None and 0 < proved["sum"].value < 1e-5
    assert proved["rows"].value is not None and 0 < proved["rows"].value < 1e-5


def test_where_there_is_nothing_to_prove_it_says_so() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    proved = found(checkpoint)
    assert proved["before"].why == "nothing is changed" and not proved["before"].is_right
    assert proved["factor"].is_right
    proved = found(checkpoint, "positions-zero:source")
    assert "what the first layer reads is changed" in proved["before"].why
    same = found(checkpoint, "head-scale:cross.0.1=1")["before"]
    assert same.is_right and same.first is None


def test_they_fail_where_something_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    edits = edits_of(["head-off:cross.1.0"])
    before = record(checkpoint, SOURCE, TARGET)
    after = record(checkpoint, SOURCE, TARGET, edits)

    def proved(edited: Recording) -> dict[str, Proof]:
        return {each.name: each for each in proofs(checkpoint, SOURCE, before, edited, edits)}

    other = proved(record(checkpoint, OTHER, TARGET, edits))["before"]
    assert not other.is_right and other.first == ("encoder_self", 0)
    assert other.value is not None and other.value > 1e-3
    cross = after.attentions["cross"]
    sample = cross.calls[0].sample
    assert sample is not None
    moved = replace(cross.calls[0], sample=replace(sample, values=sample.values + 0.1))
    calls = (moved, *cross.calls[1:])
    wrong = replace(
        after,
        attentions=MappingProxyType(after.attentions | {"cross": replace(cross, calls=calls)}),
    )
    assert not proved(wrong)["sum"].is_right and not proved(wrong)["before"].is_right

    def shifted(*given: Any) -> Recording:
        made = record(*given)
        return replace(made, logits=made.logits + 0.1)

    monkeypatch.setattr(module, "record", shifted)
    assert not proved(after)["factor"].is_right
    monkeypatch.setattr(
        module, "_deviations", lambda each: iter([torch.tensor([0.0, 0.01 * (each is after)])])
    )
    assert not proved(after)["rows"].is_right
