"""Which lines of a golden file are not there, and which are there instead.

Lines are the same where their words are, and their numbers as far as rounding may move them. The
order of lines says nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

COLOUR = r"#[0-9a-f]{6}\b"
_ROUNDED = re.compile(
    COLOUR + r"|[-−+]?\d+(?:\.\d+)?(?:e[-−+]?\d+)?(?=\s?%)|[-−+]?\d+\.\d+(?:e[-−+]?\d+)?"
    r"|[-−+]?\d+e[-−+]?\d+|(?<![\w.])[-−+]?0(?![\w.])"
)
"""A colour, a percent, a decimal, or a 0 that a rounding may have left; other whole numbers are
words."""
_PLACED = re.compile(COLOUR + r"|-?\d+(?:\.\d+)?")
"""The same in SVG: whatever may be a place or a size."""
_CELLS = re.compile(r'<path fill="#')
"""Cells of a map, one path a colour: what levels round to decides which are together. Their numbers
are in the other file."""
SHADE = 4.0
"""Of 255, by which a colour may differ."""
POINTS = 0.5
"""By which a mark of a sheet may stand elsewhere."""
LEAST = 1e-5
"""What two numbers may differ by, however small they are."""

Numbers = tuple[tuple[float, float], ...]
"""Each number, and what it may differ by."""


def differences(golden: Iterable[str], now: Iterable[str]) -> list[str]:
    """Lines as a diff has them, "-" of the golden file first; empty where all are the same.

    Decimals and percents may differ by one unit of their last digit.
    """
    return list(_left(golden, now, _ROUNDED, _rounded))


def sheet_differences(golden: Iterable[str], now: Iterable[str]) -> list[str]:
    """The same of two SVG files, whose marks may stand a little elsewhere."""
    old, new = ([each for each in lines if not _CELLS.match(each)] for lines in (golden, now))
    return list(_left(old, new, _PLACED, lambda text: (float(text), POINTS)))


def _left(
    golden: Iterable[str],
    now: Iterable[str],
    number: re.Pattern[str],
    read: Callable[[str], tuple[float, float]],
) -> Iterator[str]:
    old, new = Counter(golden), Counter(now)
    by_words: dict[str, list[str]] = {}
    for line in (new - old).elements():
        by_words.setdefault(number.sub("#", line), []).append(line)
    for line in (old - new).elements():
        near = by_words.get(number.sub("#", line), [])
        numbers = _numbers(line, number, read)
        match = next((it for it in near if _are_near(numbers, _numbers(it, number, read))), None)
        if match is None:
            yield f"- {line}"
        else:
            near.remove(match)
    for lines in by_words.values():
        yield from (f"+ {line}" for line in lines)


def _are_near(some: Numbers, others: Numbers) -> bool:
    pairs = zip(some, others, strict=True)
    return all(
        abs(a - b) <= max(1.01 * unit, 1.01 * unit_b, LEAST) for (a, unit), (b, unit_b) in pairs
    )


def _numbers(
    line: str, number: re.Pattern[str], read: Callable[[str], tuple[float, float]]
) -> Numbers:
    found = number.findall(line)
    shades = [float(int(it[i : i + 2], 16)) for it in found if it[0] == "#" for i in (1, 3, 5)]
    plain = [read(it) for it in found if it[0] != "#"]
    return (*plain, *((shade, SHADE) for shade in shades))


def _rounded(text: str) -> tuple[float, float]:
    """A number, and one unit of its last digit."""
    digits, _, power = text.replace("−", "-").partition("e")
    unit = 10.0 ** (int(power or 0) - len(digits.partition(".")[2]))
    return float(digits) * 10.0 ** int(power or 0), 0.0 if digits.strip("-+") == "0" else unit
