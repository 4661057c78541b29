"""CSV in which text stays text: a spreadsheet computes what begins with =, +, - or @."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

_COMPUTED = re.compile(r"['=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table in UTF-8. Text is written as `as_text` says; numbers may come as texts."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows([as_text(cell) for cell in row] for row in rows)
    return text.getvalue().encode(errors="backslashreplace")  # half a character, from a byte piece


def as_text(cell: Any) -> Any:
    """The same, with an apostrophe before a text that begins like a formula or with an apostrophe.

    `of_text` takes it away: no two texts become the same. A number is none of them (OWASP, CSV
    Injection).

    >>> as_text("=1+1"), as_text("'"), as_text("-0.5"), as_text(-0.5), as_text("a-b")
    ("'=1+1", "''", '-0.5', -0.5, 'a-b')
    """
    is_computed = isinstance(cell, str) and _COMPUTED.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_computed else cell


def of_text(cell: str) -> str:
    """Return the text that was written."""
    return cell.removeprefix("'")
