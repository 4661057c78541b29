"""A number as people write it."""

import re
from fractions import Fraction
from unicodedata import numeric

_PLAIN = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?")
_PARTED = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_RATIO = re.compile(r"(-?\d{1,12})/(\d{1,12})")
LONGEST = 40
"""Characters."""


def read_number(text: str, unit: str = "") -> float | None:
    """ "0.5", "0,5", "½", "1/2", "5e-1", "−0.5" or "1,234", as pages write thousands; the unit may
    follow. None: nothing stands there. Raises ValueError, in a sentence.
    """
    digits = "".join(text.split())[: LONGEST + 1]
    plain = digits.replace("−", "-").removesuffix("".join(unit.split())).lower()
    if not plain:
        return None
    if len(plain) == 1 and (value := numeric(plain, None)) is not None:
        return float(value)
    if _PARTED.fullmatch(plain):
        plain = plain.replace(",", "")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    if _PLAIN.fullmatch(plain) and len(plain) <= LONGEST:
        return float(plain)
    ratio = _RATIO.fullmatch(plain)
    if ratio is None or not int(ratio[2]):
        raise ValueError(f"“{text.strip()[:LONGEST]}” is not a number: write it as 0.5, 1/2 or -3.")
    return float(Fraction(int(ratio[1]), int(ratio[2])))
