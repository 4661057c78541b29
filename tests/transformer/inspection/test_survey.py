"""Inspecting a folder: its tree, its ties, and every kind of damage found in a copy of it."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tests.transformer.damaged import Weights, damaged
from transformer.checkpoint import WEIGHTS, Checkpoint, CheckpointError
from transformer.formats.opening import format_of, load_checkpoint
from transformer.inspection.circuits import copying_scores
from transformer.inspection.survey import inspect, survey
from transformer.inspection.tensor_statistics import Finding

NAME = "encoder.layers.0.feed_forward.inner.weight"
SHIPPED = Path(__file__).parents[3] / "checkpoints"


def test_a_whole_folder_is_in_the_models_order_and_unsuspicious(
    text_folder: Path, text_checkpoint: Checkpoint
) -> None:
    found = survey(text_folder)
    model = text_checkpoint.model
    assert [each.name for each in found.tensors] == list(model.state_dict())
    assert found.n_parameters == sum(each.numel() for each in model.parameters())
    assert {each.dtype for each in found.tensors} == {"F16"}
    # A model with random weights has biases that no step has moved yet.
    assert {each.problem for each in found.findings} == {"every value is 0"}
    assert all(each.tensor.endswith(".bias") for each in found.findings)


@pytest.mark.parametrize("name", ["copy", "sentiment", "shakespeare"])
def test_shipped_checkpoints_are_unsuspicious(name: str) -> None:
    found = survey(SHIPPED / name)
    assert found.findings == []
    assert found.identical == ()


def test_every_damage_is_found(text_folder: Path, tmp_path: Path) -> None:
    def damage(weights: Weights) -> None:
        weights[NAME][3], weights[NAME][7] = 0, 0
        weights["encoder.layers.0.self_residual.norm.weight"][2] = torch.nan
        weights["encoder.layers.1.self_residual.norm.weight"][:2] = torch.inf
        weights["decoder.layers.0.feed_residual.norm.weight"].zero_()
        weights["stranger"] = torch.ones(2)
        del weights["decoder.layers.1.feed_forward.outer.weight"]
        weights["embedding.weight"] = weights["embedding.weight"][:, :31].contiguous()

    found = survey(damaged(text_folder, tmp_path, damage)).findings
    known = {each.tensor for each in survey(text_folder).findings}
    assert [each for each in found if each.tensor not in known] == [
        Finding(
            "decoder.layers.1.feed_forward.outer.weight", "missing; config.json asks for 32 × 64"
        ),
        Finding("embedding.weight", "is 300 × 31; config.json says 300 × 32"),
        Finding(NAME, "2 of 64 rows are all 0: 3, 7"),
        Finding("encoder.layers.0.self_residual.norm.weight", "1 of 32 values is NaN"),
        Finding("encoder.layers.1.self_residual.norm.weight", "2 of 32 values are infinite"),
        Finding("decoder.layers.0.feed_residual.norm.weight", "every value is 0"),
        Finding("stranger", "unexpected; no part of the model that config.json describes"),
    ]


def test_ties_by_the_configuration_and_by_the_values(text_folder: Path, tmp_path: Path) -> None:
    (said,) = survey(text_folder).ties
    assert said.startswith("embedding.weight is one matrix for source and target embeddings and")

    def tie(weights: Weights) -> None:
        weights["twin"] = weights[NAME].clone()

    found = survey(damaged(text_folder, tmp_path, tie))
    assert found.identical == ((NAME, "twin"),)
    assert found.ties[1] == f"{NAME} and twin hold the same values."


def test_a_classifier_ties_nothing() -> None:
    assert survey(SHIPPED / "sentiment").ties == []


def test_json_values(text_folder: Path, tmp_path: Path) -> None:
    def damage(weights: Weights) -> None:
        weights[NAME][:2, 5] = torch.nan
        weights[NAME][63] = 0

    result = inspect(damaged(text_folder, tmp_path, damage))
    assert f"{NAME}: 2 of 2,048 values are NaN." in result["suspicious"]
    assert {"path": NAME, "problem": "2 of 2,048 values are NaN"} in result["findings"]
    rows = {row["path"]: row for row in result["modules"]}
    assert rows[NAME]["shape"] == [64, 32] and rows[NAME]["dtype"] == "F16"
    assert (rows[NAME]["nan"], rows[NAME]["infinite"]) == (2, 0)
    assert rows[NAME]["dead_rows"] == [63]
    top = [row for row in result["modules"] if "." not in row["path"]]
    assert sum(row["parameters"] for row in top) == result["parameters"]
    assert sum(row["share"] for row in top) == pytest.approx(1)


def test_inspecting_opens_what_running_refuses(text_folder: Path, tmp_path: Path) -> None:
    folder = damaged(text_folder, tmp_path, lambda weights: weights[NAME].fill_(torch.nan))
    with pytest.raises(CheckpointError, match="NaN"):
        load_checkpoint(folder)
    assert Finding(NAME, "2,048 of 2,048 values are NaN") in survey(folder).findings


def test_a_format_that_says_nothing_of_contents_shows_what_it_loads(
    text_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = replace(format_of(text_folder), contents=None)
    monkeypatch.setattr("transformer.inspection.survey.format_of", lambda path: silent)
    found = survey(text_folder)
    monkeypatch.undo()
    whole = survey(text_folder)
    assert [each.name for each in found.tensors] == [each.name for each in whole.tensors]
    assert found.findings == whole.findings and found.ties == whole.ties
    assert torch.equal(copying_scores(found.heads, "cross"), copying_scores(whole.heads, "cross"))
    assert found.contents.read_tokenizer().vocab_size == found.config.vocab_size


def test_a_file_that_is_cut_short_ends_in_the_loaders_sentence(
    text_folder: Path, tmp_path: Path
) -> None:
    folder = damaged(text_folder, tmp_path, dict)
    whole = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(whole[:-10])
    with pytest.raises(CheckpointError) as loading:
        load_checkpoint(folder)
    with pytest.raises(CheckpointError) as inspecting:
        survey(folder)
    assert str(loading.value) == str(inspecting.value)
    (folder / WEIGHTS).unlink()
    with pytest.raises(CheckpointError, match=r"random: model\.safetensors is missing\."):
        survey(folder)


@pytest.mark.parametrize("file", ["odd.safetensors", "odd.pt"])
def test_odd_tensors_are_counted_and_named(file: str, tmp_path: Path) -> None:
    tensors = {
        "a.weight": torch.ones(3, 4),
        "a.none": torch.zeros(0, 4),
        "a.one": torch.tensor(2.0),
        "a.complex": torch.tensor([1 + 2j, 3 - 1j, complex(0, math.nan)]),
        "a.mask": torch.tensor([True, False]),
        "a.ids": torch.arange(5),
        "a.eighth": torch.ones(4).to(torch.float8_e4m3fn),
        "": torch.ones(2),
        ".weight": torch.ones(2, 2),
        "b..weight": torch.ones(3),
    }
    save = save_file if file.endswith("safetensors") else torch.save
    save(tensors, tmp_path / file)
    found = survey(tmp_path / file)
    assert found.n_parameters == 12 + 0 + 1 + 3 + 4 + 2 + 4 + 3
    assert {each.name: each.dtype for each in found.tensors} == {
        **dict.fromkeys(("a.weight", "a.none", "a.one", "", ".weight", "b..weight"), "F32"),
        **{"a.complex": "C64", "a.mask": "BOOL", "a.ids": "I64", "a.eighth": "F8_E4M3"},
    }
    said = [str(each) for each in found.findings]
    for expected in (
        "a.none: it has no values.",
        "a.complex: its numbers are complex, and their sizes |z| are shown.",
        "a.complex: 1 of 3 values is NaN.",
        "(no name): a part of its name is empty.",
        ".weight: a part of its name is empty.",
        "b..weight: a part of its name is empty.",
    ):
        assert expected in said
    assert found.read("a.complex")[:2].tolist() == pytest.approx([5**0.5, 10**0.5])
    json.dumps(inspect(tmp_path / file))
