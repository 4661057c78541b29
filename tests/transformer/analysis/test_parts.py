"""All heads come once and in order, whatever their masks and their size."""

from typing import Any

import pytest
import torch

from tests.random_maps import random_map
from transformer.analysis import cell as module
from transformer.analysis.cell import parts
from transformer.analysis.reading import Reading


@pytest.mark.parametrize("batch", [2**20, 3 * 81, 1])
@pytest.mark.parametrize("scale", ["share", "signed"])
@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_values_weights_and_masks_of_every_head(
    kind: str, scale: Any, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BATCH", batch)
    map = random_map(3, 4, 9, 9, kind, scale)
    found = list(parts(map, with_weights=True))
    values = torch.cat([part.values for part in found])
    weights = torch.cat([part.weights for part in found])
    masks = [part.allowed for part in found]
    assert values.shape == weights.shape == (12, 9, 9)
    for i in range(12):
        torch.testing.assert_close(values[i], map.values(i // 4, i % 4))
        torch.testing.assert_close(weights[i], map.attention.weights(i // 4, i % 4))
    if kind == "encoder_self":
        assert masks == [None] * len(found)
    else:
        assert all(mask is not None and torch.equal(mask[0], map.allowed(0, 0)) for mask in masks)


def test_heads_that_mask_each_in_its_own_way_keep_their_masks() -> None:
    map = random_map(3, 2, 6, 6)
    mask = torch.rand(3, 2, 1, 6, generator=torch.Generator().manual_seed(1)) > 0.4
    for call, of_layer in zip(map.attention.calls, mask, strict=True):
        object.__setattr__(call, "mask", of_layer)
    found = torch.cat([part.allowed for part in parts(map, False) if part.allowed is not None])
    assert torch.equal(found, mask.expand(3, 2, 6, 6).flatten(0, 1))


def test_weights_are_not_made_where_a_lens_has_the_values() -> None:
    map = random_map(2, 2, 5, 5, scale="signed", reading=Reading(words=True))
    assert all(part.weights is part.values for part in parts(map, with_weights=False))
