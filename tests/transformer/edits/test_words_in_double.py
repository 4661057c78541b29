"""The identities of hidden words and cut ones in models of float64: what float32 leaves of them is
rounding (up to 1.4e-6 here) and nothing else.
"""

from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.edits.test_words_read import (
    ALONE,
    ENCODING,
    IDS,
    by_hand,
    cells,
    hide,
    logits,
    target_of,
)
from tests.transformer.recording.test_families import CONFIGS, CROSS, FEW, SOURCE, WRITING, each
from transformer import Checkpoint, evidence
from transformer.analysis.scored import output_of, scored
from transformer.edits import edits_of

exact: Any = {"rtol": 0.0, "atol": 1e-12}


def double(name: str) -> Checkpoint:
    checkpoint = random_checkpoint(CONFIGS[name])
    checkpoint.model.double()
    return checkpoint


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_a_hidden_word_is_a_cut_of_all_its_cells(name: str) -> None:
    checkpoint = double(name)
    kinds = {"decoder_self"} if name in ALONE else {"encoder_self", "cross"}
    every = logits(checkpoint, *cells(checkpoint, 2, kinds))
    torch.testing.assert_close(logits(checkpoint, hide(checkpoint, 2)), every, **exact)
    assert every.dtype == torch.float64 and not torch.equal(every, logits(checkpoint))


@pytest.mark.parametrize("name", part(CROSS, FEW))
def test_a_word_cut_off_is_a_cut_of_all_its_cells_in_cross_attention(name: str) -> None:
    checkpoint = double(name)
    every = logits(checkpoint, *cells(checkpoint, 3, {"cross"}))
    torch.testing.assert_close(logits(checkpoint, "cut-word:cross.3"), every, **exact)


@pytest.mark.parametrize("name", part(ENCODING, FEW))
def test_hiding_is_padding_and_at_the_end_a_shorter_source(name: str) -> None:
    checkpoint = double(name)
    for word in range(len(IDS)):
        padded = [0 if i == word else id for i, id in enumerate(IDS)]
        hidden = logits(checkpoint, hide(checkpoint, word))
        torch.testing.assert_close(hidden, by_hand(checkpoint, padded), **exact)
    both = logits(checkpoint, hide(checkpoint, 3), hide(checkpoint, 4))
    torch.testing.assert_close(both, by_hand(checkpoint, IDS[:3]), **exact)


@each
def test_a_batch_of_words_is_each_by_itself_and_a_recording(name: str) -> None:
    checkpoint = double(name)
    words = [[hide(checkpoint, word)] for word in range(len(IDS))]
    words += [[f"cut-word:cross.{i}"] for i in range(5)] * ("cross" in checkpoint.family.attentions)
    groups = [edits_of(edits) for edits in words]
    output = output_of(checkpoint, SOURCE, target_of(checkpoint))
    together = torch.cat([it.log_probs for it in scored(checkpoint, output, groups)])
    for group, row in zip(groups, together, strict=True):
        (alone,) = scored(checkpoint, output, [group])
        torch.testing.assert_close(alone.log_probs[0], row, **exact)
        recorded = logits(checkpoint, *map(str, group)).log_softmax(-1)
        if checkpoint.family.decodes:
            ids = torch.tensor([token.id for token in output.words])
            recorded = recorded.gather(-1, ids[:, None])[:, 0]
        torch.testing.assert_close(recorded, row, **exact)
    if checkpoint.family.decodes:  # a word of these texts is a token
        result = evidence(checkpoint, SOURCE, target_of(checkpoint))
        torch.testing.assert_close(result.log_probs - result.hidden[:, 1], together[1], **exact)
