"""A ladder's rungs are runs with the edits that they name."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import random_checkpoint
from tests.representatives import part
from tests.transformer.recording.test_families import CONFIGS, FEW, SOURCE, TARGET, WRITING
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.causes.ladder import Rung, ladder, strongest_arrow
from transformer.checkpoint import shipped_path


def log_prob(checkpoint: Checkpoint, rung: Rung | None, source: str = SOURCE) -> float:
    """Of the target's second token."""
    edits = () if rung is None else rung.edits
    recording = record(checkpoint, source, TARGET, edits)
    scores = recording.logits.double().log_softmax(-1)
    return float(scores[1, recording.target[1].id])


def is_climbed(checkpoint: Checkpoint) -> None:
    is_cross = checkpoint.family.reads == "source"
    kind, query = ("cross", 1) if is_cross else ("decoder_self", len(SOURCE.split()))
    rungs = ladder(checkpoint, SOURCE, TARGET, f"cut:{kind}.0.1.{query}.2")
    names = ["arrow", "word in this head", "head", "layer", "all layers"]
    names += ["every row"] * is_cross + ["hidden", "deleted"]
    assert [rung.name for rung in rungs] == names
    for rung in rungs[:-1]:
        cost = log_prob(checkpoint, None) - log_prob(checkpoint, rung)
        assert rung.cost == pytest.approx(cost, abs=1e-5)
    words = SOURCE.split()
    shorter = " ".join(words[:2] + words[3:])
    gone = log_prob(checkpoint, None) - log_prob(checkpoint, None, shorter)
    assert rungs[-1].cost == pytest.approx(gone, abs=1e-5)


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_every_rung_is_a_run_of_its_own(name: str) -> None:
    is_climbed(random_checkpoint(CONFIGS[name]))


@pytest.mark.parametrize("family", ["Marian", "GPT-2"])
def test_models_of_the_library_are_climbed_too(family: str, tmp_path: Path) -> None:
    model: Any = build(family)
    model.save_pretrained(tmp_path)
    is_climbed(load_checkpoint(tmp_path, "cpu"))


def test_no_arrow_carries_not_and_the_word_does() -> None:
    checkpoint = load_checkpoint(shipped_path("en-de-1"), "cpu")
    text = "The animal didn't cross the street because it was too tired."
    decoding = decode(checkpoint, text)
    step = [token.piece for token in decoding.target].index("▁nicht")
    t = [token.piece for token in decoding.source].index("t")
    rungs = ladder(checkpoint, text, decoding.target, f"cut:cross.2.0.{step}.{t}")
    costs = {rung.name: rung.cost for rung in rungs}
    wanted = {"arrow": 0.0, "word in this head": 1.35, "head": 1.11, "layer": 4.97}
    wanted |= {"all layers": 6.99, "every row": 7.79, "hidden": 7.97, "deleted": 8.51}
    assert costs == pytest.approx(wanted, abs=0.01)


def test_with_edits_in_force_nothing_is_deleted() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    rungs = ladder(checkpoint, SOURCE, TARGET, "cut:cross.0.1.1.2", ["head-off:cross.1.0"])
    assert rungs[-1].name == "hidden"
    before, after = (
        record(checkpoint, SOURCE, TARGET, ["head-off:cross.1.0", *more]).logits.double()
        for more in ([], ["hide:source.2"])
    )
    id = int(TARGET.split()[1])
    lost = before.log_softmax(-1)[1, id] - after.log_softmax(-1)[1, id]
    assert rungs[-1].cost == pytest.approx(float(lost), abs=1e-5)
    assert torch.isfinite(torch.tensor([rung.cost for rung in rungs])).all()


@pytest.mark.parametrize(
    "arrow", ["cut:decoder_self.0.0.1.0", "head-off:cross.0.0", "cut:cross.0.0.1.9"]
)
def test_an_arrow_to_nothing_that_is_read_is_refused(arrow: str) -> None:
    with pytest.raises(InputError, match="is not an arrow from a written word"):
        ladder(random_checkpoint(CONFIGS["post-norm"]), SOURCE, TARGET, arrow)


@pytest.mark.parametrize(
    ("arrow", "message"),
    [
        ("cut:cross.99.0.1.0", "no layer 99"),
        ("cut:cross.0.99.1.0", "no head 99"),
        ("cut:cross.0.0.99.0", "writes nothing"),
    ],
)
def test_an_arrow_that_is_not_there_is_refused(arrow: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ladder(random_checkpoint(CONFIGS["post-norm"]), SOURCE, TARGET, arrow)


def test_an_arrow_that_a_window_closes_is_refused(tmp_path: Path) -> None:
    model: Any = build("Mistral")
    model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert ladder(checkpoint, "7 9 11 13 8 9", "10 12 14", "cut:decoder_self.0.0.6.4")
    with pytest.raises(InputError, match="nothing to cut"):
        ladder(checkpoint, "7 9 11 13 8 9", "10 12 14", "cut:decoder_self.0.0.6.1")


@pytest.mark.parametrize("name", part(WRITING, FEW))
def test_the_strongest_arrow_has_the_largest_weight(name: str) -> None:
    recording = record(random_checkpoint(CONFIGS[name]), SOURCE, TARGET)
    cut = strongest_arrow(recording, 1, 2)
    attention = recording.attentions[cut.place]
    n = len(attention.queries) - len(recording.target)
    assert (cut.name, cut.query, cut.key) == ("cut", n + 1, 2)
    layers = [attention.weights(i)[:, n + 1, 2] for i in range(attention.n_layers)]
    assert float(layers[cut.layer][cut.head]) == max(float(each.max()) for each in layers)


def test_no_arrow_leads_to_a_word_that_is_hidden() -> None:
    checkpoint = random_checkpoint(CONFIGS["post-norm"])
    recording = record(checkpoint, SOURCE, TARGET, ["hide:source.2"])
    with pytest.raises(InputError, match="no piece"):
        strongest_arrow(recording, 1, 2)
