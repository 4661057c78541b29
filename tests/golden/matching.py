"""Which lines of a golden file are not there, and which are there instead.

Lines are the same where their words are, and their numbers as far as rounding may move them. The
order of lines says nothing.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

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
    return list(_left(golden, now, *_WORDS))


def sheet_differences(golden: Iterable[str], now: Iterable[str]) -> list[str]:
    """The same of two SVG files, whose marks may stand a little elsewhere."""
    return list(_left(_marks(golden), _marks(now), *_SHEET))


def settled(golden: Iterable[str], now: Sequence[str], is_sheet: bool = False) -> list[str]:
    """The lines that are there now, each as it is in the golden file where that has the same.

    So a file that is written anew differs in what has changed, and not in another machine's
    rounding of all else.
    """
    old_of: dict[str, list[str]] = {}
    pair = (_marks(golden), _marks(now)) if is_sheet else (golden, now)
    for old, new in _pairs(*pair, *(_SHEET if is_sheet else _WORDS)):
        if old is not None and new is not None:
            old_of.setdefault(new, []).append(old)
    return [old_of[line].pop() if old_of.get(line) else line for line in now]


def _marks(lines: Iterable[str]) -> list[str]:
    return [each for each in lines if not _CELLS.match(each)]


def _left(
    golden: Iterable[str],
    now: Iterable[str],
    number: re.Pattern[str],
    read: Callable[[str], tuple[float, float]],
) -> Iterator[str]:
    added = []
    for old, new in _pairs(golden, now, number, read):
        if new is None:
            yield f"- {old}"
        elif old is None:
            added.append(f"+ {new}")
    yield from added


def _pairs(
    golden: Iterable[str],
    now: Iterable[str],
    number: re.Pattern[str],
    read: Callable[[str], tuple[float, float]],
) -> Iterator[tuple[str | None, str | None]]:
    """Old and new lines that are the same and yet spelled otherwise; None beside one alone."""
    old, new = Counter(golden), Counter(now)
    by_words: dict[str, list[str]] = {}
    for line in (new - old).elements():
        by_words.setdefault(number.sub("#", line), []).append(line)
    for line in (old - new).elements():
        near = by_words.get(number.sub("#", line), [])
        numbers = _numbers(line, number, read)
        match = next((it for it in near if _are_near(numbers, _numbers(it, number, read))), None)
        yield line, match
        if match is not None:
            near.remove(match)
    for lines in by_words.values():
        yield from ((None, line) for line in lines)


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


def _placed(text: str) -> tuple[float, float]:
    """A place or a size, and what it may differ by."""
    return float(text), POINTS


_WORDS, _SHEET = (_ROUNDED, _rounded), (_PLACED, _placed)
"""Which numbers of a line may differ, and by how much: of a file of words, and of SVG."""
