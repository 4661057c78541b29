"""A recording is what the model did: it changes nothing, and its weights are the fused ones."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tests.conftest import SENTENCES
from transformer import Checkpoint, InputError, Recording, decode, load_checkpoint, record
from transformer.inputs import source_ids, target_ids

KINDS = ("encoder_self", "decoder_self", "cross")
close = {"rtol": 0.0, "atol": 1e-5}


class FusedCalls(TorchFunctionMode):
    """Every fused attention call with what it gave back: [B, H, Q, d_head]."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is F.scaled_dot_product_attention:
            self.calls.append((*args[:3], result))
        return result


@pytest.fixture(scope="module")
def recording(text_checkpoint: Checkpoint) -> Recording:
    return record(text_checkpoint, SENTENCES[0], SENTENCES[50])


def forced_logits(checkpoint: Checkpoint, source: str, target: str) -> Tensor:
    inputs = [checkpoint.config.bos_id, *target_ids(checkpoint, target)[:-1]]
    with torch.inference_mode():
        return checkpoint.model(
            torch.tensor([source_ids(checkpoint, source)]), torch.tensor([inputs])
        )[0]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_sum_to_one_and_masked_cells_are_zero(recording: Recording, kind: str) -> None:
    attention = recording.attentions[kind]
    for layer in range(attention.n_layers):
        weights, allowed = attention.weights(layer), attention.allowed(layer)
        assert weights.shape == (attention.n_heads, len(attention.queries), len(attention.keys))
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), **close)
        assert torch.equal(weights[~allowed], torch.zeros(int((~allowed).sum())))
        assert bool((weights[allowed] > 0).all())
        assert torch.equal(attention.weights(layer, 1), weights[1])


def test_only_decoder_self_attention_is_causal(recording: Recording) -> None:
    for kind, attention in recording.attentions.items():
        cells = attention.allowed(0)
        assert torch.equal(cells, cells.tril() if kind == "decoder_self" else cells | True)


def test_tokens_of_rows_and_columns(recording: Recording, text_checkpoint: Checkpoint) -> None:
    pieces = {
        kind: [
            "".join(token.piece for token in tokens)
            for tokens in (attention.queries, attention.keys)
        ]
        for kind, attention in recording.attentions.items()
    }
    source = "▁" + SENTENCES[0].replace(" ", "▁") + "</s>"
    read = "<s>▁" + SENTENCES[50].replace(" ", "▁")
    assert pieces == {
        "encoder_self": [source, source],
        "decoder_self": [read, read],
        "cross": [read, source],
    }
    cross = recording.attentions["cross"]
    assert cross.produced == recording.target
    assert cross.produced[:-1] == cross.queries[1:]
    assert recording.attentions["encoder_self"].produced is None


def test_logits_are_bit_identical_with_and_without_recording(text_folder) -> None:
    checkpoint = load_checkpoint(text_folder, "cpu")
    before = forced_logits(checkpoint, SENTENCES[3], SENTENCES[4])
    recorded = record(checkpoint, SENTENCES[3], SENTENCES[4]).logits
    after = forced_logits(checkpoint, SENTENCES[3], SENTENCES[4])
    assert torch.equal(before, recorded)
    assert torch.equal(before, after)


def test_weights_on_demand_give_back_the_fused_output(text_checkpoint: Checkpoint) -> None:
    with FusedCalls() as fused:
        recording = record(text_checkpoint, SENTENCES[7], SENTENCES[9])
    attentions = recording.attentions
    calls = [
        *attentions["encoder_self"].calls,
        *(
            call
            for pair in zip(
                attentions["decoder_self"].calls, attentions["cross"].calls, strict=True
            )
            for call in pair
        ),
    ]
    for call, (q, k, v, output) in zip(calls, fused.calls, strict=True):
        assert call.q.data_ptr() == q.data_ptr()  # references, not copies
        assert call.k.data_ptr() == k.data_ptr()
        torch.testing.assert_close(call.weights() @ v[0], output[0], **close)


def test_positions_are_those_that_were_added(
    recording: Recording, text_checkpoint: Checkpoint
) -> None:
    model, ids = text_checkpoint.model, torch.tensor([source_ids(text_checkpoint, SENTENCES[0])])
    source, target = recording.positions["source"], recording.positions["target"]
    torch.testing.assert_close(source.sum, model.embed(ids)[0], **close)
    assert source.tokens == recording.source
    assert target.tokens == recording.attentions["cross"].queries
    assert torch.equal(source.encodings, source.table[: len(recording.source)])
    assert torch.equal(target.encodings, source.table[: len(recording.target)])


def test_a_deep_copy_of_a_recorded_model_records_too(
    text_checkpoint: Checkpoint, recording: Recording
) -> None:
    from dataclasses import replace

    again = replace(text_checkpoint, model=copy.deepcopy(text_checkpoint.model))
    assert torch.equal(record(again, SENTENCES[0], SENTENCES[50]).logits, recording.logits)


def test_an_exception_leaves_nothing_switched_on(text_folder, monkeypatch) -> None:
    checkpoint = load_checkpoint(text_folder, "cpu")

    def fail(*arguments: object) -> None:
        raise RuntimeError("on purpose")

    attention = checkpoint.model.decoder.layers[0].cross_attention.dot_product
    with monkeypatch.context() as patched:
        patched.setattr(attention, "forward", fail)
        with pytest.raises(RuntimeError, match="on purpose"):
            record(checkpoint, SENTENCES[0], SENTENCES[1])
    assert torch.overrides._get_current_function_mode_stack() == []
    assert record(checkpoint, SENTENCES[0], SENTENCES[1]).attentions["cross"].n_layers == 2


def test_threads_that_share_a_model_never_mix(text_folder) -> None:
    shared, alone = load_checkpoint(text_folder, "cpu"), load_checkpoint(text_folder, "cpu")
    pairs = [(SENTENCES[i], SENTENCES[-1 - i * i % 200]) for i in range(20)]
    expected = [fingerprint(record(alone, *pair)) for pair in pairs]
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(record, shared, *pairs[i % 20]) for i in range(500)]
        for i, job in enumerate(jobs):
            assert same(fingerprint(job.result()), expected[i % 20])


def fingerprint(recording: Recording) -> list[Tensor]:
    return [recording.logits] + [
        attention.weights(layer)
        for attention in recording.attentions.values()
        for layer in range(attention.n_layers)
    ]


def same(a: list[Tensor], b: list[Tensor]) -> bool:
    return len(a) == len(b) and all(map(torch.equal, a, b))


def test_the_target_is_text_or_tokens(text_checkpoint: Checkpoint) -> None:
    decoding = decode(text_checkpoint, SENTENCES[0])
    recording = record(text_checkpoint, SENTENCES[0], decoding.target)
    assert recording.target == decoding.target
    with pytest.raises(InputError, match="has a decoder"):
        record(text_checkpoint, SENTENCES[0])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_recording_on_cuda(text_folder) -> None:
    checkpoint = load_checkpoint(text_folder, "cuda")
    recording = record(checkpoint, SENTENCES[0], SENTENCES[50])
    for attention in recording.attentions.values():
        weights = attention.weights(0)
        torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), **close)
    on_cpu = record(load_checkpoint(text_folder, "cpu"), SENTENCES[0], SENTENCES[50])
    torch.testing.assert_close(recording.logits.float().cpu(), on_cpu.logits, rtol=0.02, atol=0.02)
