"""track(): what it keeps of a training is what `record` gives there, and it disturbs nothing."""

import base64
import copy
import csv
import json
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from transformer import InputError, from_module, record
from transformer.analysis.metrics.metrics import measure
from transformer.training import snapshots
from transformer.training.snapshots import Course
from viz import track
from viz.components.kit.browser import unpack
from viz.notebook import tracking as page
from viz.paper.record import FigureError

pytestmark = pytest.mark.usefixtures("wrong_recordings")  # their models were trained on
N = 7
IDS = torch.arange(N)[None]
PIECES = list("abcdefg")


class Model(nn.Module):
    """Dropout, running means, a buffer that counts passes, and a part that stays in eval()."""

    steps: Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(N, 8)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True) for _ in range(2)
        )
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("steps", torch.zeros(()))
        self.train()
        self.layers[0].eval()

    def forward(self, ids: Tensor) -> Tensor:
        self.steps += 1
        x = self.embedding(ids)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x.transpose(1, 2)).transpose(1, 2) @ self.embedding.weight.mT


class Noisy(Model):
    """It draws random numbers in eval(), too."""

    def forward(self, ids: Tensor) -> Tensor:
        return nn.functional.dropout(super().forward(ids), 0.1)


def trained(
    n: int,
    start: Callable[..., Any] | None = None,
    hooked: bool = False,
    of: type[Model] = Model,
) -> Any:
    """A training of n steps: the model, everything that it leaves behind, and what start gave."""
    model = of()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-2)
    tracked = start and start(model, **({"optimizer": optimizer} if hooked else {}))
    losses = []
    for _ in range(n):
        rows = torch.randint(N, (4, N))
        loss = nn.functional.cross_entropy(model(rows).flatten(0, 1), rows.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if tracked and not hooked:
            tracked.step(loss)
    left = {
        **model.state_dict(),
        **{f"grad {name}": each.grad for name, each in model.named_parameters()},
        **{
            f"{i} {name}": value
            for i, values in optimizer.state_dict()["state"].items()
            for name, value in values.items()
        },
        "modes": torch.tensor([each.training for each in model.modules()]),
        "losses": torch.stack(losses),
        "random": torch.get_rng_state(),
    }
    return model, left, tracked


@pytest.mark.parametrize("hooked", [False, True])
def test_a_training_is_the_same_to_the_bit(hooked: bool) -> None:
    _, left, _ = trained(9, of=Noisy)
    _, watched, tracked = trained(
        9, lambda model, **more: track(model, IDS, every=2, **more), hooked, Noisy
    )
    assert tracked.course.steps == (0, 2, 4, 6, 8)
    assert left.keys() == watched.keys()
    for name, value in left.items():
        assert torch.equal(value, watched[name]), name


def test_a_snapshot_is_what_the_module_shows_at_that_step(tmp_path: Path) -> None:
    models: dict[int, nn.Module] = {}

    def start(model: nn.Module) -> Any:
        tracked = track(model, IDS, PIECES, every=3)
        step = tracked.step

        def noted(loss: Any) -> None:
            step(loss)
            models[len(models) + 1] = copy.deepcopy(model).eval()

        tracked.step = noted  # type: ignore[method-assign]
        return tracked

    _, left, tracked = trained(8, start)
    with tracked:
        pass
    course: Course = tracked.course
    assert course.steps == (0, 3, 6, 8)  # and the last
    text = tracked.save(tmp_path / "heads.csv").read_text()
    table = list(csv.DictReader(text.splitlines()))
    assert len(table) == 4 * 2 * 2
    for step, kept in zip(course.steps[1:], course.recordings[1:], strict=True):
        recording = record(models[step], IDS, PIECES)
        (kind,) = recording.attentions
        for layer in range(2):
            weights = recording.attentions[kind].weights(layer)
            assert torch.equal(kept.attentions[kind].weights(layer), weights)
            numbers = measure(recording.attentions[kind], layer)
            for row in table:
                if (row["step"], row["layer"]) == (str(step), str(layer)):
                    for name, value in numbers.items():
                        assert float(row[name]) == pytest.approx(float(value[int(row["head"])]))
        assert [it.piece for it in kept.attentions[kind].keys] == PIECES
    assert [row["loss"] for row in tracked.history] == pytest.approx(left["losses"].tolist())


def test_memory_is_bounded_and_steps_stay_even(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "MOST_LOGGED", 10)
    model = Model().eval()
    tracked = track(model, IDS, every=1, most=4)
    for step in range(1, 42):
        tracked.step(loss=step)
        assert len(tracked.course.steps) <= 4 and len(tracked.history) <= 10
    assert tracked.course.steps == (0, 16, 32) and tracked.course.n_left_out > 0
    logged = [int(row["step"]) for row in tracked.history]
    assert logged[-1] == 40 and {b - a for a, b in pairwise(logged)} == {4}
    size = snapshots._size(tracked.course.recordings[0])
    monkeypatch.setattr(snapshots, "BUDGET", 3 * size)
    tracked = track(model, IDS, every=1)
    for _ in range(9):
        tracked.step()
    assert len(tracked.course.steps) <= 3
    (call, *_) = tracked.course.recordings[0].attentions["encoder_self"].calls
    assert call.trace is None and call.projection is None  # which would keep the module's own


def test_a_pass_that_fails_stops_no_training() -> None:
    model = Model()
    with pytest.raises(InputError, match=r"track: every must be a whole number from 1"):
        track(model, IDS, every=0)
    with pytest.raises(InputError, match="list of the pieces"):
        track(Model(), IDS, "abcdefg")
    with pytest.raises(InputError, match="cannot run over"):
        track(model, torch.ones(1, N))
    tracked = track(model, IDS, every=1)
    with pytest.raises(InputError, match="step 0"):
        tracked.picture()
    tracked.step()
    with torch.no_grad():
        model.embedding.weight.fill_(torch.nan)
    tracked.step()
    assert tracked.course.steps == (0, 1) and len(tracked.course.problems) == 1
    assert "2" in tracked.course.problems[0]
    with pytest.raises(ZeroDivisionError), tracked:
        tracked.step(1 / 0)
    with pytest.raises(InputError, match="metric"):
        tracked.picture(metric="nothing")


def test_a_checkpoint_reads_a_text_and_goes_back_to_training() -> None:
    checkpoint = from_module(
        Model(), lambda text: [PIECES.index(each) for each in text], PIECES, "abc"
    )
    module = checkpoint.model.get_submodule("inner").train()
    with track(checkpoint, "gab", every=5) as tracked:
        for _ in range(5):
            tracked.step()
    assert module.training and tracked.course.steps == (0, 5)
    assert [it.piece for it in tracked.course.recordings[0].source] == list("gab")


def test_a_page_has_every_head_at_every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, tracked = trained(4, lambda model: track(model, IDS, PIECES, every=2))

    def heads_in(html: str) -> dict[str, Any]:
        content = re.search(r'<script type="application/json" id="content">(.*?)</script>', html)
        assert content
        answers: dict[str, Any] = json.loads(content[1])["answers"]
        return answers

    answers = heads_in(tracked.picture(layer=1, head=-1, metric="distance").html)
    assert sorted(answers) == [f'["head",[{layer},{head}]]' for layer in (0, 1) for head in (0, 1)]
    for key, answer in answers.items():
        header, arrays = unpack(base64.b64decode(answer["payload"]))
        layer, head = json.loads(key)[1]
        assert header["steps"] == [0, 2, 4] and (header["layer"], header["head"]) == (layer, head)
        weights = tracked.course.weights("encoder_self", layer, head)
        assert torch.equal(torch.from_numpy(arrays[0].copy()), weights)
    monkeypatch.setattr(page, "LARGEST", 1)
    assert sorted(heads_in(tracked.picture(layer=1).html)) == ['["head",[1,0]]', '["head",[1,1]]']


def test_a_training_has_a_figure_for_a_paper(tmp_path: Path) -> None:
    _, _, tracked = trained(2, lambda model: track(model, IDS, PIECES, every=1))
    assert tracked.save(tmp_path / "a.svg").read_bytes() == tracked.picture().svg()
    with pytest.raises(FigureError, match="caption"):
        tracked.picture().svg(caption="A head.")
    with pytest.raises(FigureError, match=r"\.csv"):
        tracked.save(tmp_path / "a.json")


@pytest.mark.parametrize("loss", ["x", torch.ones(3), [1.0], {}])
def test_a_loss_that_is_no_number_is_a_sentence(loss: Any) -> None:
    with track(Model(), IDS, PIECES, every=1) as tracked, pytest.raises(InputError):
        tracked.step(loss)
