"""An encoder that gives all positions one vector is noticed."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import nn

from transformer import load_checkpoint
from transformer.training.classification import Copying
from transformer.training.loop import Run
from transformer.training.task import Recipe
from transformer.training.warm_start import ADVICE, COLLAPSED, spread, spreads

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"


def test_from_none_to_all() -> None:
    states = torch.randn(3, 5, 8)
    one = states[:, :1].expand(-1, 5, -1)
    assert spread(one, None) == pytest.approx(0, abs=1e-6)
    centred = states - states.mean(1, keepdim=True)
    assert spread(centred, None) == pytest.approx(1, abs=1e-6)
    assert spread(centred + one, None) == pytest.approx(
        float(centred.norm() / (centred + one).norm()), abs=1e-6
    )


def test_padding_counts_nothing() -> None:
    states = torch.randn(2, 6, 8)
    mask = torch.ones(2, 1, 1, 6, dtype=torch.bool)
    mask[..., 4:] = False
    padded = states.clone()
    padded[:, 4:] = 1e3
    assert spread(padded, mask) == pytest.approx(spread(states[:, :4], None), rel=1e-5)


def test_shipped_encoders_are_far_from_it() -> None:
    checkpoint = load_checkpoint(CHECKPOINTS / "en-de", "cpu")
    model = checkpoint.model
    with spreads(model) as measured, torch.no_grad():
        model.start(torch.tensor([checkpoint.tokenizer.encode("The house was very old.")]))  # type: ignore[operator]
    assert len(measured) == 1 and measured[0] > 5 * COLLAPSED
    with spreads(nn.Linear(2, 2)) as measured:
        pass
    assert measured == []


@pytest.mark.parametrize("collapsed", [True, False])
def test_a_run_tells_it(
    copy_recipe: Recipe, tmp_path: Path, capsys: pytest.CaptureFixture[str], collapsed: bool
) -> None:
    training = replace(copy_recipe.training, steps=1, snapshots=0)
    recipe = replace(copy_recipe, training=training)
    run = Run(recipe, Copying(recipe), tmp_path, "cpu")
    if collapsed:
        for module in (run.model, run.averaged.module):
            nn.init.zeros_(module.encoder.layers[-1].feed_residual.norm.weight)
            nn.init.ones_(module.encoder.layers[-1].feed_residual.norm.bias)
    run.train()
    assert (ADVICE in capsys.readouterr().err) == collapsed
