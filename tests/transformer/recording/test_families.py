"""A recording of any family and variant is what that model did."""

import fnmatch
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import random_checkpoint, tiny
from tests.presets import PRESETS
from tests.representatives import cases
from transformer import Checkpoint, Recording, load_checkpoint, record
from transformer.config import ModelConfig

SHIPPED = Path(__file__).parents[3] / "checkpoints"
SOURCE, TARGET = "3 9 4 4 17", "5 6 19"
close = {"rtol": 0.0, "atol": 1e-5}
CONFIGS = {name: tiny(preset.config) for name, preset in PRESETS.items()} | {
    f"{family}, {name}": tiny(PRESETS[preset].config, **changes)
    for family, preset in (
        ("encoder_decoder", "post-norm"),
        ("decoder_only", "gpt2"),
        ("encoder_classifier", "former-classifier"),
    )
    for name, changes in (
        ("wide", {"d_key": 12, "d_value": 7, "attention_scale": "fourth_root"}),
        ("plain", {"projections": False, "d_key": None, "d_value": None}),
        ("concatenated", {"positions": "concatenated"}),
        ("no positions", {"positions": "none"}),
        ("untied", {"tied": "none"}),
    )
}
FEW = {
    "three attentions, the norm of each sum, sinusoids, tied embeddings": "post-norm",
    "the norm of what a sublayer reads": "pre-norm",
    "norms of one gain, of what a sublayer gives; separate embeddings; no end": "copy-task",
    "norms over a batch": "batch-norm",
    "values of another size than keys, a norm behind the encoder": "separate-key-value-sizes",
    "no matrix, so that nothing joins the heads": "encoder_decoder, plain",
    "a decoder alone, learned positions": "gpt2",
    "wide heads, queries and keys scaled apart, a bias of W_O alone": "former-generator",
    "a classifier by the largest, positions beside the words": "concatenated-positions",
    "a classifier by the mean, one head, no positions, scores that nothing scales": (
        "plain-self-attention"
    ),
}
"""What differs in the code of a model -> the configuration that shows it."""
every = pytest.mark.parametrize("name", CONFIGS)
each = pytest.mark.parametrize("name", cases(CONFIGS, FEW))
WRITING = [name for name, config in CONFIGS.items() if config.family != "encoder_classifier"]
CROSS = [name for name, config in CONFIGS.items() if config.family == "encoder_decoder"]
KINDS = {
    "encoder_decoder": {"encoder_self", "decoder_self", "cross"},
    "decoder_only": {"decoder_self"},
    "encoder_classifier": {"encoder_self"},
}


def target_of(checkpoint: Checkpoint) -> str | None:
    return TARGET if checkpoint.family.decodes else None


def watched(checkpoint: Checkpoint) -> tuple[Recording, dict[str, list[Tensor]]]:
    """A recording, and what each fused attention of that pass gave: kind -> [H, Q, d_value]."""
    outputs: dict[str, list[Tensor]] = {kind: [] for kind in checkpoint.family.attentions}
    for kind, pattern in checkpoint.family.attentions.items():
        for path, module in checkpoint.model.named_modules():
            if fnmatch.fnmatchcase(path, pattern):
                module.register_forward_hook(
                    lambda _module, _inputs, output, kind=kind: outputs[kind].append(output[0])
                )
    return record(checkpoint, SOURCE, target_of(checkpoint)), outputs


@every
def test_weights_times_values_are_what_attention_gave(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    recording, outputs = watched(checkpoint)
    assert set(recording.attentions) == KINDS[checkpoint.config.family]
    for kind, attention in recording.attentions.items():
        assert attention.n_heads == checkpoint.config.n_heads
        for layer, (call, output) in enumerate(zip(attention.calls, outputs[kind], strict=True)):
            weights, allowed = attention.weights(layer), attention.allowed(layer)
            assert weights.shape[1:] == (len(attention.queries), len(attention.keys))
            torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), **close)
            assert not weights[~allowed].any()
            cells = torch.ones_like(allowed)
            assert torch.equal(allowed, cells.tril() if kind == "decoder_self" else cells)
            torch.testing.assert_close(weights @ call.v, output, **close)


@each
def test_recording_changes_no_bit_of_the_logits(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    source, target = ([int(word) for word in text.split()] for text in (SOURCE, TARGET))
    inputs = {
        "encoder_decoder": ([source], [[1, *target[:-1]]]),
        "decoder_only": ([source + target[:-1]],),
        "encoder_classifier": ([source],),
    }[checkpoint.config.family]
    with torch.inference_mode():
        before = checkpoint.model(*map(torch.tensor, inputs))[0]
        recording = record(checkpoint, SOURCE, target_of(checkpoint))
        after = checkpoint.model(*map(torch.tensor, inputs))[0]
    assert torch.equal(before, after)
    written = before[-3:] if checkpoint.family.decodes else before
    assert torch.equal(recording.logits, written)
    assert [token.id for token in recording.source] == source
    assert [token.id for token in recording.target] == (target if checkpoint.family.decodes else [])


@each
def test_positions_say_what_the_first_layer_reads(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    read: list[Tensor] = []
    for stack in ("encoder", "decoder"):
        if hasattr(checkpoint.model, stack):
            first = checkpoint.model.get_submodule(stack).layers[0]
            first.register_forward_pre_hook(lambda _module, inputs: read.append(inputs[0][0]))
    positions = record(checkpoint, SOURCE, target_of(checkpoint)).positions
    if checkpoint.config.positions == "none":
        assert positions == {}
        return
    for encoding, vectors in zip(positions.values(), read, strict=True):
        assert torch.equal(encoding.sum, vectors)
        assert len(encoding.tokens) == len(vectors)
        assert torch.equal(encoding.encodings, encoding.table[: len(vectors)])
        if checkpoint.config.positions != "concatenated":
            assert torch.equal(encoding.sum, encoding.embeddings + encoding.encodings)


def test_a_prompt_alone_is_recorded_whole() -> None:
    checkpoint = random_checkpoint(CONFIGS["gpt2"])
    alone, longer = record(checkpoint, SOURCE), record(checkpoint, SOURCE, TARGET)
    assert alone.logits.shape == (5, 20)
    assert alone.target == ()
    attention = longer.attentions["decoder_self"]
    assert [token.id for token in attention.queries] == [3, 9, 4, 4, 17, 5, 6]
    assert [token.id for token in attention.produced] == [9, 4, 4, 17, 5, 6, 19]
    for layer in range(2):
        torch.testing.assert_close(
            attention.weights(layer)[:, :5, :5],
            alone.attentions["decoder_self"].weights(layer),
            **close,
        )


@pytest.mark.parametrize("text", [SOURCE, "7", "3 3 3 3", " ".join(["5 6 7 8"] * 4)])
@pytest.mark.parametrize("pooling", ["mean", "max"])
def test_a_classification_adds_up(pooling: str, text: str) -> None:
    config: ModelConfig = tiny(CONFIGS["former-classifier"], pooling=pooling)
    checkpoint = random_checkpoint(config)
    recording = record(checkpoint, text)
    classification: Any = recording.classification
    n, bias = len(recording.source), classification.bias
    assert classification.contributions().shape == (n, 2)
    torch.testing.assert_close(
        classification.contributions().sum(0) + bias, classification.logits, **close
    )
    assert torch.equal(classification.logits, recording.logits)
    assert classification.taken().shape == (n,)
    assert float(classification.taken().sum()) == pytest.approx(1, abs=1e-6)
    assert float(classification.probs.sum()) == pytest.approx(1, abs=1e-6)
    assert classification.classes == ("negative", "positive")


@pytest.mark.parametrize("name", ["sentiment", "sentiment-mean"])
@pytest.mark.parametrize("edits", [["hide:text.1"], ["hide:text.0", "hide:text.3"]])
def test_a_hidden_word_adds_nothing_to_the_class(name: str, edits: list[str]) -> None:
    checkpoint = load_checkpoint(SHIPPED / name, "cpu")
    recording = record(checkpoint, "a great film .", edits=edits)
    classification: Any = recording.classification
    hidden = [int(edit[-1]) for edit in edits]
    contributions, taken = classification.contributions(), classification.taken()
    torch.testing.assert_close(
        contributions.sum(0) + classification.bias, classification.logits, **close
    )
    assert not contributions[hidden].any() and not taken[hidden].any()
    assert float(taken.sum()) == pytest.approx(1, abs=1e-6)
    whole: Any = record(checkpoint, "a great film .").classification
    assert not torch.equal(whole.logits, classification.logits)


def test_only_a_classifier_classifies() -> None:
    for name in ("gpt2", "post-norm"):
        assert record(random_checkpoint(CONFIGS[name]), SOURCE, TARGET).classification is None


def test_max_pooling_credits_the_positions_that_won() -> None:
    classification: Any = record(
        random_checkpoint(CONFIGS["former-classifier"]), SOURCE
    ).classification
    outputs = classification.outputs
    for position in range(5):
        won = outputs[position] == outputs.max(0).values
        assert float(classification.taken()[position]) == pytest.approx(float(won.float().mean()))
        expected = classification.weight[:, won] @ outputs[position, won]
        torch.testing.assert_close(classification.contributions()[position], expected, **close)
