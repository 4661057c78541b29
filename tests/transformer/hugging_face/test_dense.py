"""Dense layers of a sentence pipeline are part of its vector, or named."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from tests.transformer.hugging_face.test_text_vectors import (
    HEAD_OFF,
    IDS,
    TYPES,
    by_hand,
    name_pooling,
    pipeline_around,
)
from tests.transformer.watch.hugging_face import build
from transformer import load_checkpoint, record
from transformer.analysis.ablation import sweep
from transformer.fingerprint import fingerprint
from transformer.recording.vector import ACTIVATIONS, TextVector, angle, cosine
from viz.views.vectors import cosines

MODULE = "torch.nn.modules.activation."
MEAN = {"pooling_mode_mean_tokens": True}
WIDTH = 16


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An encoder without a head."""
    model: Any = build("BERT")
    model.base_model.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def weights(n_out: int, n_in: int, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    shapes = {"linear.weight": (n_out, n_in), "linear.bias": (n_out,)}
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def save_dense(folder: Path, place: str, tensors: dict[str, Tensor], **settings: Any) -> None:
    """Write what Sentence Transformers writes of a Dense."""
    n_out, n_in = tensors["linear.weight"].shape
    usual = {"in_features": n_in, "out_features": n_out, "bias": "linear.bias" in tensors}
    usual |= {"activation_function": f"{MODULE}Tanh"}
    (folder / place).mkdir()
    (folder / place / "config.json").write_text(json.dumps(usual | settings))
    save_file(tensors, folder / place / "model.safetensors")


def vector_at(folder: Path) -> TextVector:
    vector = record(load_checkpoint(folder), IDS).vector
    assert vector is not None
    return vector


def notes_at(folder: Path) -> list[str]:
    return [note for note in load_checkpoint(folder).about.notes if "modules.json" in note]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_it_is_its_formula(name: str, folder: Path) -> None:
    name_pooling(folder, MEAN, "Dense", "Normalize")
    place = "torch.nn.modules.linear." if name == "Identity" else MODULE
    tensors = weights(24, WIDTH)
    save_dense(folder, "2_Dense", tensors, activation_function=f"{place}{name}")
    checkpoint = load_checkpoint(folder)
    vector = record(checkpoint, IDS).vector
    assert vector is not None and vector.is_named
    assert not [note for note in checkpoint.about.notes if "modules.json" in note]
    mean = by_hand(vector.states, "mean")
    linear = torch.stack([(row * mean).sum() for row in tensors["linear.weight"]])
    expected = getattr(nn, name)()(linear + tensors["linear.bias"])
    torch.testing.assert_close(vector.values, expected / expected.norm(), atol=1e-6, rtol=1e-5)


def test_several_follow_each_other_from_either_file(folder: Path) -> None:
    name_pooling(folder, {"pooling_mode": ["mean", "cls"]}, "Dense", "Dense")
    first, second = weights(20, 2 * WIDTH), weights(6, 20, seed=1)
    del second["linear.bias"]
    save_dense(folder, "2_Dense", first)
    save_dense(folder, "3_Dense", second, activation_function="torch.nn.modules.linear.Identity")
    (folder / "3_Dense/model.safetensors").unlink()
    torch.save(second, folder / "3_Dense/pytorch_model.bin")
    vector = vector_at(folder)
    both = torch.cat([by_hand(vector.states, "cls"), by_hand(vector.states, "mean")])
    hidden = (first["linear.weight"] @ both + first["linear.bias"]).tanh()
    expected = second["linear.weight"] @ hidden
    torch.testing.assert_close(vector.values, expected, atol=1e-6, rtol=1e-5)


def test_edits_turn_the_vector_behind_it(folder: Path) -> None:
    name_pooling(folder, MEAN, "Dense")
    save_dense(folder, "2_Dense", weights(5, WIDTH))
    checkpoint = load_checkpoint(folder)
    plain, edited = record(checkpoint, IDS).vector, record(checkpoint, IDS, edits=[HEAD_OFF]).vector
    assert plain is not None and edited is not None and plain.values.shape == (5,)
    swept = sweep(checkpoint, IDS, None, [HEAD_OFF])
    assert swept.totals.tolist() == pytest.approx([-angle(plain.values, edited.values)], rel=1e-5)
    # A token's vector is of another space than what a dense layer gives.
    expected = [cosine(plain.states.mean(0), state) for state in plain.states]
    assert cosines(record(checkpoint, IDS)) == pytest.approx(expected)


FAULTS: dict[str, dict[str, Any]] = {
    "an activation of nobody's": {"activation_function": "torch.nn.modules.activation.Softmax"},
    "a function of a stranger's": {"activation_function": "os.system"},
    "no activation": {"activation_function": None},
    "no sizes": {"in_features": None},
    "another width": {"in_features": WIDTH + 1},
    "huge": {"out_features": 2**40},
    "of tokens": {"module_input_name": "token_embeddings"},
    "of several": {"module_input_name": ["sentence_embedding"]},
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_that_is_not_computed_is_named(name: str, folder: Path) -> None:
    name_pooling(folder, MEAN, "Dense")
    save_dense(folder, "2_Dense", weights(24, WIDTH), **FAULTS[name])
    assert any("Dense" in note for note in notes_at(folder))
    vector = vector_at(folder)
    assert not vector.is_named
    torch.testing.assert_close(vector.values, vector.states.mean(0))


def test_one_before_its_pooling_that_names_no_size_is_named(folder: Path) -> None:
    name_pooling(folder, MEAN, "Dense")
    save_dense(folder, "2_Dense", weights(24, WIDTH), out_features={"a": 1})
    model, pooling, dense = json.loads((folder / "modules.json").read_text())
    (folder / "modules.json").write_text(json.dumps([model, dense, pooling]))
    assert any("Dense" in note for note in notes_at(folder))


@pytest.mark.parametrize("change", ["shape", "name", "nan", "file", "order"])
def test_damaged_weights_are_named(change: str, folder: Path) -> None:
    further = ("Normalize", "Dense") if change == "order" else ("Dense",)
    name_pooling(folder, MEAN, *further)
    place = f"{1 + len(further)}_Dense"
    save_dense(folder, place, tensors := weights(24, WIDTH))
    if change == "shape":
        tensors["linear.weight"] = tensors["linear.weight"][:-1].clone()
    elif change == "name":
        tensors["dense.weight"] = tensors.pop("linear.weight")
    elif change == "nan":
        tensors["linear.bias"][3] = torch.nan
    save_file(tensors, folder / place / "model.safetensors")
    if change == "file":
        (folder / place / "model.safetensors").unlink()
    assert notes_at(folder) and not vector_at(folder).is_named


def test_its_weights_are_part_of_the_fingerprint(folder: Path) -> None:
    name_pooling(folder, MEAN, "Dense")
    save_dense(folder, "2_Dense", weights(24, WIDTH))
    before = fingerprint(folder)
    save_file(weights(24, WIDTH, seed=1), folder / "2_Dense/model.safetensors")
    assert fingerprint(folder) != before


@pytest.mark.parametrize("inner", ["", "0_Transformer"])
def test_every_file_of_a_pipeline_is_part_of_the_fingerprint(inner: str, folder: Path) -> None:
    """Folders of modules by any name, weights in parts, and the model opened by itself."""
    outer = pipeline_around(folder, MEAN)
    (outer / "1_Pooling").rename(outer / "Pooling")
    save_dense(outer, "Dense", tensors := weights(24, WIDTH))
    (outer / "Dense/model.safetensors").rename(outer / "Dense/part.safetensors")
    index = {"weight_map": dict.fromkeys(tensors, "part.safetensors")}
    (outer / "Dense/model.safetensors.index.json").write_text(json.dumps(index))
    paths = {"0_Transformer": "Transformer", "Pooling": "Pooling", "Dense": "Dense"}
    modules = [{"path": path, "type": TYPES + name} for path, name in paths.items()]
    (outer / "modules.json").write_text(json.dumps(modules))
    vector = vector_at(outer / inner)
    assert vector.is_named and vector.values.shape == (24,)
    marks = {fingerprint(outer / inner)}
    changed = (
        "modules.json",
        "Pooling/config.json",
        *(
            f"Dense/{name}"
            for name in ("config.json", "model.safetensors.index.json", "part.safetensors")
        ),
    )
    for name in changed:
        with (outer / name).open("ab") as file:
            file.write(b" ")
        marks.add(fingerprint(outer / inner))
    assert len(marks) == 1 + len(changed)


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_a_module_at_an_impossible_place_is_named(name: str, folder: Path) -> None:
    name_pooling(folder, MEAN)
    modules = json.loads((folder / "modules.json").read_text())
    modules.append({"path": name, "type": f"{TYPES}Dense"})
    (folder / "modules.json").write_text(json.dumps(modules))
    assert fingerprint(folder) and notes_at(folder) and not vector_at(folder).is_named
