"""A file of weights that is cut while it is loaded ends in a sentence, and never the process."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests import warm
from tests.transformer.watch.hugging_face import build

ROOT = Path(__file__).parents[3]
LOAD = """
import sys
from pathlib import Path
from unittest.mock import patch
import safetensors, safetensors.torch
from transformer import CheckpointError, load_checkpoint
from transformer.files import tensor_files

def cut(file):
    assert str(file) not in Path("/proc/self/maps").read_text(), "it is mapped"
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2)

class CutWhenItIsOpen:
    def __init__(self, *given, **more):
        self.inner, self.file = opens(*given, **more), file  # threads go on reading the last one
    def __enter__(self):
        self.inner.__enter__()
        cut(self.file)
        return self.inner
    def __exit__(self, *error):
        return self.inner.__exit__(*error)

class CutWhenItIsRead(CutWhenItIsOpen):
    def __enter__(self):
        self.inner.__enter__()
        return self
    def get_tensor(self, name):
        cut(self.file)
        return self.inner.get_tensor(name)
    def __getattr__(self, name):
        return getattr(self.inner, name)

def cut_values(*given):
    cut(file)
    return reads_values(*given)

opens = safetensors.safe_open
reads_values = tensor_files.stored_values
while_read = (
    (safetensors.torch, "safe_open", CutWhenItIsOpen),
    (tensor_files, "safe_open", CutWhenItIsRead),
    (tensor_files, "stored_values", cut_values),
)
for file, place in zip(map(Path, sys.argv[1:]), while_read, strict=True):
    load_checkpoint(file.parent, "cpu")  # whole
    with patch.object(*place):
        try:
            load_checkpoint(file.parent, "cpu")
        except CheckpointError as error:
            print("refused:", error, flush=True)
"""


def ours(folder: Path) -> Path:
    shutil.copytree(ROOT / "checkpoints" / "copy", folder)
    return folder / "model.safetensors"


def of_the_library(folder: Path) -> Path:
    model: Any = build("GPT-2")
    model.save_pretrained(folder)
    return folder / "model.safetensors"


def pickled(folder: Path) -> Path:
    of_the_library(folder).unlink()
    model: Any = build("GPT-2")
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    return folder / "pytorch_model.bin"


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="it asks Linux what is mapped")
def test_it_ends_in_a_sentence(tmp_path: Path) -> None:
    """In a process of its own, which a mapped file would end (SIGBUS)."""
    made = {"ours": ours, "library": of_the_library, "pickled": pickled}
    files = [str(make(tmp_path / name)) for name, make in made.items()]
    done = warm.run(LOAD, *files)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    lines = done.stdout.decode().splitlines()
    assert [line.split(": ")[:2] for line in lines] == [["refused", name] for name in made]
