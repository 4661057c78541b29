"""Edits that refer to another sentence: the mean of a head, a head or a word's state from there."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.conftest import SENTENCES, random_checkpoint
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from tests.transformer.watch.hugging_face import build
from tests.transformer.watch.invented import STYLES, Stack
from tests.transformer.watch.test_any_module import sequence
from transformer import Checkpoint, EditError, Recording, decode, load_checkpoint, record

OTHER = "5 8 11 2 7"
close = {"rtol": 0.0, "atol": 1e-6}


def heads(recording: Recording, kind: str, layer: int, head: int) -> Tensor:
    return recording.attentions[kind].calls[layer].heads_given()[head]


@pytest.mark.parametrize("name", ["post-norm", "pre-norm", "gpt2", "former-classifier"])
def test_a_head_gives_its_mean_or_what_it_gives_elsewhere(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    decodes, continues = checkpoint.family.decodes, checkpoint.family.continues
    target = TARGET if decodes else None
    for kind in checkpoint.family.attentions:
        written: Any = decode(checkpoint, OTHER).target if decodes and not continues else None
        elsewhere = heads(record(checkpoint, OTHER, written), kind, 1, 0)
        edited = record(checkpoint, SOURCE, target, edits=[f"head-mean:{kind}.1.0={OTHER}"])
        mean = heads(edited, kind, 1, 0)
        torch.testing.assert_close(mean, elsewhere.mean(0).expand(mean.shape), **close)
        assert edited.checked.is_right
        edited = record(checkpoint, SOURCE, target, edits=[f"head-from:{kind}.1.0={OTHER}"])
        patched = heads(edited, kind, 1, 0)
        n = min(len(patched), len(elsewhere))
        torch.testing.assert_close(patched[:n], elsewhere[:n], **close)
        assert edited.checked.is_right
    with pytest.raises(EditError, match="has 2 tokens and this one 5; both must have as many"):
        record(checkpoint, SOURCE, target, edits=[f"head-from:{kind}.0.0=3 4"])


@pytest.mark.parametrize("name", ["post-norm", "pre-norm", "gpt2"])
def test_all_states_of_a_layer_from_another_sentence_make_it_that_sentence(name: str) -> None:
    """Activation patching at all words of the first stack's last layer leaves nothing of this."""
    checkpoint = random_checkpoint(CONFIGS[name])
    kind = next(iter(checkpoint.family.attentions))
    edits = [f"state-from:{kind}.1.{word}={OTHER}" for word in range(5)]
    n = 5 if kind == "encoder_self" else 4  # of a generator, the last word is of the target's side
    patched = record(checkpoint, SOURCE, TARGET, edits=edits)
    wanted = record(checkpoint, OTHER, TARGET)
    plain = record(checkpoint, SOURCE, TARGET)
    rows = slice(None) if n == 5 else slice(0, 1)
    torch.testing.assert_close(patched.logits[rows], wanted.logits[rows], rtol=0.0, atol=1e-5)
    assert not torch.allclose(plain.logits[rows], wanted.logits[rows], rtol=0.0, atol=1e-5)
    one = record(checkpoint, SOURCE, TARGET, edits=edits[2:3])
    assert torch.equal(
        one.attentions[kind].weights(1), plain.attentions[kind].weights(1)
    )  # nothing before that layer's end changes
    if n == 5:  # a generator's early word says nothing to later ones after its last layer
        assert not torch.equal(one.logits, plain.logits)


@pytest.mark.parametrize("name", ["post-norm", "gpt2"])
def test_steps_are_those_of_the_forced_pass(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    kinds = list(checkpoint.family.attentions)
    first, last = kinds[0], kinds[-1]
    edits = [f"head-mean:{last}.0.0", f"head-from:{last}.1.1={OTHER}"]
    edits += [f"state-from:{first}.0.1={OTHER}"]
    for method in ("greedy", "beam"):
        decoding = decode(checkpoint, SOURCE, method, max_len=5, edits=edits)
        logits = record(checkpoint, SOURCE, decoding.target, edits=edits).logits
        torch.testing.assert_close(
            logits.log_softmax(-1), decoding.hypotheses[0].log_probs, rtol=0.0, atol=2e-5
        )


def test_opened_models_and_modules(tmp_path: Path) -> None:
    model: Any = build("Marian")
    model.save_pretrained(tmp_path / "m")
    checkpoint: Checkpoint = load_checkpoint(tmp_path / "m", "cpu")
    edits = ["head-from:encoder_self.0.1=3 5 8 13", "head-mean:cross.1.0"]
    decoding = decode(checkpoint, "7 9 11 13", max_len=4, edits=edits)
    edited = record(checkpoint, "7 9 11 13", decoding.target, edits=edits)
    steps = decoding.hypotheses[0].log_probs
    torch.testing.assert_close(edited.logits.log_softmax(-1), steps, rtol=0.0, atol=1e-4)
    other = record(checkpoint, "3 5 8 13", decoding.target)
    torch.testing.assert_close(
        heads(edited, "encoder_self", 0, 1), heads(other, "encoder_self", 0, 1), **close
    )
    whole = [f"state-from:encoder_self.0.{word}=3 5 8 13" for word in range(4)]
    patched = record(checkpoint, "7 9 11 13", decoding.target, edits=whole)
    torch.testing.assert_close(patched.logits, other.logits, rtol=0.0, atol=1e-5)
    steps = decode(checkpoint, "7 9 11 13", max_len=4, edits=whole[:2])
    same = record(checkpoint, "7 9 11 13", steps.target, edits=whole[:2]).logits
    torch.testing.assert_close(
        same.log_softmax(-1), steps.hypotheses[0].log_probs, rtol=0.0, atol=1e-4
    )
    with pytest.raises(EditError, match=r"not seen in this model"):
        record(checkpoint, "7 9", decoding.target, edits=["state-from:cross.0.1=3 5"])
    torch.manual_seed(3)
    module = Stack(STYLES[0]).eval()
    (kind,) = record(module, sequence()).attentions
    plain = heads(record(module, sequence()), kind, 0, 1)
    mean = heads(record(module, sequence(), edits=[f"head-mean:{kind}.0.1"]), kind, 0, 1)
    torch.testing.assert_close(mean, plain.mean(0).expand(plain.shape), **close)
    with pytest.raises(EditError, match="a module by itself reads no sentence"):
        record(module, sequence(), edits=[f"head-from:{kind}.0.1=a b"])


def test_what_they_refer_to_is_refused_where_it_is_not_there(text_checkpoint: Checkpoint) -> None:
    given = (text_checkpoint, SENTENCES[0], SENTENCES[50])
    for edit, said in (
        (f"state-from:cross.0.1={SENTENCES[0]}", "a layer's state is of encoder_self"),
        (f"state-from:encoder_self.0.99={SENTENCES[0]}", "there is no query 99 here"),
        ("head-mean:cross.0.9=a", "there is no head 9 here"),
    ):
        with pytest.raises(EditError, match=said):
            record(*given, edits=[edit])
