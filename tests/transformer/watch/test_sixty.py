"""Modules of distinct mechanisms: each is named rightly, numbered or refused, and none is wrong."""

import re

import pytest

from tests.representatives import cases
from tests.transformer.watch import sixty_heads, sixty_latents, sixty_orders
from tests.transformer.watch.sixty import CASES, Case, moved, outcome_of
from tests.transformer.watch.sixty_table import DOCUMENT, table

assert sixty_heads and sixty_latents and sixty_orders  # they enter their modules
FEW = {
    "heads are turned": "MinGpt",
    "heads are not turned": "ViewedWithoutTransposition",
    "a product by hand, and another text's keys": "TransformerXl",
    "an einsum of other letters": "OddLetters",
    "half precision within": "HalfUpcast",
    "weights that do not sum to 1": "SigmoidAttention",
    "latents beside a text": "QFormer",
    "a picture": "VitByUnfold",
    "rows that are gathered": "MaskedAutoencoder",
    "columns that are mixed": "Linformer",
    "a convolution padded by hand": "CausalConvolution",
    "rows of two positions": "TokenShift",
    "a decoder step by step": "LuongByStep",
    "an order that is soft": "SinkhornSort",
    "an order that is a matrix": "SortByMatrix",
    "two texts in a row": "TwoTextsInARow",
    "two texts, one after the other": "Siamese",
}


@pytest.mark.parametrize("name", cases(CASES, FEW))
def test_no_row_is_named_after_a_token_that_it_is_not_of(name: str) -> None:
    of = CASES[name]
    recording = of.recorded()
    assert outcome_of(of, recording) == (of.outcome, [])
    if isinstance(recording, str):
        assert re.fullmatch(r"[A-Z].*\.", recording)
    else:
        assert recording.checked.is_right is not False


MOVED = [name for name, of in CASES.items() if of.moves and of.outcome != "refused"]


@pytest.mark.parametrize("name", cases(MOVED, {"a mask": "MinGpt", "an order": "SortByMatrix"}))
def test_the_truth_is_what_changes_of_one_token_show(name: str) -> None:
    of = CASES[name]
    axes = moved(of)
    assert axes is not None
    for axis, truth in zip(axes, of.truth[0], strict=True):
        for tokens, letter in zip(axis, truth, strict=True):
            is_of_one = tokens is not None and len(tokens) == 1
            assert tokens is None or (tokens == {letter} if letter != "." else not is_of_one)


def test_a_name_that_is_not_so_is_noticed() -> None:
    of = CASES["MinGpt"]
    wrong = Case(of.build, (("bacdef", "abcdef"),), "named", of.inputs, of.tokens, True)
    assert outcome_of(wrong, of.recorded())[1]


def test_the_document_has_the_table() -> None:
    assert table() in DOCUMENT.read_text("utf-8")
