"""Names in the order in which people count: step_9 before step_10."""

import re


def natural(name: str) -> tuple[tuple[bool, int, str], ...]:
    """A key for `sorted`.

    >>> sorted(["step_10", "step_9", "best", "step"], key=natural)
    ['best', 'step', 'step_9', 'step_10']
    """
    parts = re.findall("[0-9]+|[^0-9]+", name)
    return tuple((p.isascii() and p.isdigit(), int(p) if p.isdigit() else 0, p) for p in parts)
