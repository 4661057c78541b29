"""Weights under other names than the library's, and those that are not there at all."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.transformer.hugging_face.saving import saver, writer
from transformer import CheckpointError, load_checkpoint
from transformer.files.tensors import STATES

WHOLE, PICKLED = "model.safetensors", "pytorch_model.bin"
FAMILIES = ("Llama", "GPT-2", "T5", "BART")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where a family's small model is saved; each once."""
    return saver(writer, tmp_path_factory)


def copy(folder: Path, to: Path) -> tuple[Path, dict[str, Any]]:
    """A copy without its weights, and these."""
    shutil.copytree(folder, to)
    tensors = load_file(to / WHOLE)
    (to / WHOLE).unlink()
    return to, tensors


def as_usual(folder: Path, usual: Path) -> str:
    """Weights are those of the usual folder; returns what is noted."""
    opened, same = load_checkpoint(folder, "cpu"), load_file(usual / WHOLE)
    state = opened.model.get_submodule("inner").state_dict()
    assert all(torch.equal(state[name], tensor) for name, tensor in same.items())
    return " ".join(opened.about.notes)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_only_file_of_weights_is_read_and_named(
    family: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, tensors = copy(saved(family), tmp_path / "mine")
    torch.save({}, folder / "optimizer.pt")
    (folder / "._best.pt").write_bytes(b"\0\5\x16\7")
    names = ("best.pt", "epoch=1-step=9.ckpt", "model.fp16.safetensors", f"{PICKLED[:-4]} (1).bin")
    for name in names if family == "Llama" else names[:1]:
        is_safe = name.endswith(".safetensors")
        (save_file if is_safe else torch.save)(tensors, folder / name)
        said = as_usual(folder, saved(family))
        assert name in said and "optimizer" not in said and "._best" not in said
        (folder / name).unlink()


def test_which_of_several_files_is_meant_is_asked(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, tensors = copy(saved("Llama"), tmp_path / "mine")
    for name in ("best.pt", "last.pt"):
        torch.save(tensors, folder / name)
    with pytest.raises(CheckpointError, match=r"best\.pt, last\.pt"):
        load_checkpoint(folder, "cpu")


@pytest.mark.parametrize("ending", [".safetensors", ".bin"])
def test_parts_without_their_index_are_one_model(
    ending: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, tensors = copy(saved("Llama"), tmp_path / "mine")
    stem = "model" if ending == ".safetensors" else "pytorch_model"
    parts = [folder / f"{stem}-0000{i}-of-00003{ending}" for i in (1, 2, 3)]
    for i, part in enumerate(parts):
        some = {name: each for k, (name, each) in enumerate(tensors.items()) if k % 3 == i}
        (save_file if ending == ".safetensors" else torch.save)(some, part)
    assert not as_usual(folder, saved("Llama"))
    parts[1].unlink()
    with pytest.raises(CheckpointError, match=rf"{parts[1].name} is missing"):
        load_checkpoint(folder, "cpu")


@pytest.mark.parametrize("state", [*STATES, "state_dict of model"])
def test_a_state_dict_within_what_was_saved(
    state: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    """As Lightning's trainer has it: beside an epoch, and all names within `model`."""
    folder, tensors = copy(saved("GPT-2"), tmp_path / "mine")
    state, _, prefix = state.partition(" of ")
    inside = {f"{prefix}.{name}" if prefix else name: each for name, each in tensors.items()}
    torch.save({state: inside, "epoch": 3, "optimizer_states": [{"lr": 0.1}]}, folder / PICKLED)
    as_usual(folder, saved("GPT-2"))


@pytest.mark.parametrize("values", [{}, {"epoch": 3}, {"model": {}}])
def test_a_file_without_tensors_is_named(
    values: dict[str, Any], saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, _ = copy(saved("Llama"), tmp_path / "mine")
    torch.save(values, folder / PICKLED)
    with pytest.raises(CheckpointError, match=rf"{PICKLED} holds no tensors"):
        load_checkpoint(folder, "cpu")


def test_links_that_lead_nowhere_are_named(saved: Callable[[str], Path], tmp_path: Path) -> None:
    for name in (WHOLE, "config.json", "tokenizer.json"):
        folder = Path(shutil.copytree(saved("Llama"), tmp_path / name))
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to("../../blobs/abc")
        with pytest.raises(CheckpointError, match=rf"{name} is a link to a file that is not there"):
            load_checkpoint(folder, "cpu")


@pytest.mark.parametrize("name", ["m-Q4.gguf", "tf_model.h5", "flax_model.msgpack", "a.zip"])
def test_weights_of_other_tools_are_named_with_what_to_do(
    name: str, saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, _ = copy(saved("Llama"), tmp_path / "mine")
    (folder / name).write_bytes(b"x")
    with pytest.raises(CheckpointError, match=rf"are missing.*{name} is a.*open"):
        load_checkpoint(folder, "cpu")


def test_a_matrix_of_the_output_that_is_missing_may_be_that_of_the_embeddings(
    saved: Callable[[str], Path], tmp_path: Path
) -> None:
    folder, tensors = copy(saved("Llama"), tmp_path / "mine")
    save_file({n: each for n, each in tensors.items() if n != "lm_head.weight"}, folder / WHOLE)
    with pytest.raises(CheckpointError, match=r"lack lm_head\.weight; .*tie_word_embeddings"):
        load_checkpoint(folder, "cpu")
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**values, "tie_word_embeddings": True}))
    assert load_checkpoint(folder, "cpu").family.decodes
