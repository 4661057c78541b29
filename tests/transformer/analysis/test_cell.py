"""Every stage of a cell leads to the next, and the last is what the fused attention gave."""

import math
from dataclasses import dataclass, replace
from types import MappingProxyType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tests.conftest import random_checkpoint, tiny
from tests.presets import PRESETS
from transformer import record
from transformer.analysis.cell import Cell, inside
from transformer.recording import Attention, AttentionCall, Recording
from transformer.token import Token

close = {"rtol": 1e-5, "atol": 1e-5}


class FusedOutputs(TorchFunctionMode):
    """What every fused attention call gave back: [H, Q, d_value]."""

    def __init__(self) -> None:
        super().__init__()
        self.outputs: list[Tensor] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is F.scaled_dot_product_attention:
            self.outputs.append(result[0])
        return result


def recording_of(*calls: AttentionCall) -> Recording:
    """Attention by itself, without a model."""
    n_queries, n_keys = calls[0].q.size(1), calls[0].k.size(1)
    queries, keys = (tuple(Token(i, f"▁{i}") for i in range(n)) for n in (n_queries, n_keys))
    attention = Attention("cross", queries, keys, calls)
    return Recording(keys, queries, MappingProxyType({"cross": attention}), {}, torch.zeros(1))


def random_call(d_key: int = 5, d_value: int = 7, **changes: object) -> AttentionCall:
    """3 heads, 4 queries, 6 keys; one mask for all heads that forbids a key, and one row wholly."""
    random = torch.Generator().manual_seed(0)
    q, k, v = (
        torch.randn(3, n, d, generator=random) for n, d in ((4, d_key), (6, d_key), (6, d_value))
    )
    mask = torch.ones(1, 4, 6, dtype=torch.bool)
    mask[:, :, 2] = mask[:, 3] = False
    return replace(AttentionCall(q, k, v, mask, d_key**-0.5, False), **changes)


def assert_stages_add_up(cell: Cell, attention: Attention, fused: Tensor) -> None:
    """fused: [H, Q, d_value] of this cell's layer."""
    call = attention.calls[cell.layer]
    torch.testing.assert_close(cell.q, call.q[cell.head, cell.query])
    torch.testing.assert_close(cell.k, call.k[cell.head, cell.key])
    total = 0.0
    for d in range(len(cell.q)):
        assert cell.products[d] == cell.q[d] * cell.k[d]
        total += float(cell.products[d])
        assert math.isclose(cell.running[d], total, rel_tol=1e-5, abs_tol=1e-5)
    assert cell.running[-1] == cell.dot
    assert math.isclose(cell.dot * cell.scale, cell.score, rel_tol=1e-5, abs_tol=1e-5)
    weights = attention.weights(cell.layer, cell.head)[cell.query]
    torch.testing.assert_close(cell.weights, weights, rtol=0.0, atol=1e-6)
    open_scores = cell.scores[cell.allowed]
    torch.testing.assert_close(
        cell.weights[cell.allowed], open_scores.softmax(0), rtol=0, atol=1e-6
    )
    assert torch.equal(cell.allowed, attention.allowed(cell.layer)[cell.head, cell.query])
    torch.testing.assert_close(cell.part, cell.weight * cell.value)
    torch.testing.assert_close(cell.output, fused[cell.head, cell.query], **close)
    assert math.isclose(cell.shares.sum(), 1.0, abs_tol=1e-5)
    assert math.isclose(
        cell.share, cell.part @ cell.output / (cell.output @ cell.output), abs_tol=1e-5
    )


@dataclass(frozen=True)
class Case:
    preset: str
    changes: dict[str, object]


CASES = [
    *(Case(name, {}) for name in PRESETS),
    Case("aiayn-base", {"attention_scale": "fourth_root"}),
    Case("aiayn-base", {"attention_scale": "none"}),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.preset} {case.changes}")
def test_every_cell_of_every_configuration(case: Case) -> None:
    checkpoint = random_checkpoint(tiny(PRESETS[case.preset].config, **case.changes))
    target = None if checkpoint.config.classes else "5 6 7"
    with FusedOutputs() as fused:
        recording = record(checkpoint, "3 4 5 6", target)
    for kind, attention in recording.attentions.items():
        for layer, call in enumerate(attention.calls):
            mask = call.allowed()
            expected = F.scaled_dot_product_attention(
                call.q, call.k, call.v, attn_mask=mask, scale=call.scale
            )
            assert any(
                output.shape == expected.shape and torch.allclose(output, expected, **close)
                for output in fused.outputs
            ), "the recorded call is one that the model made"
            head, query = layer % attention.n_heads, len(attention.queries) - 1
            for key in range(len(attention.keys)):
                cell = inside(recording, kind, layer, head, query, key)
                assert_stages_add_up(cell, attention, expected)


def test_causal_rows() -> None:
    call = random_call(mask=None, is_causal=True)
    recording = recording_of(call)
    fused = F.scaled_dot_product_attention(call.q, call.k, call.v, is_causal=True, scale=call.scale)
    for head in range(3):
        for query in range(4):
            cell = inside(recording, "cross", 0, head, query, 1)
            assert cell.is_masked == (query == 0)
            assert cell.n_allowed == query + 1
            assert_stages_add_up(cell, recording.attentions["cross"], fused)


def test_a_masked_cell_has_a_score_but_no_weight() -> None:
    cell = inside(recording_of(random_call()), "cross", 0, 1, 0, 2)
    assert cell.is_masked
    assert (cell.weight, cell.share, float(cell.part.abs().sum())) == (0.0, 0.0, 0.0)
    assert math.isclose(cell.dot * cell.scale, cell.score, rel_tol=1e-5)


def test_a_row_with_every_key_masked_is_zero() -> None:
    cell = inside(recording_of(random_call()), "cross", 0, 1, 3, 0)
    assert cell.is_masked and cell.n_allowed == 0
    for zero in (cell.weights, cell.part, cell.output, cell.shares):
        assert not zero.any()


def test_causality_and_a_mask_together() -> None:
    cell = inside(recording_of(random_call(is_causal=True)), "cross", 0, 2, 2, 1)
    assert cell.allowed.tolist() == [True, True, False, False, False, False]


def test_ranks_count_allowed_keys_alone() -> None:
    recording = recording_of(random_call())
    cells = [inside(recording, "cross", 0, 0, 1, key) for key in range(6)]
    allowed = [cell for cell in cells if not cell.is_masked]
    by_score = sorted(allowed, key=lambda cell: -cell.score)
    assert [cell.rank for cell in by_score] == [1, 2, 3, 4, 5]


def test_norms_after_the_output_projection() -> None:
    @dataclass(frozen=True, eq=False)
    class Projected(AttentionCall):
        output: Tensor | None = None

    call = random_call()
    assert inside(recording_of(call), "cross", 0, 0, 0, 0).norms is None
    w_o = torch.randn(3, 7, 12, generator=torch.Generator().manual_seed(1))
    projected = Projected(**{**vars(call), "output": w_o})
    cell = inside(recording_of(projected), "cross", 0, 2, 1, 4)
    expected = [float(torch.linalg.vector_norm(x @ w_o[2])) for x in (cell.part, cell.output)]
    assert cell.norms == pytest.approx(expected, rel=1e-6)


def test_half_precision_is_read_as_float32() -> None:
    call = random_call()
    half = replace(call, q=call.q.half(), k=call.k.half(), v=call.v.half())
    cell = inside(recording_of(half), "cross", 0, 0, 0, 0)
    assert {x.dtype for x in (cell.q, cell.products, cell.scores, cell.weights, cell.part)} == {
        torch.float32
    }


def test_what_is_not_there_is_refused() -> None:
    recording = recording_of(random_call())
    with pytest.raises(KeyError):
        inside(recording, "encoder_self", 0, 0, 0, 0)
    for numbers in ((1, 0, 0, 0), (0, 3, 0, 0), (0, 0, 4, 0), (0, 0, 0, 6)):
        with pytest.raises(IndexError):
            inside(recording, "cross", *numbers)
