"""One path that spells a base with its adapter."""

from pathlib import Path

SEPARATOR = "::"
"""Between a base and its adapter, in one path: it needs no quotes in a shell or an address."""


def adapted_path(base: Path, folder: Path) -> Path:
    """Spell a base with the adapter of a folder as one path."""
    return Path(f"{base}{SEPARATOR}{folder}")


def parts_of(path: Path) -> tuple[Path, Path] | None:
    """Return the base and the adapter's folder that one path spells; None where it spells none.

    >>> parts_of(Path("models/base::adapters/mine")) == (Path("models/base"), Path("adapters/mine"))
    True
    """
    base, _, folder = str(path).rpartition(SEPARATOR)
    return (Path(base), Path(folder)) if base and folder and not _exists(path) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # its name is too long
        return False
