"""What opening a checkpoint of ours imports: torch's compiler takes longer than all the rest."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
OPEN = """
import sys
from transformer import load_checkpoint
for path in sys.argv[1:]:
    load_checkpoint(path, "cpu")
    assert "torch._dynamo" not in sys.modules, path
"""


def test_opening_needs_no_compiler() -> None:
    paths = [str(each.parent) for each in sorted((ROOT / "checkpoints").glob("*/*.safetensors"))]
    command = [sys.executable, "-c", OPEN, *dict.fromkeys(paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert paths and done.returncode == 0, done.stderr
