"""Which lines of a golden file are not there, and which are there instead.

Lines are the same where their words are, and their decimals as far as rounding may move them: one
unit of the last digit that is written. Whole numbers are exact, but for percents and shades.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

_NUMBER = re.compile(
    r"#[0-9a-f]{6}\b|[-−+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?=\s?%)|[-−+]?\d+\.\d+(?:e[-+]?\d+)?"
    r"|[-−+]?\d+e[-+]?\d+|(?<![\w.])[-−+]?0(?![\w.])"
)
"""A colour, a percent, a decimal, or a 0 that a rounding may have left."""
SHADE = 4
"""Of 255, by which a colour may differ."""
LEAST = 1e-5
"""What two numbers may differ by, however small they are."""

Numbers = tuple[tuple[float, float], ...]
"""Each number, and what it may differ by."""


def differences(golden: Iterable[str], now: Iterable[str]) -> list[str]:
    """Lines as a diff has them, "-" of the golden file first; empty where all are the same."""
    old, new = Counter(golden), Counter(now)
    missing, more = list((old - new).elements()), list((new - old).elements())
    return list(_left(missing, more))


def _left(missing: list[str], more: list[str]) -> Iterator[str]:
    by_words: dict[str, list[str]] = {}
    for line in more:
        by_words.setdefault(skeleton(line), []).append(line)
    for line in missing:
        near = by_words.get(skeleton(line), [])
        match = next((each for each in near if is_near(line, each)), None)
        if match is None:
            yield f"- {line}"
        else:
            near.remove(match)
    for lines in by_words.values():
        yield from (f"+ {line}" for line in lines)


def skeleton(line: str) -> str:
    """The line without its numbers."""
    return _NUMBER.sub("#", line)


def is_near(one: str, other: str) -> bool:
    """Whether two lines of the same words have the same numbers."""
    pairs = zip(_numbers(one), _numbers(other), strict=True)
    return all(
        abs(a - b) <= max(1.01 * unit, 1.01 * unit_b, LEAST) for (a, unit), (b, unit_b) in pairs
    )


def _numbers(line: str) -> Numbers:
    return tuple(pair for match in _NUMBER.findall(line) for pair in _read(match))


def _read(text: str) -> Iterator[tuple[float, float]]:
    """Each number of a match with one unit of its last digit."""
    if text.startswith("#"):
        yield from ((float(int(text[i : i + 2], 16)), float(SHADE)) for i in (1, 3, 5))
        return
    digits, _, power = text.replace("−", "-").partition("e")
    n_decimals = len(digits.partition(".")[2])
    unit = 10.0 ** (int(power or 0) - n_decimals)
    yield float(digits) * 10.0 ** int(power or 0), (0.0 if text.strip("-−+") == "0" else unit)
