"""The numbers of a figure as a table: rows of a sheet, and the files of any rows."""

import io
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from transformer.extras import require
from viz.export import rows_csv
from viz.paper.origins import Maps, Origins
from viz.paper.sheet import Facts, Sheet

KINDS = ("csv", "parquet")
EMPTY: Maps = MappingProxyType({})


def rows(sheet: Sheet, maps: Maps = EMPTY) -> list[dict[str, Any]]:
    """Each mark that stands for something; of a map each cell, by its row and column.

    maps: those whose cells they are: each says its tokens.
    """
    origins = Origins(maps)
    return [
        origins.with_origins(row) if origins.is_whole(mark.facts) else row
        for mark in sheet.marks
        for row in _rows(mark.facts)
    ]


def table(rows: Sequence[Mapping[str, Any]], kind: str) -> bytes:
    """Rows as a file.

    kind: "csv" or "parquet". Raises NotInstalled where pyarrow is needed and not here.
    """
    if kind == "csv":
        return rows_csv(rows)
    require("parquet", "save a .csv instead")
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    columns = {  # a cell that is NaN is empty, as pandas has it
        name: arrow.array(_cells(rows, name), from_pandas=True)
        for name in dict.fromkeys(name for row in rows for name in row)
    }
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file)
    return file.getvalue()


def _cells(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    """A column's values; among numbers an empty text is None: a column is of one type."""
    cells = [row.get(name) for row in rows]
    is_text = all(each is None or isinstance(each, str) for each in cells)
    return cells if is_text else [None if each == "" else each for each in cells]


def _rows(facts: Facts) -> Iterator[dict[str, Any]]:
    """Arrays side by side; one of two axes is a map."""
    arrays = {name: it for name, it in facts.items() if isinstance(it, np.ndarray)}
    plain = {name: it for name, it in facts.items() if name not in arrays}
    if not arrays:
        if plain:
            yield plain
        return
    n_columns = plain.pop("columns", 0)
    plain.pop("rows", None)
    lists = {name: it.ravel().tolist() for name, it in arrays.items()}
    for place, values in enumerate(zip(*lists.values(), strict=True)):
        where: dict[str, Any] = {}
        if n_columns:
            where = dict(zip(("row", "column"), divmod(place, n_columns), strict=True))
        yield plain | where | dict(zip(lists, values, strict=True))
