"""Text from a stranger's files, made fit for a sentence, a screen and a pipe."""

import json
from collections.abc import Iterable
from typing import Any


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


def whole_text(values: Any) -> Any:
    """JSON values with "?" for half a surrogate pair: JSON can write one, and UTF-8 cannot."""
    text = json.dumps(values, ensure_ascii=False, default=str)
    return json.loads(text.encode("utf-8", "replace"))
