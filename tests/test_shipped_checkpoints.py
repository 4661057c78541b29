"""Every shipped checkpoint opens, draws in every view that applies, and attends as it should."""

from pathlib import Path

import pytest
import torch

from transformer import Recording, decode, load_checkpoint, record
from transformer.analysis.reading import Selection
from transformer.checkpoint import CARD, CONFIG
from transformer.discover import discover
from transformer.training.task import Recipe
from viz.painters.chart_plotly import figure
from viz.theme import LIGHT
from viz.views.view import View

FOLDERS = sorted(file.parent for file in Path("checkpoints").glob(f"*/{CONFIG}"))
RECIPES: dict[str, Recipe] = discover("transformer.training.recipes", "RECIPE")
VIEWS: dict[str, View] = discover("viz.views", "VIEW")


@pytest.fixture(scope="module", params=FOLDERS, ids=[folder.name for folder in FOLDERS])
def folder(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture(scope="module")
def recording(folder: Path) -> Recording:
    """Of the first example, with what greedy decoding makes of it."""
    checkpoint = load_checkpoint(folder, "cpu")
    text, target = checkpoint.about.examples[0], None
    if checkpoint.family.decodes:
        target = decode(checkpoint, text, max_len=20).target
    return record(checkpoint, text, target)


def test_they_are_found() -> None:
    names = {folder.name for folder in FOLDERS}
    assert {"copy", "en-de", "en-de-small", "everyday", "sentiment", "shakespeare"} <= names


def test_it_says_what_it_is(folder: Path, recording: Recording) -> None:
    about = load_checkpoint(folder, "cpu").about
    assert about.title
    assert len(about.examples) == 3
    assert about.examples == RECIPES[about.recipe].about.examples
    assert (folder / CARD).read_text().startswith("# ")
    selection = Selection(*about.opens_at)
    attention = selection.attention(recording)
    assert selection.layer < attention.n_layers
    assert selection.head < attention.n_heads


def test_rows_sum_to_one_and_masked_cells_are_zero(recording: Recording) -> None:
    for kind, attention in recording.attentions.items():
        for layer in range(attention.n_layers):
            weights, allowed = attention.weights(layer), attention.allowed(layer)
            sums = weights.sum(-1)
            torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-5)
            assert not weights[~allowed].any()
            causal = allowed.tril() if kind == "decoder_self" else torch.ones_like(allowed)
            assert torch.equal(allowed, causal)


def test_every_view_that_applies_draws(recording: Recording) -> None:
    views = [view for view in VIEWS.values() if view.applies_to(recording)]
    assert len(views) >= len(VIEWS) // 2
    for view in views:
        choices = {control.name: control.options(recording)[0] for control in view.controls}
        assert figure(view.content(recording, **choices), LIGHT).layout.height > 0, view.name
        assert view.describe(recording, **choices).endswith("."), view.name


def test_the_copy_task_is_nearly_diagonal() -> None:
    checkpoint = load_checkpoint(Path("checkpoints/copy"), "cpu")
    text = "3 7 2 9 4 11 5"
    recording = record(checkpoint, text, decode(checkpoint, text).target)
    selection = Selection(*checkpoint.about.opens_at)
    heaviest = selection.attention(recording).weights(selection.layer, selection.head).argmax(-1)
    assert int((heaviest == torch.arange(7)).sum()) >= 5
