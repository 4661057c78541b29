"""A file of weights that is cut while it is loaded ends in a sentence, and never the process."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.transformer.watch.hugging_face import build

ROOT = Path(__file__).parents[3]
LOAD = """
import sys
from pathlib import Path
import safetensors, safetensors.torch
file, folder = Path(sys.argv[1]), Path(sys.argv[2])

def cut():
    assert str(file) not in Path("/proc/self/maps").read_text(), "it is mapped"
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size // 2)

class CutWhenItIsOpen:
    def __init__(self, *given, **more):
        self.inner = opens(*given, **more)
    def __enter__(self):
        self.inner.__enter__()
        cut()
        return self.inner
    def __exit__(self, *error):
        return self.inner.__exit__(*error)

opens = safetensors.safe_open

from transformer import CheckpointError, load_checkpoint
load_checkpoint(folder, "cpu")  # whole
WHERE
try:
    load_checkpoint(folder, "cpu")
except CheckpointError as error:
    print("refused:", error)
"""
OURS = "safetensors.torch.safe_open = CutWhenItIsOpen"
LIBRARY = """
from transformers import modeling_utils
reads = modeling_utils._safe_load_bytes
def cut_bytes(content):
    cut()
    return reads(file.read_bytes())
modeling_utils._safe_load_bytes = cut_bytes
"""
PICKLED = """
from transformer.files import tensor_files
reads = tensor_files.stored_values
def cut_values(*given):
    cut()
    return reads(*given)
tensor_files.stored_values = cut_values
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
@pytest.mark.parametrize(
    ("make", "where"), [(ours, OURS), (of_the_library, LIBRARY), (pickled, PICKLED)]
)
def test_it_ends_in_a_sentence(make: Callable[[Path], Path], where: str, tmp_path: Path) -> None:
    """In a process of its own, which a mapped file would end (SIGBUS)."""
    file = make(tmp_path / "m")
    program = LOAD.replace("WHERE", where)
    run = [sys.executable, "-c", program, str(file), str(tmp_path / "m")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.startswith("refused: m: "), done.stdout + done.stderr[-2000:]
