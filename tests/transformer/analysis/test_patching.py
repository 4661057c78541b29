"""Patching: what is in closed form, hooks written by hand, and opened models."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.conftest import random_checkpoint
from tests.representatives import cases
from tests.transformer.recording.test_families import CONFIGS
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, load_checkpoint, record
from transformer.analysis import patching as module
from transformer.analysis.patching import NAMES, Pair, Patching, effects, pair_of, patching
from transformer.edits import Edit

A, B = "3 9 11 4 17", "3 9 7 4 12"
OURS = ("post-norm", "pre-norm", "encoder_decoder, wide", "gpt2", "former-classifier")
FEW = {"a source": "post-norm", "a text that goes on": "gpt2", "a class": "former-classifier"}
"""What is patched, and what is judged -> the configuration that shows it."""


@pytest.fixture(params=cases(OURS, FEW))
def checkpoint(request: pytest.FixtureRequest) -> Checkpoint:
    return ours(request.param)


@cache
def ours(name: str) -> Checkpoint:
    return differing(lambda seed: random_checkpoint(CONFIGS[name], seed))


def differing(make: Callable[[int], Checkpoint]) -> Checkpoint:
    """Random models do not all tell these sentences apart; generators at once, so that the prompt
    is all that they read."""
    for seed in range(60):
        try:
            pair = pair_of(made := make(seed), B, A)
        except InputError:
            continue
        if not (pair.written and made.family.continues):
            return made
    raise AssertionError("no seed tells them apart")


def all_of(checkpoint: Checkpoint) -> Patching:
    *_, last = patching(checkpoint, B, A)
    assert list(last.effects) == list(last.edits)
    assert {
        edit
        for name in NAMES
        for layers in last.of(name).values()
        for layer in layers
        for edit in layer.values()
    } == {*last.edits}
    for wrong in ("state", "head-off", ""):
        with pytest.raises(InputError):
            last.of(wrong)
    return last


def by_record(checkpoint: Checkpoint, pair: Pair, *edits: Edit) -> float:
    """The effect of edits that are in force at once."""
    target = (*pair.written, checkpoint.tokenizer.token(pair.ids[1]))
    decodes = checkpoint.family.decodes
    logits = record(checkpoint, pair.text, target if decodes else None, edits).logits
    row = logits[-1] if decodes else logits
    return pair.effect(float(row[pair.ids[0]] - row[pair.ids[1]]))


def states_at(edits: tuple[Edit, ...], kind: str, layer: int) -> list[Edit]:
    where = ("state-from", kind, layer)
    return [edit for edit in edits if (edit.name, edit.place, edit.layer) == where]


def test_every_patch_in_a_batch_is_a_run_of_its_own(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ROWS", 7)
    last = all_of(checkpoint)
    pair, tried, found = last.pair, last.edits, last.effects
    assert {edit.place for edit in tried if edit.name == "head-from"} == set(
        checkpoint.family.attentions
    )
    for edit, effect in found.items():
        assert effect == pytest.approx(by_record(checkpoint, pair, edit), abs=1e-4)
    assert max(map(abs, found.values())) > 1e-3


def test_all_places_of_a_layer_make_it_the_other_run_and_nothing_changes_nothing(
    checkpoint: Checkpoint,
) -> None:
    last = all_of(checkpoint)
    pair, tried = last.pair, last.edits
    kind = tried[0].place  # of the first stack
    for layer in range(2):
        whole = states_at(tried, kind, layer)
        assert len(whole) == len(pair.tokens)
        assert by_record(checkpoint, pair, *whole) == pytest.approx(1, abs=1e-4)
    assert by_record(checkpoint, pair) == pytest.approx(0, abs=1e-4)
    own = [Edit(edit.name, edit.place, edit.numbers, text=B) for edit in tried]
    found = [effect for some in effects(checkpoint, pair, own) for effect in some.values()]
    assert found == pytest.approx([0] * len(own), abs=1e-4)


def test_of_a_causal_model_words_before_the_first_other_one_do_nothing() -> None:
    checkpoint = ours("gpt2")
    found = all_of(checkpoint).effects
    for layer in range(2):
        row = [found[edit] for edit in states_at(tuple(found), "decoder_self", layer)]
        assert row[:2] == pytest.approx([0, 0], abs=1e-4)
        assert max(map(abs, row[2:])) > 1e-3


def hooked(
    model: nn.Module, layer: nn.Module, run: Callable[[], Tensor], cached: Tensor, place: int
) -> Tensor:
    """Logits with one row of what a module gives replaced: a hook written by hand."""

    def patch(module: Any, inputs: Any, output: Any) -> Any:
        states = (output[0] if isinstance(output, tuple) else output).clone()
        states[0, place] = cached[0, place]
        return (states, *output[1:]) if isinstance(output, tuple) else states

    handle = layer.register_forward_hook(patch)
    try:
        return run()
    finally:
        handle.remove()


def given_by(layer: nn.Module, run: Callable[[], Tensor]) -> Tensor:
    kept = []
    handle = layer.register_forward_hook(
        lambda module, inputs, output: kept.append(
            output[0] if isinstance(output, tuple) else output
        )
    )
    run()
    handle.remove()
    return kept[0].clone()


LAYERS = {
    "post-norm": ("encoder.layers", "decoder.layers"),
    "gpt2": ("", "decoder.layers"),
    "Marian": ("inner.model.encoder.layers", "inner.model.decoder.layers"),
    "mBART": ("inner.model.encoder.layers", "inner.model.decoder.layers"),
    "T5": ("inner.encoder.block", "inner.decoder.block"),
    "GPT-2": ("", "inner.transformer.h"),
    "Llama": ("", "inner.model.layers"),
    "GPT-NeoX": ("", "inner.gpt_neox.layers"),
    "BLOOM": ("", "inner.transformer.h"),
}


@cache
def opened(name: str) -> Checkpoint:
    """One of the library's, opened once; its weights are drawn until it tells A from B."""
    with TemporaryDirectory() as folder:
        model: Any = build(name)
        model.save_pretrained(folder)
        checkpoint = load_checkpoint(folder, "cpu")

    def make(seed: int) -> Checkpoint:
        torch.manual_seed(seed)
        for path, parameter in checkpoint.model.named_parameters():
            is_of_layer = not {"layers", "h", "block"}.isdisjoint(path.split("."))
            if parameter.dim() > 1 and is_of_layer:  # else it repeats what it reads
                parameter.data.normal_(std=0.5)
        return checkpoint

    return differing(make)


PATCHED = {
    "a source of ours": "post-norm",
    "a text of ours": "gpt2",
    "a source, and layers that give several things": "T5",
    "a text": "Llama",
}
"""Where a state is put, and in whose layers -> the model that shows it."""


@pytest.mark.parametrize("name", cases(LAYERS, PATCHED))
def test_a_patch_is_what_a_hook_written_by_hand_does(name: str) -> None:
    checkpoint = ours(name) if name in CONFIGS else opened(name)
    last = all_of(checkpoint)
    pair, tried, found = last.pair, last.edits, last.effects
    own = [token.id for token in pair.tokens]
    model, config, ids = checkpoint.model, checkpoint.config, pair.ids
    prefix = [token.id for token in pair.written]
    others = [token.id for token in pair.other_tokens]

    def run(sources: list[int]) -> Tensor:
        forced = checkpoint.family.forced_pass(config, sources, [*prefix, ids[1]])
        with torch.inference_mode():
            return model(*(torch.tensor([each]) for each in forced.inputs))[0, -1]

    n_checked = 0
    for kind, path in zip(("encoder_self", "decoder_self"), LAYERS[name], strict=True):
        for number in range(2) if path else ():
            layer = model.get_submodule(f"{path}.{number}")
            cached = given_by(layer, lambda: run(others))
            for edit in states_at(tried, kind, number):
                logits = hooked(model, layer, lambda: run(own), cached, edit.query)
                wanted = pair.effect(float(logits[ids[0]] - logits[ids[1]]))
                assert found[edit] == pytest.approx(wanted, abs=2e-4)
                n_checked += 1
    assert n_checked == sum(edit.name == "state-from" for edit in tried) > 0
    for edit, effect in found.items():
        if edit.name == "head-from":
            assert effect == pytest.approx(by_record(checkpoint, pair, edit), abs=2e-4)
    whole = states_at(tried, tried[0].place, 0)
    assert by_record(checkpoint, pair, *whole) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("sentences", "said"),
    [
        (("3 9 4", B), r"\(A\) has 3 tokens and the text \(B\) 5;"),
        ((B, f" {B}"), "are the same sentence"),
        (("", B), "The text is empty"),
    ],
)
def test_sentences_that_cannot_be_patched_are_refused(
    sentences: tuple[str, str], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        pair_of(random_checkpoint(CONFIGS["post-norm"]), *sentences[::-1])


def test_what_has_nothing_to_measure_is_refused(tmp_path: Path) -> None:
    model: Any = build("BERT")
    model.save_pretrained(tmp_path)
    with pytest.raises(InputError, match="nothing is measured"):
        pair_of(load_checkpoint(tmp_path, "cpu"), B, A)
    alike = random_checkpoint(CONFIGS["former-classifier"])
    alike.model.classify.weight.zero_()  # type: ignore[union-attr,operator]
    with pytest.raises(InputError, match="answered alike, so nothing tells them apart"):
        pair_of(alike, B, A)


def test_states_patched_in_one_thread_are_not_seen_in_another() -> None:
    checkpoint = opened("GPT-2")
    alone = record(checkpoint, B).logits
    edits = [f"state-from:decoder_self.0.{word}={A}" for word in range(5)]
    patched = record(checkpoint, B, edits=edits).logits
    assert not torch.allclose(alone, patched, atol=1e-3)
    with ThreadPoolExecutor(8) as pool:
        found = list(
            pool.map(lambda i: record(checkpoint, B, edits=edits[: 5 * (i % 2)]), range(80))
        )
    for i, each in enumerate(found):
        wanted = patched if i % 2 else alone
        torch.testing.assert_close(each.logits, wanted, rtol=0.0, atol=1e-5)
    assert not any(module._forward_hooks for module in checkpoint.model.modules())


def test_what_was_tried_before_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = ours("post-norm")
    monkeypatch.setattr(module, "ROWS", 5)
    growing = patching(checkpoint, B, A)
    first, second, third = next(growing), next(growing), next(growing)
    assert [len(each.effects) for each in (first, second, third)] == [0, 5, 10]
    fourth = next(patching(checkpoint, B, A, third))
    assert list(fourth.effects) == list(fourth.edits[:15])
    assert fourth.effects == next(growing).effects
    *_, last = patching(checkpoint, B, A, third)
    assert not list(patching(checkpoint, B, A, last))
