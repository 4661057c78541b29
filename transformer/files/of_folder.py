"""Files of a folder, as people see them: what begins with a dot is the system's.

macOS leaves ._model.safetensors beside a file on other disks and in its archives.
"""

from collections.abc import Iterable
from pathlib import Path

from transformer.files.natural_order import natural


def files_of(folder: Path, endings: Iterable[str]) -> list[Path]:
    """The files whose names end so, links that lead nowhere among them, in natural order."""
    ends = tuple(endings)
    names = (each for each in folder.iterdir() if not each.name.startswith("."))
    files = (each for each in names if each.name.endswith(ends) and not each.is_dir())
    return sorted(files, key=lambda file: natural(file.name))
