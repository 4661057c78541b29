"""Shards: runs of lines of a file, each of which becomes one part, a Parquet file in a folder.

A part is there whole or not at all, so the parts in the folder say what is done: nothing else is
written down of it. What stands in a part depends on its lines alone, never on who computed it.
"""

import importlib
import io
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformer.extras import require
from transformer.files.whole_file import PART, Unwritten, write_whole

SIZE = 256
"""Lines of a shard: a few batches, since a shard that is lost is computed again as a whole."""


@dataclass(frozen=True)
class Shard:
    """A run of lines of a file."""

    number: int
    first: int
    """The number of its first line in the file, from 0."""
    lines: tuple[str, ...]
    """Each a source, or a source, a tab and its target; some may be empty."""

    @property
    def span(self) -> str:
        """Its lines as people count them, from 1.

        >>> Shard(1, 256, ("a", "b")).span
        'lines 257 to 258'
        """
        first, last = self.first + 1, self.first + len(self.lines)
        return f"line {first}" if first == last else f"lines {first} to {last}"


def shards_of(lines: Iterable[str], size: int = SIZE) -> Iterator[Shard]:
    """Cut lines into shards of `size`; the last one may be shorter.

    >>> [(shard.first, shard.lines) for shard in shards_of("abc", 2)]
    [(0, ('a', 'b')), (2, ('c',))]
    """
    number, first = 0, 0
    run: list[str] = []
    for line in lines:
        run.append(line)
        if len(run) == size:
            yield Shard(number, first, tuple(run))
            number, first, run = number + 1, first + size, []
    if run:
        yield Shard(number, first, tuple(run))


def part(folder: Path, number: int) -> Path:
    """Return the place of a shard's part.

    >>> part(Path("out"), 7).name
    'part-00007.parquet'
    """
    return folder / f"part-{number:05d}.parquet"


def missing(shards: Iterable[Shard], folder: Path) -> list[Shard]:
    """Return the shards whose part is not in the folder: those that are left to do."""
    return [shard for shard in shards if not part(folder, shard.number).exists()]


def remove_damaged(shards: Iterable[Shard], folder: Path) -> list[Path]:
    """Remove the parts of these shards that are cut or no Parquet, and return where they were.

    They are known by their end, which is read alone. Raises Unwritten, NotInstalled.
    """
    reader, damaged = parquet(), []
    for shard in shards:
        file = part(folder, shard.number)
        if not file.is_file():
            continue
        try:
            reader.read_schema(file)
        except (OSError, ValueError) as error:
            if getattr(error, "errno", None):  # it could not be opened: nothing is known of it
                raise Unwritten(f"{file} cannot be read: {error}.") from error
            try:
                file.unlink()
            except OSError as trouble:
                raise Unwritten(f"{file} is damaged: remove it. {trouble.strerror}.") from error
            damaged.append(file)
    return damaged


def write_part(table: Any, folder: Path, number: int) -> None:
    """Write a shard's part, a pyarrow.Table, whole. Raises Unwritten, NotInstalled.

    The same table gives the same bytes. Several processes may write a part at once, as where a
    worker that was taken for dead still runs: each has a draft of its own. Whatever reads the
    folder as one table leaves out the drafts, since their names begin with a dot.
    """
    place = part(folder, number)
    drafts = f".{place.stem}."
    try:
        write_whole(place, _bytes(table), f"{drafts}{os.urandom(6).hex()}{PART}")
    except Unwritten:
        if not place.exists():  # else another process wrote it, and took this draft away
            raise
    for draft in folder.glob(f"{drafts}*{PART}"):  # of processes that were killed
        with suppress(OSError):
            draft.unlink()


def _bytes(table: Any) -> bytes:
    stream = io.BytesIO()
    parquet().write_table(table, stream, compression="zstd")
    return stream.getvalue()


def parquet() -> Any:
    """pyarrow's part for Parquet. Raises NotInstalled."""
    require("survey")
    return importlib.import_module("pyarrow.parquet")
