"""Text from a stranger's files, made fit for a screen; and files of ours, written whole."""

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformer.refusal import Refusal

# Text from a stranger's files, made fit for a sentence, a screen and a pipe.


def clean(name: object, most: int = 80) -> str:
    """A stranger's name or message, fit for a sentence: one line, and not a long one."""
    plain = "".join(c if c.isprintable() else "?" for c in str(name)[: most + 1])
    return plain if len(plain) <= most else f"{plain[:most]}…"


def some_of(names: Iterable[object], most: int) -> str:
    """The first names of a list, for a sentence, and how many more there are.

    >>> some_of("abcd", 4), some_of("abcdef", 3)
    ('a, b, c, d', 'a, b, c and 3 more')
    """
    every = list(names)
    more = f" and {len(every) - most:,} more" if len(every) > most else ""
    return ", ".join(map(clean, every[:most])) + more


def reason(error: Exception, most: int = 300, without: Iterable[str] = ()) -> str:
    """Return a library's words about a stranger's file, to end a sentence with, less a full stop.

    without: texts to leave out, such as a server's folders.
    """
    is_key = isinstance(error, KeyError) and bool(error.args)
    text = str(error.args[0] if is_key else error)
    for each in without:
        text = text.replace(each, "")
    if is_key and " " not in text:  # some put a whole sentence there
        text = f"it has no {text!r}" if isinstance(error.args[0], str) else f"it has no {text}"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):
        lines[0] += f" {lines[1]}"
    return clean(lines[0] if lines else type(error).__name__, most).rstrip(".")


_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")


def joined(text: str) -> str:
    r"""Text whose surrogate pairs are the characters that they stand for; halves of one are left.

    >>> joined("\ud83d\ude42 \ud83d") == "\U0001f642 \ud83d"
    True
    """
    return _PAIR.sub(
        lambda match: match[0].encode("utf-16", "surrogatepass").decode("utf-16"), text
    )


def whole(text: str) -> str:
    """The same with "?" for each half that is left, which UTF-8 cannot write."""
    return joined(text).encode("utf-8", "replace").decode("utf-8")


def halves(*texts: str) -> tuple[str, ...]:
    """Say how many characters of texts are half ones, read as "?"; nothing where none is."""
    n = sum(0xD800 <= ord(each) < 0xE000 for text in texts for each in joined(text))
    are = "character is half a one, and is" if n == 1 else "characters are half ones, and are"
    why = "the text was cut within a surrogate pair, or is not UTF-8"
    return (f"{n:,d} {are} read as “?”: {why}.",) if n else ()


def whole_text(values: Any) -> Any:
    """JSON values made `whole`: JSON can write half a surrogate pair, and UTF-8 cannot."""
    return json.loads(whole(json.dumps(values, ensure_ascii=False, default=str)))


# CSV in which text stays text: a spreadsheet computes what begins with =, +, - or @.

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


# Replace files whole: what a crash or a full disk leaves is the old file or the new one.
#
# Each is written beside the one that it replaces, is on the disk before it takes its place, and
# is removed where that fails.

PART = ".part"
"""The ending of a file's name, and of a folder's within its own, until it is whole."""


class Unwritten(Refusal, OSError):
    """Something that cannot be saved: a full disk, a folder that may not be written to."""


def write_whole(file: Path, content: bytes, draft_name: str = "") -> None:
    """Write beside the file, then move over it. Raises Unwritten; the old file is then untouched.

    The file's folder is made where there is none. draft_name: a name for this writer alone, where
    several processes may write the file at once.
    """
    draft = file.with_name(draft_name or file.name + PART)
    with _saving(file):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(file)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into; at the end its files take their places in `folder`, a move each.

    Where something cannot be written, all of `folder` stays as it was. Raises Unwritten.
    """
    draft, is_new = folder / PART, not folder.exists()
    with _saving(folder):
        shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
        try:
            draft.mkdir(parents=True)
            yield draft
            for file in sorted(each for each in draft.rglob("*") if each.is_file()):
                place = folder / file.relative_to(draft)
                place.parent.mkdir(parents=True, exist_ok=True)
                file.replace(place)
        except BaseException:
            shutil.rmtree(folder if is_new else draft, ignore_errors=True)
            raise
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _saving(place: Path) -> Iterator[None]:
    """Turn what goes wrong while something is written into a sentence that names it."""
    try:
        yield
    except Refusal:
        raise
    except OSError as error:
        why = (error.strerror or str(error) or type(error).__name__).rstrip(".")
        raise Unwritten(
            f"{place} cannot be written: {why}. What was there before is as it was."
        ) from error
