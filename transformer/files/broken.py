"""The fault of a file of weights that its reader gives up on, told from the file itself.

Readers say it in words of their own: "EOFError", "(101)", "failed finding central directory".
"""

import json
import re
from pathlib import Path

from transformer.files.foreign_text import clean
from transformer.files.regular_file import is_zip_file

CUT = r"\bEOF|Ran out of input|out of range|requires a buffer|truncated"
"""The words of readers for a file that ends too soon."""
_WORDS = r"[a-z]{2,}\W+[a-z]{2,}"
HEADER = 100 << 20
"""Bytes that safetensors allows a header."""


def broken(file: Path, message: str) -> str:
    """A clause that follows "is not a whole file: ". message: what the reader says of it."""
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            first = opened.read(8)
            is_zip = first.startswith(b"PK")
            header = b""
            n = int.from_bytes(first, "little")
            if len(first) == 8 and n <= HEADER and not is_zip:
                header = opened.read(n)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if not size:
        return "it is empty"
    if is_zip:
        return _of_zip(file, message)
    if header.startswith(b"{") or (file.suffix == ".safetensors" and size <= 8):
        return _of_safetensors(header, n, size, message)
    if first.isascii() and (text := _text(file)):
        return f"it is text that begins {text!r}"
    if re.search(CUT, message):
        return "it is cut off"
    return f"it is damaged, or something else{_reason(message)}"


def _text(file: Path) -> str:
    """Return the first line of a file of text, such as what a server said instead; "": no text."""
    try:
        with file.open("rb") as opened:
            line = opened.read(40).decode("ascii").strip().partition("\n")[0]
    except (OSError, ValueError):
        return ""
    is_said = line.isprintable() and re.search(_WORDS, line)
    return line if is_said else ""


def ends_with(file: Path, name: str) -> bool:
    """Tell whether a file is cut off within the name of a class, as far as that is there."""
    try:
        with file.open("rb") as opened:
            opened.seek(max(0, file.stat().st_size - 200))
            tail = opened.read().replace(b"\n", b".")
        # The reader takes the last character for the end of the line.
        return any(each.rstrip(b".").endswith(name.encode()) for each in (tail, tail[:-1]))
    except OSError:
        return False


def _of_zip(file: Path, message: str) -> str:
    """The list of a zip's parts comes last."""
    if not is_zip_file(file):
        return "it is cut off: its end is missing"
    return f"it is damaged{_reason(message)}"


def _of_safetensors(header: bytes, n: int, size: int, message: str) -> str:
    """It says itself where its last tensor ends."""
    if len(header) < n or size <= 8:
        return "it is cut off within its header"
    try:
        ends = [each["data_offsets"][1] for each in json.loads(header).values() if "dtype" in each]
        whole = 8 + n + max(ends)
        if size < whole < 2**63:
            return f"it is cut off: {size:,} bytes of {whole:,} are there"
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        pass
    return f"it is damaged{_reason(message)}"


def _reason(message: str) -> str:
    """The reader's words in brackets, where they are words and not a number or an error's name."""
    text = clean(message.strip().partition("\n")[0], 100).rstrip(". ")
    return f" ({text})" if re.search(_WORDS, text) else ""
