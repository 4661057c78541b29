"""Inspecting Hugging Face folders: what the library itself says of them, and every damage."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.representatives import cases
from tests.transformer.watch.hugging_face import FAMILIES, FEW, build
from transformer.checkpoint import CheckpointError
from transformer.inspection.survey import inspect, survey
from transformer.inspection.tensor_statistics import Finding

WHOLE = "model.safetensors"
INDEX = "model.safetensors.index.json"


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub") / "gpt2"
    model: Any = build("GPT-2")
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def copied(gpt2: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(gpt2, tmp_path / "copied"))


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """Saved in several files."""
    folder = tmp_path / "parts"
    model: Any = build("GPT-2")
    model.save_pretrained(folder, max_shard_size="4KB")
    assert len(list(folder.glob("*.safetensors"))) > 2
    return folder


@pytest.mark.parametrize("family", cases(FAMILIES, FEW))
def test_what_the_library_saved_is_whole_and_counted_as_it_counts(
    family: str, tmp_path: Path
) -> None:
    model: Any = build(family)
    model.save_pretrained(tmp_path)
    found = survey(tmp_path)
    # Marian computes its positions anew and saves none of them.
    computed = {"Marian": 2 * 40 * 16, "Pegasus": 0}.get(family, 0)
    assert found.n_parameters == model.num_parameters() - computed
    fit = found.contents.fit
    assert not fit.missing and not fit.unexpected and not fit.misfits
    assert set(fit.order) == set(found.contents.tensors.stored)


def test_ties_are_the_librarys(gpt2: Path, tmp_path: Path) -> None:
    assert survey(gpt2).ties == ["transformer.wte.weight is also lm_head.weight."]
    model: Any = build("BART")
    model.save_pretrained(tmp_path)
    (said,) = survey(tmp_path).ties
    for name in ("lm_head", "model.encoder.embed_tokens", "model.decoder.embed_tokens"):
        assert f"{name}.weight" in said
    assert said.startswith("model.shared.weight is also ")


def test_the_models_order_and_not_the_alphabets(gpt2: Path) -> None:
    names = [each.name for each in survey(gpt2).tensors]
    model: Any = build("GPT-2")
    assert names == [name for name in model.state_dict() if name != "lm_head.weight"]


def test_every_damage_is_found(copied: Path) -> None:
    weights = load_file(copied / WHOLE)
    weights["transformer.h.0.ln_1.weight"][3] = torch.nan
    weights["transformer.h.0.mlp.c_fc.weight"][[2, 5]] = 0
    weights["transformer.wpe.weight"] = torch.ones(39, 16)
    weights["stranger"] = torch.ones(2)
    weights["transformer.h.0.attn.bias"] = torch.ones(1, 1, 40, 40)  # of an old release
    del weights["transformer.h.1.ln_2.bias"]
    save_file(weights, copied / WHOLE, {"format": "pt"})
    found = survey(copied)
    fresh = {"every value is 0"}  # biases that no step has moved yet
    assert [each for each in found.findings if each.problem not in fresh] == [
        Finding("transformer.h.1.ln_2.bias", "missing; config.json asks for 16"),
        Finding("transformer.wpe.weight", "is 39 × 16; config.json says 40 × 16"),
        Finding("transformer.h.0.ln_1.weight", "1 of 16 values is NaN"),
        Finding("transformer.h.0.mlp.c_fc.weight", "2 of 16 rows are all 0: 2, 5"),
        Finding("stranger", "unexpected; no part of the model that config.json describes"),
    ]
    rows = {branch.path: branch.n_parameters for branch in found.tree}
    assert rows["transformer.h.0.attn.bias"] == 0  # what opening passes over counts as nothing


def test_other_names_that_the_library_takes_are_not_unexpected(tmp_path: Path) -> None:
    """A model without its head, and norms under the names of TensorFlow's days."""
    model: Any = build("BERT")
    model.save_pretrained(tmp_path)
    weights = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(tmp_path / WHOLE).items()
        if name.startswith("bert.")
    }
    save_file(weights, tmp_path / WHOLE, {"format": "pt"})
    fit = survey(tmp_path).contents.fit
    assert not fit.unexpected and not fit.misfits
    assert all(name.startswith("cls.") for name in fit.missing) and fit.missing
    assert fit.order[0] == "embeddings.word_embeddings.weight"


def test_a_model_in_parts_is_read_as_one(parts: Path, gpt2: Path) -> None:
    one, split = survey(gpt2), survey(parts)
    assert [each.name for each in split.tensors] == [each.name for each in one.tensors]
    assert split.findings == one.findings
    for each in one.tensors:
        assert torch.equal(split.read(each.name), one.read(each.name))


def test_parts_that_are_missing_or_cut_short_are_named_and_the_others_read(parts: Path) -> None:
    first, second, *_ = sorted(parts.glob("*.safetensors"))
    lost = {*load_file(first), *load_file(second)}
    first.unlink()
    second.write_bytes(second.read_bytes()[:-10])
    found = survey(parts)
    assert found.findings[0] == Finding(first.name, "is missing")
    assert found.findings[1].tensor == second.name
    assert found.findings[1].problem.startswith("is not a whole safetensors file: ")
    assert set(found.contents.fit.missing) == lost and found.tensors
    assert inspect(parts)["suspicious"][0] == f"{first.name}: is missing."
    for file in parts.glob("*.safetensors"):
        file.unlink()
    with pytest.raises(CheckpointError, match=r"^parts: model-.*\.safetensors is missing\.$"):
        survey(parts)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ({"weight_map": {"a": "../../secret.safetensors"}}, "no file of this folder"),
        ({"weight_map": {"a": "/etc/passwd"}}, "names '/etc/passwd', no file of this folder"),
        ({"weight_map": {"a": 3}}, "names '3', no file"),
        ({"weight_map": {}}, "is empty"),
        ({"weight_map": [1]}, "is not an index of weights"),
        ([], "is not an index of weights"),
    ],
)
def test_an_index_that_is_none(parts: Path, content: Any, sentence: str) -> None:
    (parts / INDEX).write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match=rf"^parts: {INDEX} .*{sentence}") as caught:
        survey(parts)
    assert "\n" not in str(caught.value)


def test_pickled_weights_are_read_and_tied_ones_count_once(copied: Path, gpt2: Path) -> None:
    weights = load_file(copied / WHOLE)
    weights["lm_head.weight"] = weights["transformer.wte.weight"]
    (copied / WHOLE).unlink()
    torch.save(weights, copied / "pytorch_model.bin")
    found, whole = survey(copied), survey(gpt2)
    assert found.n_parameters == whole.n_parameters
    assert found.findings == whole.findings
    assert found.identical == (("transformer.wte.weight", "lm_head.weight"),)
    name = "transformer.h.1.mlp.c_fc.weight"
    assert torch.equal(found.read(name), whole.read(name))


def test_a_configuration_of_another_model_leaves_the_tensors_to_see(copied: Path) -> None:
    file = copied / "config.json"
    values = json.loads(file.read_text())
    file.write_text(json.dumps(values | {"n_head": 3}))  # which does not divide 16
    found = survey(copied)
    assert found.findings[0].tensor == "config.json"
    assert found.findings[0].problem.startswith("cannot be read: ")
    assert len(found.tensors) == 28 and not found.contents.fit.unexpected


def test_layers_that_nobody_saved_are_not_built(copied: Path) -> None:
    file = copied / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"n_layer": 1000}))
    (finding, *_) = survey(copied).findings
    assert finding.tensor == "config.json"
    assert finding.problem == (
        "n_layer is 1,000, and the weights hold 28 tensors, too few for that many layers"
    )


def test_a_header_of_absurd_size_ends_in_a_sentence(copied: Path) -> None:
    (copied / WHOLE).write_bytes((2**62).to_bytes(8, "little") + b"{}" * 1000)
    with pytest.raises(CheckpointError, match=r"^copied: model\.safetensors is not a whole"):
        survey(copied)
    (copied / WHOLE).unlink()
    with pytest.raises(CheckpointError, match=r"^copied: the weights are missing: "):
        survey(copied)


def test_a_damaged_tokenizer_is_told_where_the_vocabulary_is(copied: Path) -> None:
    (copied / "tokenizer.json").write_text("{")
    found = survey(copied)
    assert found.n_parameters
    with pytest.raises(CheckpointError, match=r"tokenizer\.json cannot be read"):
        found.contents.read_tokenizer()
    (copied / "tokenizer.json").write_text('{"a": 1}')
    with pytest.raises(CheckpointError, match=r"cannot be read: it has no 'added_tokens'\.$"):
        survey(copied).contents.read_tokenizer()


def test_json_values(gpt2: Path) -> None:
    result = json.loads(json.dumps(inspect(gpt2)))
    model: Any = build("GPT-2")
    assert result["parameters"] == model.num_parameters()
    assert result["parameters of transformer"] == model.num_parameters()
    assert result["n_embd"] == 16 and result["model_type"] == "gpt2"
    assert result["tied tensors"] == ["transformer.wte.weight is also lm_head.weight."]
