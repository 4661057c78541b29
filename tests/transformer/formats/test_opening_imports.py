"""What opening a checkpoint of ours imports: torch's compiler takes longer than all the rest."""

from pathlib import Path

import pytest

from tests import warm
from tests.representatives import cases

ROOT = Path(__file__).parents[3]
OPEN = """
import sys
from transformer import load_checkpoint
load_checkpoint(sys.argv[1], "cpu")
assert "torch._dynamo" not in sys.modules
"""
SHIPPED = sorted({it.parent.name for it in (ROOT / "checkpoints").glob("*/*.safetensors")})
FEW = {"an encoder and a decoder": "copy", "a decoder": "shakespeare", "an encoder": "sentiment"}
"""Family of models -> a shipped one: what is imported depends on the family alone."""


@pytest.mark.parametrize("name", cases(SHIPPED, FEW))
def test_opening_needs_no_compiler(name: str) -> None:
    done = warm.run(OPEN, ROOT / "checkpoints" / name)
    assert done.returncode == 0, done.stderr
