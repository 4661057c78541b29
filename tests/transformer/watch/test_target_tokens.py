"""The tokens of both sides of a module stand in its recording, given or numbered."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from transformer import Recording, record

D = 8


def transformer() -> nn.Module:
    return nn.Transformer(D, 2, 1, 1, 16, batch_first=True).eval()


def decoder() -> nn.Module:
    """It has no encoder: its source is what cross-attention reads."""
    return nn.TransformerDecoder(nn.TransformerDecoderLayer(D, 2, 16, batch_first=True), 1).eval()


CASES: dict[str, tuple[Callable[[], nn.Module], str, int, int]] = {
    "both sides": (transformer, "src", 3, 2),
    "as long as each other": (transformer, "src", 3, 3),
    "a decoder over a memory": (decoder, "memory", 3, 2),
}
"""A module, the name of its source's argument, and the lengths of source and target."""
GIVEN = [None, {"target": "xyz"}, {"source": "abc", "target": "xyz"}]


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("case", CASES)
def test_a_module_with_two_sides(case: str, given: Any) -> None:
    make, name, n_source, n_target = CASES[case]
    tokens = given and {
        side: list(text[: n_source if side == "source" else n_target])
        for side, text in given.items()
    }
    mask = nn.Transformer.generate_square_subsequent_mask(n_target)
    inputs = {name: torch.rand(1, n_source, D), "tgt": torch.rand(1, n_target, D)}
    recording = record(make(), inputs | {"tgt_mask": mask}, tokens)
    assert (len(recording.source), len(recording.target)) == (n_source, n_target)
    assert f"{n_source} source tokens, {n_target} target tokens" in repr(recording)
    own, cross = recording.attentions["decoder_self"], recording.attentions["cross"]
    assert recording.target == own.queries == cross.queries and recording.source == cross.keys
    if tokens:
        assert [token.piece for token in recording.target] == tokens["target"]


def test_an_edited_pass_has_them_too() -> None:
    inputs = torch.rand(1, 3, D), torch.rand(1, 2, D)
    tokens = {"source": list("abc"), "target": list("xy")}
    recording: Recording = record(transformer(), inputs, tokens, ["head-off:cross.0.1"])
    assert [token.piece for token in recording.target] == ["x", "y"]


def test_a_module_with_one_side_has_no_target() -> None:
    layer = nn.TransformerEncoderLayer(D, 2, 16, batch_first=True).eval()
    recording = record(layer, torch.rand(1, 3, D))
    assert len(recording.source) == 3 and recording.target == ()
