"""Text from a stranger's files, made fit for a sentence, a screen and a pipe."""

import json
import re
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
