"""Position dependence is the divergence of two runs, row by row; offsets are means over rows."""

import math

import pytest
import torch

from tests.conftest import SENTENCES, random_checkpoint
from tests.transformer.edits.test_ours import recorded
from tests.transformer.recording.test_families import CONFIGS, SOURCE, TARGET
from transformer import Checkpoint, InputError, record
from transformer.analysis.metrics.metric import jensen_shannon
from transformer.analysis.proofs import by_offset, divergences, no_positions, position_dependence


def test_it_is_the_divergence_of_each_head_from_the_run_without_edits(
    text_checkpoint: Checkpoint,
) -> None:
    texts = SENTENCES[0], SENTENCES[50]
    edits = ["positions-shift:source=3", "head-off:cross.0.1"]
    found = position_dependence(text_checkpoint, *texts, edits)
    before, after = record(text_checkpoint, *texts), record(text_checkpoint, *texts, edits)
    for kind, old in before.attentions.items():
        assert found[kind].shape == (old.n_layers, old.n_heads)
        for layer in range(old.n_layers):
            for head in range(old.n_heads):
                pair = (each.attentions[kind].weights(layer, head) for each in (before, after))
                assert float(found[kind][layer, head]) == pytest.approx(jensen_shannon(*pair))
    assert bool((found["encoder_self"] > 1e-6).all())
    assert not found["decoder_self"][0].any()  # it reads nothing of the source yet
    assert float(max(it.max() for it in divergences(before, before).values())) < 1e-12


def test_without_edits_named_it_takes_all_positions_away() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    assert list(map(str, no_positions(recorded(checkpoint)))) == [
        "positions-zero:source",
        "positions-zero:target",
    ]
    found = position_dependence(checkpoint, SOURCE, TARGET)
    zero = position_dependence(
        checkpoint, SOURCE, TARGET, ["positions-zero:source", "positions-zero:target"]
    )
    assert all(torch.equal(found[kind], zero[kind]) for kind in found)
    with pytest.raises(InputError, match="Nothing was seen that tells positions apart"):
        position_dependence(
            random_checkpoint(CONFIGS["encoder_decoder, no positions"]), SOURCE, TARGET
        )
    with pytest.raises(InputError, match="of as many tokens"):
        divergences(recorded(checkpoint), record(checkpoint, "3 4", TARGET))


def test_offsets_are_means_over_the_rows_that_may_look_there() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    attentions = recorded(checkpoint).attentions
    for kind in ("encoder_self", "decoder_self"):
        weights, n = attentions[kind].weights(1, 2).tolist(), len(attentions[kind].keys)
        found = by_offset(attentions[kind], 1, 2)
        last = 0 if kind == "decoder_self" else n - 1
        assert found.distances.tolist() == list(range(1 - n, last + 1))
        for distance, mean in zip(found.distances.tolist(), found.mean[0].tolist(), strict=True):
            rows = [weights[i][i + distance] for i in range(n) if 0 <= i + distance < n]
            assert mean == pytest.approx(math.fsum(rows) / len(rows), abs=1e-6)
        n_cells = attentions[kind].allowed(1, 2).sum()
        assert int(found.count.sum()) == int(n_cells)
    with pytest.raises(InputError, match="stand at no offset"):
        by_offset(attentions["cross"], 0, 0)


def test_a_head_whose_keys_are_all_hidden_has_no_mean_weight() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    edits = [f"hide:source.{i}" for i in range(5)]
    attentions = record(checkpoint, SOURCE, TARGET, edits).attentions
    with pytest.raises(InputError):
        by_offset(attentions["encoder_self"], 0, 0)
    assert by_offset(attentions["decoder_self"], 0, 0).mean.isfinite().all()
