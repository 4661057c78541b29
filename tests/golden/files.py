"""Where golden files lie: a folder a sort of place, a file an exhibit."""

from collections.abc import Sequence
from pathlib import Path

FILES = Path(__file__).parent / "files"
COMMAND = "python -m tests.golden"


def file_of(place: str, exhibit: str) -> Path:
    """place: "pages/explore-1"."""
    return FILES / f"{place}.{exhibit}.txt"


def write(file: Path, lines: Sequence[str]) -> None:
    """One line a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(file: Path) -> list[str]:
    """What was written."""
    return file.read_text(encoding="utf-8").split("\n")[:-1]


def places_and_names() -> list[tuple[str, str]]:
    """Of all files that are there, place and exhibit."""
    files = sorted(file.relative_to(FILES).with_suffix("") for file in FILES.rglob("*.txt"))
    return [(place, name) for file in files for place, _, name in [file.as_posix().partition(".")]]
