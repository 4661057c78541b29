"""An exhibit as lines of text: what a golden file holds.

Lines stand in an order of their own, and numbers have four digits: what is told apart is which
numbers and texts there are, not in which order they are drawn or where they stand.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from unittest.mock import patch
from zlib import crc32

import numpy as np

from tests.golden.exhibits_of import Cell, Exhibit
from tests.golden.screens import AltReader, Drawn
from viz.components.kit.browser import unpack
from viz.paper.figure import rows
from viz.paper.sheet import Cells, Sheet, Words
from viz.paper.svg import svg

MOST = 150
"""Rows of one sort that are written one by one; of more, what they come to."""
LEVELS = {"|u1": (255, 1), "<u2": (65535, 2)}
"""Of arrays in which levels stand for shares: the highest one, and decimals that are written: a
rounding may move some levels by one."""
_SHA = re.compile(r"(?<![.\w])[0-9a-f]{16,64}\b")
_DECIMAL = re.compile(r"-?\d+\.\d{4,}(?:e[-+]?\d+)?|-?\d+(?:\.\d+)?e[-+]?\d+")
ZERO = 5e-6
"""What is smaller is rounding: 0."""


def lines_of(exhibit: Exhibit) -> list[str]:
    """The whole of it."""
    named = {
        "title": exhibit.title,
        "says": exhibit.says,
        "address": exhibit.address,
        "caption": exhibit.caption,
    }
    lines = [f"{name}: {_plain(text)}" for name, text in named.items() if text]
    if exhibit.sheet is not None:
        lines += _sheet(exhibit.sheet)
    for number, cells in enumerate(exhibit.tables, 1):
        lines += _table(number, cells)
    if exhibit.payload is not None:
        lines += _payload("payload", *exhibit.payload)
    lines += (f"svg: {line}" for line in exhibit.svg.replace("><", ">\n<").splitlines())
    return lines


def svg_lines(sheet: Sheet) -> list[str]:
    """The sheet as an SVG file, a mark a line, without the typeface and without what lines say."""
    with patch("viz.paper.svg.subset_of", lambda *_: b""):  # a tenth of a second for each
        text = svg(sheet, "", "", "").decode()
    for part in (r"@font-face\{.*?\}", r"<(title|desc|metadata)></\1>\n", r' data-[\w-]+="[^"]*"'):
        text = re.sub(part, "", text)
    return text.splitlines()


def drawn_lines(drawn: Drawn) -> list[str]:
    """What a page draws, without its files."""
    lines = [f"chart: {_plain(says)}" for says in drawn.charts]
    lines += [f"component: {name}" for name in drawn.components]
    for number, table in enumerate(drawn.tables, 1):
        lines += (f"table {number}: {' | '.join(map(_cell, row))}" for row in table)
    return lines


def page_lines(page: str) -> list[str]:
    """What an HTML file says of its pictures."""
    reader = AltReader()
    reader.feed(page)
    return [_plain(each) for each in reader.texts]


def csv_lines(content: bytes) -> list[str]:
    """The head of a file, then its rows; of a long one what they come to."""
    head, *body = content.decode().splitlines()
    if len(body) <= 2 * MOST:
        return [f"head: {head}", *sorted(f"row: {_DECIMAL.sub(_short, line)}" for line in body)]
    decimals = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
    numbers = [float(each) for line in body for each in decimals.findall(line)]
    return [f"head: {head}", f"rows: {len(body)}", f"sum of decimals: {sum(numbers):.2f}"]


def _short(match: re.Match[str]) -> str:
    return _number(float(match[0]))


def _cell(text: str) -> str:
    return _plain(_DECIMAL.sub(_short, text))


def _plain(text: str) -> str:
    """On one line; fingerprints are those of weights files, whose form may change."""
    return _SHA.sub("SHA", text.replace("\n", "\\n"))


def _number(value: float) -> str:
    if isinstance(value, (int, np.integer)):
        return str(value)
    if value != value:
        return "nan"
    if abs(value) < ZERO:
        return "0"
    power = math.floor(math.log10(abs(value))) if math.isfinite(value) else 0
    return f"{value:.3e}" if power < -5 else f"{value:.{max(1, 3 - power)}f}"


def _value(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, (int, float, np.number)):
        return _number(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{name}: {_value(each)}" for name, each in sorted(value.items()))
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        if len(value) > 8 and all(str(each).startswith("#") for each in value):
            return f"{len(value)} colours"  # of the theme: in every file the same
        return f"[{', '.join(map(_value, value))}]"
    return _plain(str(value))


def _sheet(sheet: Sheet) -> Iterator[str]:
    yield from _rows(rows(sheet))
    texts = sorted(_plain(mark.text) for mark in sheet.marks if isinstance(mark, Words))
    yield from (f"words: {text}" for text in texts)
    maps = [mark.levels.shape for mark in sheet.marks if isinstance(mark, Cells)]
    yield from sorted(f"map: {n_rows} x {n_columns}" for n_rows, n_columns in maps)


def _rows(every: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Rows of the same names together: one by one, or as sums."""
    sorts: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in every:
        sorts.setdefault(tuple(sorted(row)), []).append({**row})
    for names, group in sorted(sorts.items()):
        if len(group) <= MOST:
            body = (" | ".join(f"{name}={_value(row[name])}" for name in names) for row in group)
            yield from (f"row: {line}" for line in sorted(body))
        else:
            yield from _sums(names, group)


def _sums(names: tuple[str, ...], group: list[dict[str, Any]]) -> Iterator[str]:
    """Of many rows their number, and of each column two sums: plain, and by where they belong."""
    yield f"rows: {len(group)} of {', '.join(names)}"
    keys = [name for name in names if not isinstance(group[0][name], float)]
    places = [_place([row[name] for name in keys]) for row in group]
    for name in names:
        values = [row[name] for row in group]
        if name in keys:
            yield f"rows: {name} has {_place(sorted(map(str, values)), 10**6)}"
            continue
        real = [(each, place) for each, place in zip(values, places, strict=True) if each == each]
        yield f"rows: {name} is {len(real)} numbers, {_pair(real)}"


def _place(values: Iterable[Any], most: int = 97) -> int:
    """A number that these texts and places decide."""
    return crc32(" ".join(map(str, values)).encode()) % most + 1


def _pair(values: Iterable[tuple[float, int]], n_decimals: int = 3) -> str:
    """The sum, and the mean of parts that are weighed by their places."""
    pairs = list(values)
    weighed = sum(value * place for value, place in pairs) / 50
    plain = float(sum(value for value, _ in pairs))
    return f"sum {plain:.{n_decimals}f}, by place {weighed:.{n_decimals}f}"


def _table(number: int, cells: Iterable[Cell]) -> Iterator[str]:
    for cell in cells:
        more = [f"value {_number(cell.value)}"] if cell.value is not None else []
        more += [f"ground {cell.shade}"] if cell.shade else []
        more += ["head"] * cell.is_head + ["marked"] * cell.is_marked
        place = f"cell {number}.{cell.row}.{cell.column}"
        yield f"{place}: {_plain(cell.text)}{' | ' if more else ''}{', '.join(more)}"


def _payload(name: str, header: Mapping[str, Any], arrays: Iterable[Any]) -> Iterator[str]:
    for key, value in sorted(header.items()):
        yield f"{name} {key}: {_value(value)}"
    for number, array in enumerate(arrays):
        inner = _packed(array)
        if inner is not None:
            yield from _payload(f"{name}.{number}", *inner)
            continue
        real = np.nan_to_num(array.astype(np.float64).ravel(), nan=0.0, posinf=0.0, neginf=0.0)
        most, n_decimals = LEVELS.get(array.dtype.str, (1, 3))
        pair = _pair(((each / most, i % 97 + 1) for i, each in enumerate(real)), n_decimals)
        yield f"{name} array {number}: {array.dtype.str} {_value(list(array.shape))}, {pair}"


def _packed(array: Any) -> tuple[dict[str, Any], list[Any]] | None:
    """What is packed in an array of bytes; None where it holds numbers."""
    if array.dtype != np.uint8 or array.ndim != 1 or array[4:14].tobytes() != b'{"header":':
        return None
    return unpack(array.tobytes())
