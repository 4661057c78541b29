"""What a model reads otherwise here than in training, or than at each step, stands in its notes."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face import pairs
from tests.transformer.hugging_face.saving import WRITERS, save, writer
from tests.transformer.hugging_face.test_what_opens import OF_ROBERTA
from tests.transformer.watch.hugging_face import FAMILIES, FEW, build
from tests.transformer.watch.more_families import MORE
from transformer import load_checkpoint, pairing, record
from transformer.hugging_face.kinds import DECODER, family_of
from transformer.hugging_face.sizes import first_position

IDS = torch.arange(5, 11)[None]
GIVES_NONE = ("DeBERTa", "Funnel")
"""Families whose tokenizers in the library tell a second text by no segment."""
ASKED = ("ALBERT", "XLNet")
"""Families whose folders have to ask for segments."""


def notes_of(folder: Path) -> str:
    return " ".join(load_checkpoint(folder, "cpu").about.notes)


SEGMENTS = {
    **{f"given, asked for: {it}": ("BERT", it) for it in (True, False)},
    **{f"a model without them, asked for: {it}": ("RoBERTa", it) for it in (True, False)},
    **{f"given where a folder asks: {it}": ("ALBERT", it) for it in (True, False)},
    **{f"given by no tokenizer: {it}": (it, True) for it in GIVES_NONE},
}


@pytest.mark.parametrize(
    ("family", "is_asked"), cases(product(pairs.FAMILIES, (True, False)), SEGMENTS)
)
def test_a_tokenizer_without_segments_is_named(family: str, is_asked: bool, tmp_path: Path) -> None:
    """Where the model has them: then two texts are read as the library reads them, without."""
    model, tokenizer = pairs.save_pair_reader(family, tmp_path)
    if not is_asked:
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
        tokenizer.save_pretrained(tmp_path)
    is_without = family in GIVES_NONE or (family in ASKED and not is_asked)
    assert ("token_type_ids" in notes_of(tmp_path)) == is_without
    if not is_without:
        return
    call = tokenizer(pairs.A, pairs.B, return_tensors="pt")
    recording = record(pairing(load_checkpoint(tmp_path, "cpu"), pairs.B), pairs.A)
    with torch.no_grad():
        expected = model(**call).logits[0]
    torch.testing.assert_close(recording.logits, expected, atol=1e-5, rtol=0)


def _decoders() -> dict[str, Callable[[], Any]]:
    usual = {name: (lambda name=name: build(name)) for name in FAMILIES}
    return usual | {name: family.build for name, family in OF_ROBERTA.items()}


BEGINNING = FEW | {"counts from the padding": "Roberta", "and has adapters": "Xmod"}


@pytest.mark.parametrize("family", cases(_decoders(), BEGINNING))
def test_positions_that_begin_elsewhere_by_themselves_are_named(
    family: str, tmp_path: Path
) -> None:
    model = _decoders()[family]()
    first = first_position(model)
    if family_of(model) is not DECODER:
        return
    if first:
        own = torch.arange(first, first + IDS.size(1))[None]
        with torch.no_grad():
            alone, placed = model(IDS).logits, model(IDS, position_ids=own).logits
            from_0 = model(IDS, position_ids=own - first).logits
        torch.testing.assert_close(alone, placed)
        assert not torch.allclose(alone, from_0, atol=1e-4)
    assert bool(first) == (family in OF_ROBERTA)
    model.save_pretrained(tmp_path)
    assert ("counts positions from" in notes_of(tmp_path)) == bool(first)


def test_rows_that_depend_on_how_many_there_are(tmp_path: Path) -> None:
    MORE["ProphetNet"].build().save_pretrained(tmp_path / "ProphetNet")
    assert "how many rows there are" in notes_of(tmp_path / "ProphetNet")
    for family in WRITERS:
        folder = save(writer(family), tmp_path / family)
        assert "how many rows there are" not in notes_of(folder)
