"""What record() sees of Hugging Face models is what they say themselves, and what the docs say."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases, part
from tests.transformer.watch import more_families
from tests.transformer.watch.hugging_face import (
    FAMILIES,
    FEW,
    REQUIRED,
    SOURCE,
    build,
    expected,
    inputs_of,
)
from tests.transformer.watch.models_table import (
    NAMES,
    cells,
    has_output,
    recorded,
    row,
)
from tests.transformer.watch.more_families import MORE
from transformer import InputError, Recording, record
from transformer.analysis.cell import inside
from transformer.recording import AttentionCall, WeightsCall

ROWS = cells()
WHOLE_AND_PADDED = {
    **{f"{family} itself": (family, "whole") for family in FAMILIES},
    **{f"{what}, padded": (family, "padded") for what, family in FEW.items()},
}


def furthest(recording: Recording, kind: str, wanted: Sequence[Tensor]) -> float:
    """The largest difference; rows that may read nothing are 0 here and even there, so left out."""
    attention = recording.attentions[kind]
    assert attention.n_layers == len(wanted)
    differences = []
    for layer, weights in enumerate(wanted):
        ours = attention.weights(layer)
        if attention.keys[-1].piece == "sink" and weights.size(-1) < ours.size(-1):
            ours = ours[..., :-1]  # the library leaves its column out
        assert ours.shape == weights[0].shape
        is_read = attention.allowed(layer).any(-1)
        differences.append((ours - weights[0])[is_read].abs().max())
    return float(max(differences))


@cache
def said_of(family: str, is_padded: bool) -> dict[str, tuple[Tensor, ...]]:
    """The weights by the library; each once, whichever way they are watched."""
    eager = build(family, "eager")
    return expected(eager, inputs_of(eager, is_padded))


@pytest.mark.parametrize(
    ("family", "inputs"), cases(product(FAMILIES, ("whole", "padded")), WHOLE_AND_PADDED)
)
def test_weights_are_the_library_s_own(family: str, inputs: str) -> None:
    is_padded = inputs == "padded"
    recording = recorded(family, is_padded)
    if not is_padded:
        assert row(family, recording) == (family, *ROWS[family][1:])
    if isinstance(recording, str):
        assert family not in REQUIRED
        return
    wanted = said_of(family, is_padded)
    assert set(recording.attentions) <= set(wanted)
    assert family not in REQUIRED or set(recording.attentions) == set(wanted)
    for kind in recording.attentions:
        assert furthest(recording, kind, wanted[kind]) < 1e-5
    assert recording.checked.n_checked == recording.checked.n_layers
    assert not recording.checked.contradictions


@pytest.mark.parametrize("family", MORE)
def test_more_families_are_recorded_or_named(family: str) -> None:
    recording = recorded(family)
    assert row(family, recording) == (family, *ROWS[family][1:])
    if isinstance(recording, str):
        return
    assert recording.checked.n_checked == recording.checked.n_layers
    assert not recording.checked.contradictions
    assert has_output(recording) != any("W_O" in cell for cell in row(family, recording))


SAYING = [name for name, family in MORE.items() if family.says != "other"]


@pytest.mark.parametrize("family", part(SAYING, more_families.FEW))
def test_weights_of_more_families_are_the_library_s_own(family: str) -> None:
    recording = recorded(family)
    if isinstance(recording, str):
        return
    said = MORE[family].said()
    for kind in recording.attentions if said else ():
        assert furthest(recording, kind, said.get(kind) or said[""]) < 1e-5


def test_the_document_names_nothing_else() -> None:
    assert tuple(ROWS) == NAMES
    assert len(ROWS) >= 100


@pytest.mark.parametrize("family", ["Marian", "Llama", "T5", "Gemma-2", "BLOOM"])
def test_the_pass_is_bit_identical(family: str) -> None:
    model = build(family)
    with torch.no_grad():
        plain = model(**inputs_of(model)).logits
    assert torch.equal(record(model, inputs_of(model)).logits, plain[0])


@pytest.mark.parametrize("family", ["GPT-2", "GPT-NeoX", "Llama", "Mistral", "GPT-J"])
def test_with_a_cache_queries_are_the_last_of_the_keys(family: str) -> None:
    model, eager = build(family), build(family, "eager")
    ids = inputs_of(model)["input_ids"]

    def later(model: Any) -> dict[str, Any]:
        with torch.no_grad():
            past = model(ids[:, :-3], use_cache=True).past_key_values
        return {"input_ids": ids[:, -3:], "past_key_values": past}

    recording = record(model, later(model), [f"t{i}" for i in range(SOURCE)])
    (attention,) = recording.attentions.values()
    assert attention.kind == "decoder_self"
    assert [token.piece for token in attention.queries] == ["t6", "t7", "t8"]
    assert furthest(recording, "decoder_self", expected(eager, later(eager))["decoder_self"]) < 1e-5


def test_windows_that_hold_other_lengths_are_kinds_of_their_own() -> None:
    model = build("Gemma-2")
    ids = inputs_of(model)["input_ids"]
    with torch.no_grad():
        past = model(ids[:, :-3], use_cache=True).past_key_values
    recording = record(model, {"input_ids": ids[:, -3:], "past_key_values": past})
    assert {kind: len(each.keys) for kind, each in recording.attentions.items()} == {
        "decoder_self": 6,
        "self_attn 3×9": 9,
    }


@pytest.mark.parametrize("family", ["GPT-2", "Llama"])
def test_one_step_with_a_cache_is_a_decoder_s_own(family: str) -> None:
    model = build(family)
    ids = inputs_of(model)["input_ids"]
    with torch.no_grad():
        past = model(ids[:, :-1], use_cache=True).past_key_values
    recording = record(model, {"input_ids": ids[:, -1:], "past_key_values": past})
    assert list(recording.attentions) == ["decoder_self"]


def test_two_texts_are_a_batch_and_not_windows() -> None:
    ids = torch.randint(5, 50, (2, 6))
    with pytest.raises(InputError, match="reads 2 sequences at once"):
        record(build("BERT"), {"input_ids": ids, "attention_mask": torch.ones_like(ids)})


def test_threads_on_one_model_do_not_mix() -> None:
    model = build("Marian")
    texts = [
        {
            "input_ids": torch.randint(5, 50, (1, 5 + n % 3)),
            "decoder_input_ids": torch.randint(5, 50, (1, 4 + n % 2)),
        }
        for n in range(8)
    ]

    def cross(n: int) -> Tensor:
        return record(model, texts[n]).attentions["cross"].weights(1)

    alone = [cross(n) for n in range(8)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(cross, list(range(8)) * 4))
    assert all(torch.equal(alone[n % 8], found) for n, found in enumerate(together))


def added(call: AttentionCall) -> Tensor:
    """What all heads add to the residual stream, without the bias of W_O: [Q, D]."""
    call = call.heads(slice(None))
    assert call.output is not None
    return (call.weights() @ call.v @ call.output).sum(0)


PROJECTIONS = {
    "BERT": "bert.encoder.layer.1.attention.output.dense",
    "T5": "encoder.block.1.layer.0.SelfAttention.o",
    "GPT-2": "transformer.h.1.attn.c_proj",
    "GPT-J": "transformer.h.1.attn.out_proj",
    "Llama": "model.layers.1.self_attn.o_proj",
    "DeBERTa-v2": "deberta.encoder.layer.1.attention.output.dense",
    "DeepSeek-V3": "model.layers.1.self_attn.o_proj",
}


@pytest.mark.parametrize(("family", "path"), PROJECTIONS.items(), ids=PROJECTIONS)
def test_the_projection_found_is_the_model_s(family: str, path: str) -> None:
    model = build(family)
    module: nn.Module = model.get_submodule(path)
    outputs: list[Tensor] = []
    module.register_forward_hook(lambda module, inputs, output: outputs.append(output[0]))
    recording = record(model, inputs_of(model))
    call = next(iter(recording.attentions.values())).calls[1]
    bias = getattr(module, "bias", None)
    wanted = outputs[0] if bias is None else outputs[0] - bias.detach()
    torch.testing.assert_close(added(call), wanted, rtol=1e-4, atol=1e-5)


def test_keys_of_several_queries_are_kept_once() -> None:
    recording = recorded("Llama")
    assert isinstance(recording, Recording)
    call = recording.attentions["decoder_self"].calls[0]
    assert (call.q.size(0), call.k.size(0), call.v.size(0)) == (4, 2, 2)
    for head in range(4):
        torch.testing.assert_close(call.only(head).weights()[0], call.weights()[head])
        assert call.only(head).k.data_ptr() == call.k[head // 2].data_ptr()


def test_a_relative_bias_is_told_from_the_mask() -> None:
    recording = recorded("T5", padded=True)
    assert isinstance(recording, Recording)
    call = recording.attentions["encoder_self"].calls[1]
    assert call.bias is not None and call.bias.shape == (4, SOURCE, SOURCE)
    assert call.mask is not None and not bool(call.mask[..., -2:].any())
    assert bool(call.mask[..., :-2].all())


def test_a_sliding_window_is_a_mask() -> None:
    recording = recorded("Mistral")
    assert isinstance(recording, Recording)
    distance = torch.arange(SOURCE)[:, None] - torch.arange(SOURCE)
    allowed = recording.attentions["decoder_self"].allowed(1)
    assert torch.equal(allowed[0], (distance >= 0) & (distance < 4))


def test_soft_capped_scores_are_seen_as_weights() -> None:
    recording = recorded("Gemma-2")
    assert isinstance(recording, Recording)
    assert all(type(call) is WeightsCall for call in recording.attentions["decoder_self"].calls)


def test_a_cell_adds_its_bias_to_its_score() -> None:
    recording = recorded("T5")
    assert isinstance(recording, Recording)
    weights = recording.attentions["decoder_self"].weights(1)
    cell = inside(recording, "decoder_self", 1, 2, 4, 3)
    assert cell.bias != 0
    assert cell.score == pytest.approx(cell.dot * cell.scale + cell.bias, abs=1e-5)
    assert cell.weight == pytest.approx(float(weights[2, 4, 3]), abs=1e-6)


def test_weights_alone_have_no_inside() -> None:
    recording = recorded("Gemma-2")
    assert isinstance(recording, Recording)
    with pytest.raises(ValueError, match="only the weights"):
        inside(recording, "decoder_self", 0, 0, 1, 0)
