"""The parts of a score sum to the score that was recorded, in every family and with every norm."""

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.transformer.edits.test_ours import recorded
from tests.transformer.recording.test_families import CONFIGS
from transformer.analysis.score_terms import FOUR, NoTerms, score_terms

KINDS = ("encoder_self", "decoder_self")


@pytest.mark.parametrize("name", CONFIGS)
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
