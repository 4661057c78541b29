"""A table of sweeps on disk, as CSV or Parquet: written whole, read back to go on from there."""

import csv
import importlib
import io
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from pathlib import Path
from typing import Any

from transformer.extras import require
from transformer.files.csv_file import csv_bytes, of_text
from transformer.files.whole_file import write_whole
from transformer.inputs import InputError
from transformer.refusal import quoted

CSV, PARQUET = ".csv", ".parquet"


@dataclass(frozen=True)
class Line:
    """One edit, or two at once, on one sentence."""

    sentence: int
    """Its line in the file, from 1."""
    source: str
    written: str
    """The model's output without an edit; of a classifier its class, of numbers the
    name of the one that is judged."""
    n_words: int
    """Tokens that are judged; of a classifier 1, its class, of a vector 1."""
    log_prob: float
    """The log-probability of them all without an edit, in nats; of a number itself."""
    edits: str
    """The edits as they are spelled, two with a space between."""
    change: float
    """The change of that log-probability; of a vector minus the angle of its turn, in degrees; of a
    number that is put on the sentence its own."""
    n_other: int
    """Tokens at which another one is most probable than without an edit."""
    synergy: float | None = None
    """The change by two edits, less that of each by itself."""
    pair: str = ""
    """The second text, which was read with the sentence; empty: there was none."""


TYPES = {"sentence": int, "n_words": int, "n_other": int, "log_prob": float, "change": float}
NAMES = tuple(field.name for field in fields(Line))


def rounded(number: float) -> float:
    """Round as in a table, so that a run that goes on computes with what an unbroken one does."""
    return float(f"{number:.9g}")


def check_place(file: Path) -> None:
    """Raise InputError for a file that no table can be written to."""
    if file.suffix not in (CSV, PARQUET):
        raise InputError(f"{file} must end in {CSV} or {PARQUET}, which says how it is written.")
    if file.suffix == PARQUET:
        _arrow()


def write(file: Path, lines: Sequence[Line]) -> None:
    """Replace the file whole. Raises Unwritten, InputError."""
    write_whole(file, _parquet(lines) if file.suffix == PARQUET else as_csv(lines))


def read(file: Path) -> list[Line]:
    """The lines that are there; none where there is no file. Raises InputError for another one."""
    if not file.exists():
        return []
    try:
        rows = _parquet_rows(file) if file.suffix == PARQUET else _csv_rows(file)
        return [_line(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, csv.Error) as error:
        raise InputError(
            f"{file} is there and holds no sweep that could be continued: give --out another name."
        ) from error


def _line(row: dict[str, Any]) -> Line:
    row = {"pair": "", **row}  # tables of before there was such a column
    if set(row) != set(NAMES):
        raise ValueError(f"other columns: {quoted(str(list(row)))}")
    values = {name: TYPES.get(name, str)(row[name]) for name in NAMES if name != "synergy"}
    synergy = row["synergy"]
    return Line(**values, synergy=None if synergy in ("", None) else float(synergy))


def as_csv(lines: Sequence[Line]) -> bytes:
    """A line each, numbers with nine digits."""
    cells = (["" if each is None else each for each in astuple(line)] for line in lines)
    return csv_bytes(NAMES, ([_nine_digits(each) for each in row] for row in cells))


def _nine_digits(cell: Any) -> Any:
    return f"{cell:.9g}" if isinstance(cell, float) else cell


def _csv_rows(file: Path) -> list[dict[str, Any]]:
    with file.open(encoding="utf-8-sig", newline="") as stream:
        rows = csv.DictReader(stream, strict=True)
        return [{name: of_text(cell) for name, cell in row.items()} for row in rows]


def _parquet(lines: Sequence[Line]) -> bytes:
    arrow, parquet = _arrow()
    kinds = {int: arrow.int64(), float: arrow.float64(), str: arrow.string()}
    schema = arrow.schema(
        [
            (name, arrow.float64() if name == "synergy" else kinds[TYPES.get(name, str)])
            for name in NAMES
        ]
    )
    stream = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(map(asdict, lines)), schema=schema), stream)
    return stream.getvalue()


def _parquet_rows(file: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _arrow()[1].read_table(file).to_pylist()
    return rows


def _arrow() -> tuple[Any, Any]:
    """pyarrow and its part for Parquet. Raises NotInstalled."""
    require("parquet", "write a .csv instead")
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
