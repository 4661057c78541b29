"""Files that are cut while they are open: what is mapped into memory would end the process."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.transformer.watch.hugging_face import build
from transformer import CheckpointError, load_checkpoint, record
from transformer.inspection.survey import survey


def saved(folder: Path) -> Path:
    model: Any = build("GPT-2")
    model.save_pretrained(folder)
    return folder / "model.safetensors"


def pickled(folder: Path) -> Path:
    whole = saved(folder)
    model: Any = build("GPT-2")
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    whole.unlink()
    return folder / "pytorch_model.bin"


def cut(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(10)


@pytest.mark.parametrize("save", [saved, pickled])
def test_a_loaded_model_needs_its_files_no_more(
    save: Callable[[Path], Path], tmp_path: Path
) -> None:
    file = save(tmp_path / "m")
    checkpoint = load_checkpoint(tmp_path / "m", "cpu")
    before = record(checkpoint, "5 9 12").logits
    cut(file)
    assert torch.equal(record(checkpoint, "5 9 12").logits, before)


@pytest.mark.parametrize("change", [cut, Path.unlink])
def test_inspecting_goes_on_with_a_sentence(
    change: Callable[[Path], object], tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    pickled(folder)
    torch.save({"a": torch.ones(300, 300)}, folder / "other.pt")
    for path, file in ((folder, "pytorch_model.bin"), (folder / "other.pt", "other.pt")):
        found = survey(path)
        change(folder / file)
        with pytest.raises(CheckpointError, match=rf"^m: {file} was changed or removed while it"):
            found.read(found.tensors[0].name)
