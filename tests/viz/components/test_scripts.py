"""What browser files compute without a page, tested in Node; and the linter's verdict on them."""

import subprocess
from pathlib import Path

from tests.node import node

FOLDER = Path(__file__).parent / "scripts"


def test_scripts_compute_what_they_should() -> None:
    files = sorted(str(file) for file in FOLDER.glob("*.test.mjs"))
    done = subprocess.run([node(), "--test", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert files
