"""Shards: runs of lines of a file, each of which becomes one part, a Parquet file in a folder."""

import hashlib
import importlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from transformer.checkpoint import CheckpointError
from transformer.corpus.measured import N_OFFSETS, SentenceHeads, columns
from transformer.extras import require
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import PART, Unwritten, write_whole
from transformer.files.regular_file import natural
from transformer.fingerprint import fingerprint
from transformer.inputs import InputError
from transformer.refusal import quoted

# Shards: runs of lines of a file, each of which becomes one part, a Parquet file in a folder.
#
# A part is there whole or not at all, so the parts in the folder say what is done: nothing else
# is written down of it. What stands in a part depends on its lines alone, never on who computed
# it.

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


# The manifest of a folder of parts: what they are of, so that nothing else is added to them.

MANIFEST = "_manifest.json"
"""Whatever reads a folder as one table leaves out names that begin with a line or a dot."""
PACKAGES = ("headscope", "torch", "pyarrow")
"""Packages whose versions decide what stands in a part, to the bit."""
SOURCE = "source tree"
"""In place of a version, of code that is not installed."""


def versions() -> dict[str, str]:
    """Return the versions of the packages that decide what stands in a part."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return SOURCE


def manifest_of(checkpoint: Path, data: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of parts: of this checkpoint, this file and these options.

    options: whatever else decides what stands in the parts, as JSON has it, such as the size of
    shards and the version of their columns. Raises CheckpointError, InputError.
    """
    try:
        digest = hashlib.sha256(data.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{data} cannot be read: {error.strerror}.") from error
    manifest = {
        "checkpoint": fingerprint(checkpoint),
        "data": digest,
        "options": dict(options),
        "versions": versions(),
    }
    return json.loads(json.dumps(manifest))  # as it is read again: lists, not tuples


WORDS = {
    "checkpoint": "another checkpoint",
    "data": "another file",
    "options": "other options",
    "versions": "other versions",
}
"""Entry of a manifest -> what is said where a folder's is another one."""


def make_folder(folder: Path) -> None:
    """Make the folder, where there is none, before anything is computed. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        why = "" if os.access(folder, os.W_OK | os.X_OK) else "Permission denied"
    except (OSError, ValueError) as error:
        is_taken = isinstance(error, FileExistsError)
        why = "a file is there" if is_taken else getattr(error, "strerror", None) or str(error)
    if why:
        raise InputError(
            f"{folder} cannot be the folder of the parts ({why}): --out must name a folder that "
            "may be written to, or a new one."
        )


def options_in(folder: Path) -> Mapping[str, Any]:
    """Return the options that a folder's manifest has; none where there is none, or it is bad."""
    try:
        there = read_json(folder / MANIFEST) if (folder / MANIFEST).exists() else None
    except CheckpointError:
        return {}  # `begin` says so
    options = there.get("options") if isinstance(there, dict) else None
    return options if isinstance(options, dict) else {}


def begin(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a new folder, or compare that of one which is continued.

    Raises InputError where parts are there that are of something else, and Unwritten.
    """
    compare(folder, manifest)
    file = folder / MANIFEST
    if not file.exists():
        write_whole(file, (json.dumps(manifest, indent=2) + "\n").encode())


def compare(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Compare the manifest of a folder, if it has any. Raises InputError as `begin`."""
    file = folder / MANIFEST
    if not file.exists():
        if any(folder.glob("part-*.parquet")):
            raise InputError(f"{folder} has parts and no {MANIFEST}: give --out another name.")
        return
    try:
        there = read_json(file)
    except CheckpointError as error:
        raise InputError(f"{error} Give --out another name.") from error
    for name, words in WORDS.items():
        before = there.get(name) if isinstance(there, dict) else None
        if before != manifest[name]:
            raise InputError(
                f"{folder} is of {words}{_difference(before, manifest[name])}: give --out "
                "another name."
            )


def _difference(before: object, now: object) -> str:
    """Return the first option or version that is another one, in brackets."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return ""
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            if isinstance(before.get(name), list) and isinstance(now.get(name), list):
                one = min({*before[name]} ^ {*now[name]}, default="in another order")
                return f" ({name}: {quoted(one, 30)} stands in only one)"
            was, value = (quoted(each.get(name), 30) for each in (before, now))
            return f" ({name}: {was}, and {value} now)"
    return ""


# Lines of a survey as a table of pyarrow's, and back: a line per sentence and head.
#
# Every row of attention leaves its largest weight and that weight's key, so that quantiles over
# all rows, and the rows at them, can be told from parts alone: no model is run again.

VERSION = 3
"""The number of this layout; parts of another one are not read."""
LAYOUT, ONE_BY_ONE, LEFT_OUT = "headscope_survey", "one_by_one", "left_out"
"""Names of what a part says of itself."""


def table_of(
    lines: Sequence[SentenceHeads], one_by_one: str = "", left_out: Sequence[str] = ()
) -> Any:
    """Make a pyarrow.Table of them. one_by_one, left_out: see `Survey`. Raises NotInstalled."""
    require("survey")
    arrow: Any = importlib.import_module("pyarrow")
    n_heads = np.array([len(each.numbers) for each in lines], dtype=np.int64)
    nothing = np.empty((0, len(columns())), np.float32), np.empty((0, N_OFFSETS), np.float32)
    numbers = np.concatenate([nothing[0], *(each.numbers for each in lines)])
    footprint = np.concatenate([nothing[1], *(each.footprint for each in lines)])
    places = [np.arange(len(each.numbers)) for each in lines]
    layers = [at // each.n_heads for at, each in zip(places, lines, strict=True)]
    heads = [at % each.n_heads for at, each in zip(places, lines, strict=True)]

    def words(values: Sequence[str]) -> Any:
        """The same text in all lines of a sentence and kind: written once."""
        different = list(dict.fromkeys(values))
        at = {value: i for i, value in enumerate(different)}
        codes = np.repeat(np.array([at[value] for value in values], dtype=np.int32), n_heads)
        return arrow.DictionaryArray.from_arrays(
            arrow.array(codes), arrow.array(different, arrow.string())
        )

    def joined(arrays: Sequence[Any], kind: Any) -> Any:
        return np.concatenate([np.empty(0, kind), *arrays]).astype(kind)

    def rows(name: str, kind: Any) -> Any:
        values = [getattr(each, name) for each in lines]
        widths = np.repeat(np.array([each.shape[1] for each in values], dtype=np.int64), n_heads)
        offsets = np.append(0, widths.cumsum()).astype(np.int32)
        flat = joined([each.ravel() for each in values], kind)
        return arrow.ListArray.from_arrays(arrow.array(offsets), arrow.array(flat))

    of_part = {LAYOUT: str(VERSION), ONE_BY_ONE: one_by_one, LEFT_OUT: json.dumps(left_out)}
    return arrow.table(
        {
            "sentence": np.repeat(
                np.array([each.sentence for each in lines], dtype=np.int64), n_heads
            ),
            "kind": words([each.kind for each in lines]),
            "layer": joined(layers, np.int16),
            "head": joined(heads, np.int16),
            **{name: numbers[:, i] for i, name in enumerate(columns())},
            "footprint": arrow.FixedSizeListArray.from_arrays(
                arrow.array(footprint.ravel()), N_OFFSETS
            ),
            "peaks": rows("peaks", np.float32),
            "peak_keys": rows("peak_keys", np.int32),
            "queries": words([each.queries for each in lines]),
            "keys": words([each.keys for each in lines]),
            "names": words([each.names for each in lines]),
            "arcs": words([each.arcs for each in lines]),
            "arc_hits": rows("arc_hits", np.uint8),
        }
    ).replace_schema_metadata(of_part)


class Parts:
    """The lines of all parts in a folder, in the order of the file; may be gone through again."""

    def __init__(self, folder: Path) -> None:
        self.files = sorted(folder.glob("part-*.parquet"), key=lambda file: natural(file.name))

    def __iter__(self) -> Iterator[SentenceHeads]:
        for file in self.files:
            yield from lines_of(file)

    @property
    def one_by_one(self) -> str:
        """The reason why sentences were not read in batches, as the first part has it."""
        return _of_part(self.files[0], ONE_BY_ONE) if self.files else ""

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences that say which lines the parts leave out, and why."""
        texts = (_of_part(file, LEFT_OUT) for file in self.files)
        return tuple(sentence for text in texts for sentence in json.loads(text or "[]"))


def _of_part(file: Path, name: str) -> str:
    """Return what a part says of itself under this name; empty where it says nothing."""
    with _refused(file):
        metadata = parquet().read_schema(file).metadata or {}
        return str(metadata.get(name.encode(), b"").decode())


@contextmanager
def _refused(file: Path) -> Iterator[None]:
    """Say in a sentence that a file is no part. Raises InputError."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{file} is not a part of a survey that this version reads: remove it, and the same "
            "command makes it anew."
        ) from error


def lines_of(file: Path) -> Iterator[SentenceHeads]:
    """Read a part. Raises InputError for what is none, NotInstalled."""
    reader = parquet()
    with _refused(file):
        table = reader.read_table(file)
        version = (table.schema.metadata or {}).get(LAYOUT.encode(), b"").decode()
        if version != str(VERSION):
            raise ValueError(f"version {quoted(version)}")
        yield from _lines(table)


def _lines(table: Any) -> Iterator[SentenceHeads]:
    if not len(table):
        return
    names = ("kind", "queries", "keys", "names", "arcs")
    texts = {name: table[name].cast("string").to_pylist() for name in names}
    sentences, layers = table["sentence"].to_numpy(), table["layer"].to_numpy()
    numbers = np.stack([table[name].to_numpy() for name in columns()], axis=1)
    footprint = table["footprint"].combine_chunks().flatten().to_numpy().reshape(-1, N_OFFSETS)
    lists = {name: table[name].combine_chunks() for name in ("peaks", "peak_keys", "arc_hits")}
    flat = {name: each.values.to_numpy(zero_copy_only=False) for name, each in lists.items()}
    offsets = {name: each.offsets.to_numpy() for name, each in lists.items()}
    kinds = np.array(texts["kind"])
    starts = np.flatnonzero((np.diff(sentences) != 0) | (kinds[1:] != kinds[:-1])) + 1
    for first, last in zip([0, *starts], [*starts, len(table)], strict=True):
        rows = {
            name: flat[name][at[first] : at[last]].reshape(last - first, -1)
            if at[first] < at[last]
            else np.zeros((last - first, 0), flat[name].dtype)
            for name, at in offsets.items()
        }
        yield SentenceHeads(
            sentence=int(sentences[first]),
            kind=str(kinds[first]),
            n_layers=int(layers[last - 1]) + 1,
            queries=texts["queries"][first],
            keys=texts["keys"][first],
            names=texts["names"][first],
            numbers=numbers[first:last],
            footprint=footprint[first:last],
            arcs=texts["arcs"][first],
            **rows,
        )
