"""The declaration of a checkpoint format: how to tell it, describe it, and open it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from transformer.checkpoint import Checkpoint, Description
from transformer.inspection.contents import Contents


@dataclass(frozen=True)
class Format:
    """One way in which people keep trained models: a folder, or a file."""

    name: str
    title: str
    fits: Callable[[Path], bool]
    """Tell whether a path looks like one, by its files' names and a small configuration."""
    describe: Callable[[Path], Description]
    """Describe it before weights are read. Raises CheckpointError."""
    load: Callable[[Path, torch.device], Checkpoint]
    """Open it, ready to run. Raises CheckpointError; whatever it holds, none of it is executed."""
    files: Callable[[Path], Sequence[Path]]
    """The files that it is read from: once one of them changes, it is another checkpoint."""
    contents: Callable[[Path], Contents] | None = None
    """All that can be read of it, whole or damaged, for inspecting. Raises CheckpointError.

    None: what `load` makes of it, for a format whose models have a ModelConfig.
    """
