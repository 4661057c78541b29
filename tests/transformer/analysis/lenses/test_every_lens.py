"""The contract of lenses: runs on every one that discover() finds, in every family of models."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.transformer.analysis.lenses.given import (
    CONFIGS,
    padded,
    random_layers,
    recorded,
    recording_of,
    self_attention,
)
from transformer import Recording
from transformer.analysis.lenses.lens import Lens
from transformer.analysis.reading import Reading, lenses, read
from transformer.discover import discover
from transformer.words import word_groups

LENSES: dict[str, Lens] = discover("transformer.analysis.lenses", "LENS")
every_lens = pytest.mark.parametrize("lens", LENSES.values(), ids=LENSES)
close = {"rtol": 0.0, "atol": 1e-5}


@pytest.fixture(scope="module", params=CONFIGS)
def recording(request: pytest.FixtureRequest) -> Recording:
    recording = recorded(CONFIGS[request.param])
    sizes = [len(word_groups(side)) for side in (recording.target, recording.source)]
    return replace(recording, hidden=torch.arange(-3.0, math.prod(sizes) - 3).view(sizes))


def test_the_lenses_are_found() -> None:
    assert {"weight", "score", "value_norm", "sum_norm", "rollout", "flow"} <= set(LENSES)
    assert lenses() == LENSES
    assert next(iter(lenses())) == Reading().lens == "weight"
    assert [name for name, lens in LENSES.items() if lens.is_weights] == ["weight"]


@every_lens
def test_it_gives_finite_numbers_in_its_own_range(lens: Lens, recording: Recording) -> None:
    for kind, attention in recording.attentions.items():
        if lens.why_not(recording, kind):
            continue
        n_maps = attention.n_heads if lens.per_head else 1
        for layer in range(attention.n_layers):
            values = lens.compute(recording, kind, layer)
            assert values.shape == (n_maps, len(attention.queries), len(attention.keys))
            assert values.dtype == torch.float32 and values.device.type == "cpu"
            assert values.isfinite().all()
            assert not values[:, ~attention.allowed(layer).any(0)].any()
            assert lens.scale == "signed" or (values >= 0).all()
            if lens.scale == "share":
                torch.testing.assert_close(values.sum(-1), torch.ones(values.shape[:2]), **close)


@every_lens
def test_it_changes_nothing_and_says_the_same_again(lens: Lens, recording: Recording) -> None:
    for kind, attention in recording.attentions.items():
        if lens.why_not(recording, kind):
            continue
        before = [attention.weights(layer) for layer in range(attention.n_layers)]
        layers = [*range(attention.n_layers), *reversed(range(attention.n_layers))]
        given = [lens.compute(recording, kind, layer) for layer in layers]
        for first, again in zip(given, reversed(given), strict=True):
            assert torch.equal(first, again)
        given[0].fill_(7.0)  # whoever gets it may write to it
        assert torch.equal(lens.compute(recording, kind, 0), given[-1])
        for layer, weights in enumerate(before):
            assert torch.equal(attention.weights(layer), weights)


@every_lens
@pytest.mark.parametrize("n_real", [0, 4])
def test_masked_keys_and_fully_masked_rows_show_nothing(lens: Lens, n_real: int) -> None:
    attention = padded(self_attention(random_layers(3, 2, 6)), n_real)
    recording = recording_of(encoder_self=attention)
    if lens.why_not(recording, "encoder_self"):
        return
    for layer in range(3):
        values = lens.compute(recording, "encoder_self", layer)
        assert values.isfinite().all()
        assert not values[..., n_real:].any()
        if lens.scale == "share":
            sums = torch.full((len(values), n_real), 1.0)
            torch.testing.assert_close(values[:, :n_real].sum(-1), sums, **close)


@every_lens
def test_the_order_of_heads_matters_to_maps_of_one_head_alone(lens: Lens) -> None:
    attention = self_attention(random_layers(2, 4, 5))  # whose heads all have the same values
    order = torch.tensor([2, 0, 3, 1])
    calls = (replace(call, q=call.q[order]) for call in attention.calls)
    shuffled: Any = recording_of(encoder_self=replace(attention, calls=tuple(calls)))
    straight = recording_of(encoder_self=attention)
    if lens.why_not(straight, "encoder_self"):
        return
    expected = lens.compute(straight, "encoder_self", 1)
    if lens.per_head:
        expected = expected[order]
    torch.testing.assert_close(lens.compute(shuffled, "encoder_self", 1), expected, **close)


@every_lens
def test_it_says_what_it_is(lens: Lens) -> None:
    assert lens.title and lens.formula and lens.explain.endswith(".")
    for word in ("esidual", "ormalisation", "ask"):
        assert word in lens.explain, word
    assert "20" in lens.source and lens.cited.endswith(f"({lens.source}).")


@every_lens
def test_a_map_is_the_lens_itself_where_nothing_is_merged(lens: Lens, recording: Recording) -> None:
    for kind, attention in recording.attentions.items():
        if lens.why_not(recording, kind):
            with pytest.raises(ValueError, match=r"\w.*\.$"):
                read(recording, kind, Reading(lens.name))
            continue
        shown = read(recording, kind, Reading(lens.name))
        values = lens.compute(recording, kind, 1 % attention.n_layers)
        assert torch.equal(shown.values(1 % attention.n_layers), values)
        low, high = shown.bounds
        assert low <= float(values.min()) and float(values.max()) <= high
