"""A sweep in one batch says what one run per edit says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES, random_checkpoint
from tests.representatives import cases
from tests.transformer.own_module.test_from_module import copier
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, EditError, InputError, decode, load_checkpoint, record
from transformer.analysis import scored as module
from transformer.analysis.ablation import heads_off, n_pairs, pairs_of, strongest, sweep, sweeping
from transformer.edits import Edit
from transformer.token import Token


def one_by_one(checkpoint: Checkpoint, source: str, target: str | Sequence[Token]) -> None:
    found = sweep(checkpoint, source, target)
    assert found.changes.shape == found.best_edited.shape == (len(found.edits), len(found.target))
    ids = [token.id for token in found.target]
    for row, edit in enumerate(found.edits):
        alone = decode(checkpoint, source, "forced", target=target, edits=[edit]).hypotheses[0]
        wanted = alone.log_probs[range(len(ids)), ids]
        torch.testing.assert_close(
            found.log_probs + found.changes[row], wanted, rtol=0.0, atol=2e-5
        )
        assert torch.equal(found.best_edited[row], alone.log_probs.argmax(-1))
    plain = record(checkpoint, source, target).logits.log_softmax(-1)[range(len(ids)), ids]
    torch.testing.assert_close(found.log_probs, plain, rtol=0.0, atol=2e-5)


@pytest.mark.parametrize("name", ["post-norm", "pre-norm", "gpt2", "encoder_decoder, wide"])
def test_each_head_off_is_a_run_of_its_own(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    one_by_one(checkpoint, SOURCE, TARGET)
    found = heads_off(checkpoint)
    assert len(set(found)) == len(found)
    assert {edit.place for edit in found} == set(checkpoint.family.attentions)


def test_batches_may_be_small(text_checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS", 5)
    monkeypatch.setattr(module, "CELLS", 3)
    one_by_one(text_checkpoint, SENTENCES[0], SENTENCES[50])


@pytest.mark.parametrize("name", ["pre-norm", "gpt2"])
def test_layers_below_the_first_that_is_edited_are_run_once(name: str) -> None:
    """A row joins at its own layer; where an encoder's head is off, in the decoder's first."""
    checkpoint = random_checkpoint(CONFIGS[name])
    model: Any = checkpoint.model
    n_heads = checkpoint.config.n_heads  # type: ignore[union-attr]
    stacks = [model.encoder, model.decoder] if name == "pre-norm" else [model.decoder]
    expected, n_rows = [], 1
    for stack in stacks:
        for layer in stack.layers:
            n_rows += n_heads * (2 if getattr(layer, "cross_attention", None) else 1)
            expected.append(n_rows)
    seen: list[int] = []

    def see(module: Any, inputs: Any, states: torch.Tensor) -> None:
        seen.append(len(states))

    hooks = [layer.register_forward_hook(see) for stack in stacks for layer in stack.layers]
    sweep(checkpoint, SOURCE, TARGET)
    for hook in hooks:
        hook.remove()
    assert seen == expected


def test_edits_may_be_chosen_and_are_checked(text_checkpoint: Checkpoint) -> None:
    given = (text_checkpoint, SENTENCES[0], SENTENCES[50])
    edits = ["cut:cross.0.1.2.3", "head-scale:encoder_self.1.1=1", "head-uniform:decoder_self.0.0"]
    found = sweep(*given, edits)
    assert [str(edit) for edit in found.edits] == edits
    torch.testing.assert_close(found.changes[1], torch.zeros(len(found.target)), rtol=0, atol=1e-5)
    assert bool((found.changes[0] != 0).any()) and bool((found.changes[2] != 0).any())
    assert not found.changes[0, :2].abs().gt(1e-5).any()  # row 2 writes the third word
    with pytest.raises(EditError, match="no head 9 here"):
        sweep(*given, ["head-off:cross.0.9"])
    with pytest.raises(InputError, match="take the edit of positions"):
        sweep(*given, ["positions-zero:source"])


def test_a_classifier_s_words_are_its_classes() -> None:
    checkpoint = random_checkpoint(CONFIGS["former-classifier"])
    found = sweep(checkpoint, SOURCE)
    assert found.target == () and len(found.output.classes) == found.changes.size(1)
    for row, edit in enumerate(found.edits):
        decided = record(checkpoint, SOURCE, edits=[edit]).classification
        assert decided is not None
        log_probs = decided.logits.log_softmax(-1)
        torch.testing.assert_close(found.log_probs + found.changes[row], log_probs)
        assert int(found.best_edited[row]) == int(log_probs.argmax())
    assert torch.equal(found.totals, found.changes[:, int(found.best)])
    with pytest.raises(InputError, match="leave the target out"):
        sweep(checkpoint, SOURCE, TARGET)


def test_a_generator_s_text_is_judged_word_by_word() -> None:
    checkpoint = random_checkpoint(CONFIGS["gpt2"])
    found = sweep(checkpoint, SOURCE)
    ids = [token.id for token in found.target]
    assert [token.id for token in record(checkpoint, SOURCE).source[1:]] == ids
    for row, edit in enumerate(found.edits):
        logits = record(checkpoint, SOURCE, edits=[edit]).logits[:-1]
        wanted = logits.log_softmax(-1)[range(len(ids)), ids]
        torch.testing.assert_close(found.log_probs + found.changes[row], wanted, rtol=0, atol=2e-5)
    torch.testing.assert_close(found.totals, found.changes.sum(-1))
    with pytest.raises(InputError, match="one token"):
        sweep(checkpoint, SOURCE.split()[0])


def test_modules_of_anybody_s_are_run_head_by_head() -> None:
    checkpoint = copier()
    target = decode(checkpoint, "abc").target
    *parts, found = sweeping(checkpoint, "abc", target)
    assert [len(each.edits) for each in (*parts, found)] == list(range(len(found.edits) + 1))
    assert {edit.place for edit in found.edits} == {"encoder_self", "decoder_self", "cross"}
    one_by_one(checkpoint, "abc", target)


OPENED = {"three attentions": "Marian", "one, of grouped heads": "Llama"}


@pytest.mark.parametrize("name", cases(("Marian", "T5", "GPT-2", "Llama"), OPENED))
def test_opened_models_are_run_head_by_head(name: str, tmp_path: Path) -> None:
    model: Any = build(name)
    model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    target = decode(checkpoint, SOURCE, max_len=4).target
    one_by_one(checkpoint, SOURCE, target)
    attentions = record(checkpoint, SOURCE, target).attentions
    found = sweep(checkpoint, SOURCE, target)
    assert len(found.edits) == sum(each.n_layers * each.n_heads for each in attentions.values())
    assert not found.refused and bool((found.changes != 0).any())


def test_a_pair_is_three_passes() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    found = sweep(checkpoint, SOURCE, TARGET)
    rows = strongest(found, 5)
    sizes = found.totals.abs()
    assert float(sizes[rows].min()) >= float(sizes.sort(descending=True).values[4])
    *_, pairs = pairs_of(checkpoint, found, rows)
    assert len(pairs.pairs) == n_pairs(5) == pairs.n_asked

    def log_prob(*edits: Edit) -> float:
        return decode(checkpoint, SOURCE, "forced", target=TARGET, edits=edits).hypotheses[0].score

    plain = log_prob()
    for i, (a, b) in enumerate(pairs.pairs):
        d_a, d_b, both = (log_prob(*edits) - plain for edits in ([a], [b], [a, b]))
        assert float(pairs.synergy[i]) == pytest.approx(both - d_a - d_b, abs=1e-4)
        assert {a, b} <= {found.edits[row] for row in rows}
