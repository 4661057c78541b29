"""The parts of a score sum to the score that was recorded, in every family and with every norm."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.transformer.edits.test_ours import recorded
from tests.transformer.recording.test_families import CONFIGS, each
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.analysis.score_terms import FOUR, NoTerms, score_terms

KINDS = ("encoder_self", "decoder_self")
IDS = "7 9 11 13 4"


@each
def test_the_terms_sum_to_the_score(name: str) -> None:
    """Also where positions are moved, and an arrow has another weight."""
    checkpoint = random_checkpoint(CONFIGS[name])
    with torch.no_grad():  # biases that are not 0, gains that are not 1
        generator = torch.Generator().manual_seed(5)
        for parameter in checkpoint.model.parameters():
            if parameter.dim() == 1:
                parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
    for kind in KINDS:
        if kind not in checkpoint.family.attentions:
            continue
        for edits in ((), (f"arrow-scale:{kind}.0.0.2.1=0.5",)):
            recording = recorded(checkpoint, *edits)
            found = score_terms(checkpoint, recording, kind, 0)
            scores = recording.attentions[kind].calls[0].only(0).scores()[0]
            assert torch.equal(found.score.float(), scores)
            assert found.error < 1e-5 * max(1.0, float(scores.abs().max()))
            assert set(found.four) == set(FOUR) or checkpoint.config.positions == "none"
            assert bool(found.others.abs().max() > 0.1) is bool(edits)


def test_what_is_frozen_is_said() -> None:
    """Post-norm: the first attention reads the sum itself; pre-norm: through a norm."""
    frozen = {
        name: score_terms(checkpoint, recorded(checkpoint), kind, 1).is_frozen
        for name, kind in (("post-norm", "encoder_self"), ("gpt2", "decoder_self"))
        for checkpoint in [random_checkpoint(CONFIGS[name])]
    }
    assert frozen == {"post-norm": False, "gpt2": True}


def test_terms_of_positions_are_those_that_go_with_them() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    plain, edited = (
        score_terms(checkpoint, recorded(checkpoint, *edits), "encoder_self", 1)
        for edits in ((), ("positions-zero:source",))
    )
    for of, to in FOUR:
        part = edited.four[of, to]
        if (of, to) == ("content", "content"):
            torch.testing.assert_close(part, plain.four[of, to])
        else:
            assert not part.any()


def test_what_cannot_be_taken_apart_is_said() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    with pytest.raises(NoTerms, match="states of two stacks"):
        score_terms(checkpoint, recorded(checkpoint), "cross", 0)


@pytest.fixture(scope="module")
def two_of_one(tmp_path_factory: pytest.TempPathFactory) -> list[Checkpoint]:
    """A small GPT-2 as the library runs it, and on the same weights as a model of ours."""
    model = build("GPT-2")
    with torch.no_grad():
        generator = torch.Generator().manual_seed(5)
        for weight in model.parameters():
            weight += 0.3 * torch.randn(weight.shape, generator=generator)
    folder = tmp_path_factory.mktemp("gpt2")
    model.save_pretrained(folder)
    state = {
        name: each.T.contiguous() if ".c_" in name and name.endswith("weight") else each
        for name, each in model.state_dict().items()
    }
    torch.save({"model": state, "model_args": {"n_head": 4}}, folder / "ckpt.pt")
    return [load_checkpoint(folder / name, "cpu") for name in ("", "ckpt.pt")]


@pytest.mark.parametrize("edit", ["", "positions-shift:text=3", "words-swap:text=0,2"])
def test_an_opened_model_has_the_terms_of_ours_on_its_weights(
    two_of_one: list[Checkpoint], edit: str
) -> None:
    """There they are found by running it, here from its weights."""
    edits = [edit] if edit else []
    for head in range(4):
        opened, ours = (
            score_terms(checkpoint, record(checkpoint, IDS, edits=edits), KINDS[1], head, edits)
            for checkpoint in two_of_one
        )
        assert opened.is_frozen and ours.is_frozen and opened.error < 1e-4
        torch.testing.assert_close(dict(opened.four), dict(ours.four), rtol=0.0, atol=1e-4)
        torch.testing.assert_close(opened.biases, ours.biases, rtol=0.0, atol=1e-4)
        assert float(ours.four["position", "content"].std()) > 0.1


@pytest.mark.parametrize(
    ("family", "is_frozen"), [("Marian", False), ("BART", True), ("BERT", True), ("OPT", True)]
)
def test_opened_models_have_four_terms(tmp_path: Path, family: str, is_frozen: bool) -> None:
    build(family).save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    target = decode(checkpoint, IDS, max_len=5).target if checkpoint.family.decodes else None
    recording = record(checkpoint, IDS, target)
    kinds = [name for name, each in recording.attentions.items() if not each.is_cross]
    for kind in kinds:
        found = score_terms(checkpoint, recording, kind, 1)
        assert set(found.four) == set(FOUR) and found.is_frozen is is_frozen
        assert found.error < 1e-5 * max(1.0, float(found.score.abs().max()))
        assert all(bool(part.any()) for part in found.four.values())


def test_a_sum_that_bends_is_refused(tmp_path: Path) -> None:
    """What is computed from embeddings and positions is checked to be a sum of both."""
    build("GPT-2").save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    recording = record(checkpoint, IDS)
    bent = [
        each.register_forward_hook(lambda module, inputs, output: output.square())
        for name, each in checkpoint.model.named_modules()
        if name.endswith("c_attn")
    ]
    with pytest.raises(NoTerms, match="not a sum of contents and positions"):
        score_terms(checkpoint, recording, KINDS[1], 1)
    for hook in bent:
        hook.remove()


def test_runs_of_other_threads_do_not_notice(two_of_one: list[Checkpoint]) -> None:
    opened, _ = two_of_one
    plain = record(opened, IDS)
    with ThreadPoolExecutor(4) as pool:
        terms = [pool.submit(score_terms, opened, plain, KINDS[1], i % 4) for i in range(20)]
        others = [pool.submit(record, opened, IDS) for _ in range(20)]
    for other in others:
        torch.testing.assert_close(other.result().logits, plain.logits)
    assert all(each.result().error < 1e-4 for each in terms)
    assert not any(each._forward_hooks for each in opened.model.modules())
