"""Where golden files lie: a folder a sort of place, a file an exhibit."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.golden.matching import differences, settled, sheet_differences

FILES = Path(__file__).parent / "files"
COMMAND = "python -m tests.golden"


@dataclass(frozen=True)
class Golden:
    """What is kept of an exhibit."""

    lines: list[str]
    svg: list[str] = field(default_factory=list)
    """Its sheet; empty where that is not kept."""
    unexplained: tuple[str, ...] = ()
    """Columns of numbers whose heads do not say what these are; they stand in no file."""
    uncounted: tuple[str, ...] = ()
    """Tables whose intervals are over nobody knows how many sentences; nor do these."""


def file_of(place: str, exhibit: str, ending: str = "txt") -> Path:
    """place: "pages/explore-1"."""
    return FILES / f"{place}.{exhibit}.{ending}"


def write(place: str, exhibit: str, golden: Golden) -> list[Path]:
    """Its files, one or two; one is written where it would say something else than before.

    What a test takes for the same stays as it is, file by file and line by line: another machine's
    rounding would otherwise stand in a diff beside what was changed.
    """
    txt, svg = (file_of(place, exhibit, ending) for ending in ("txt", "svg"))
    says_more = bool(differences(read(txt), golden.lines))
    if says_more:
        _write(txt, settled(read(txt), golden.lines))
    # Cells of a map count in the other file alone.
    if says_more or sheet_differences(read(svg), golden.svg):
        _write(svg, settled(read(svg), golden.svg, is_sheet=True))
    return [file for file, lines in ((txt, golden.lines), (svg, golden.svg)) if lines]


def _write(file: Path, lines: list[str]) -> None:
    if lines:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(file: Path) -> list[str]:
    """The lines that were written; none where there is no file."""
    return file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []


def places_and_names() -> list[tuple[str, str]]:
    """Of all files that are there, place and exhibit."""
    files = sorted(file.relative_to(FILES).with_suffix("") for file in FILES.rglob("*.txt"))
    return [(place, name) for file in files for place, _, name in [file.as_posix().partition(".")]]
