"""What an operator may set, by environment variables."""

import os
from pathlib import Path


def checkpoints_folder() -> Path:
    """HEADSCOPE_CHECKPOINTS: the folder of checkpoint folders; `checkpoints` beside app.py."""
    default = Path(__file__).parents[2] / "checkpoints"
    return Path(os.environ.get("HEADSCOPE_CHECKPOINTS", default))


def threads() -> int:
    """HEADSCOPE_THREADS: CPU threads a forward pass; 1, as many people share the machine."""
    return int(os.environ.get("HEADSCOPE_THREADS", "1"))
