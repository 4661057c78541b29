"""An arrow cut in a pass of its row is that arrow cut in a whole run."""

import random
from importlib import import_module
from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING
from transformer import Checkpoint, InputError, decode, load_checkpoint
from transformer.analysis.scored import output_of, scored
from transformer.causes.arrows import Arrows, arrows
from transformer.checkpoint import shipped_path
from transformer.edits import Edit, edits_of

each = pytest.mark.parametrize("name", part(WRITING, FEW))


def cost(checkpoint: Checkpoint, step: int, cut: Edit, *edits: str) -> float:
    """What the arrow takes from the token in a run of the whole target."""
    output = output_of(checkpoint, SOURCE, TARGET)
    made = edits_of(edits)
    before, after = torch.cat(
        [part.log_probs for part in scored(checkpoint, output, [made, (*made, cut)])]
    )
    return float(before[step] - after[step])


def some(result: Arrows, n: int) -> list[tuple[Edit, float]]:
    pairs = [(edit, cost) for cost, edit in result.strongest(10**6)]
    return random.Random(3).sample(pairs, min(n, len(pairs)))


@each
@pytest.mark.parametrize("step", [0, 2])
def test_each_arrow_is_cut_exactly(name: str, step: int) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    result = arrows(checkpoint, SOURCE, TARGET, step)
    assert {kind for kind, _ in result.costs} == set(checkpoint.family.attentions) - {
        "encoder_self"
    }
    for cut, value in some(result, 10):
        assert value == pytest.approx(cost(checkpoint, step, cut), abs=1e-5)


def test_a_query_with_one_key_has_nothing_else_to_see() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    for edits in ([], ["head-off:cross.0.0"]):
        costs = arrows(checkpoint, SOURCE, TARGET, 0, edits).costs
        assert all(costs["decoder_self", layer].isnan().all() for layer in range(2))
        assert not any(costs["cross", layer].isnan().any() for layer in range(2))


@each
def test_edits_in_force_stay_in_force(name: str) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    kind = list(checkpoint.family.attentions)[-1]
    edits = [f"head-scale:{kind}.0.0=0.5"]
    result = arrows(checkpoint, SOURCE, TARGET, 1, edits)
    for cut, value in some(result, 4):
        assert value == pytest.approx(cost(checkpoint, 1, cut, *edits), abs=1e-5)


def test_arrows_of_a_shipped_model_are_exact_and_those_of_like_keys_cost_nothing() -> None:
    checkpoint = load_checkpoint(shipped_path("en-de-1"), "cpu")
    text = "The animal didn't cross the street because it was too tired."
    target = decode(checkpoint, text).target
    step = [token.piece for token in target].index("▁nicht")
    result = arrows(checkpoint, text, target, step)
    t = [token.piece for token in decode(checkpoint, text).source].index("t")
    assert abs(float(result.costs["cross", 2][0, t])) < 0.005  # its weight is .63
    output = output_of(checkpoint, text, target)
    for cut, value in some(result, 8):
        parts = scored(checkpoint, output, [(), (cut,)])
        before, after = torch.cat([part.log_probs for part in parts])
        assert value == pytest.approx(float(before[step] - after[step]), abs=1e-5)
    costs = [pair[0] for pair in result.strongest(6)]
    assert costs == sorted(costs, reverse=True)


@each
def test_batches_are_bounded_and_their_size_changes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = random_checkpoint(CONFIGS[name])
    whole = arrows(checkpoint, SOURCE, TARGET, 2)
    module = import_module("transformer.causes.arrows")
    monkeypatch.setattr(module, "ROWS", 7)
    sizes = []
    decoder: Any = checkpoint.model
    for layer in decoder.decoder.layers:
        layer.register_forward_hook(lambda _, __, x: sizes.append(len(x)))
    parts = arrows(checkpoint, SOURCE, TARGET, 2)
    assert max(sizes) == 8  # with the row that nothing is cut from
    assert parts.log_prob == pytest.approx(whole.log_prob, rel=1e-6)
    assert parts.costs.keys() == whole.costs.keys()
    atol = 1e-5  # ten roundings of log-probabilities around -15, of which costs are differences
    for place, costs in whole.costs.items():
        torch.testing.assert_close(parts.costs[place], costs, atol=atol, rtol=0, equal_nan=True)


def test_what_writes_nothing_has_no_row() -> None:
    with pytest.raises(InputError, match="is not a decoder"):
        arrows(random_checkpoint(CONFIGS["former-classifier"]), SOURCE, TARGET, 0)
    with pytest.raises(InputError, match="There is no step 3"):
        arrows(random_checkpoint(CONFIGS["post-norm"]), SOURCE, TARGET, 3)
