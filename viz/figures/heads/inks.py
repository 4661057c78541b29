"""The look of heads by their labels: a colour each, and no two labels of a checkpoint share one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from zlib import crc32

from transformer.corpus.labels import Label
from viz.exhibits.chart import Ink

ROLES = (
    "previous",
    "next",
    "same",
    "first",
    "end",
    "induction",
    "duplicate",
    "alignment",
    "rare",
    "uniform",
    "copy",
)
"""Roles with colours of their own, the same in every chart and checkpoint."""
N_INKS = 16
"""Colours of heads that a theme has."""
OTHERS = "another label"
"""In place of the titles that no colour is left for."""


def inks_of(labels: Iterable[Label]) -> Mapping[str, Ink]:
    """Give the title of each of these labels a colour, none twice.

    Relations of syntax take the colours that no role has, then those of roles that no head plays.
    Where there are more labels than colours, the rarest are not there: `OTHERS` has the last one.
    """
    role_of, counts = dict[str, str](), Counter[str]()
    for label in labels:
        role_of[label.title] = label.role
        counts[label.title] += 1
    titles = sorted(counts, key=lambda title: (-counts[title], title))
    if len(titles) > N_INKS:
        titles = [*titles[: N_INKS - 1], OTHERS]
    titles.sort(key=lambda title: role_of.get(title) not in ROLES)
    result = dict[str, int]()
    for title in titles:
        own, others = range(len(ROLES)), range(len(ROLES), N_INKS)
        role = role_of.get(title)
        wanted = ROLES.index(role) if role in ROLES else others[crc32(title.encode()) % len(others)]
        free = (ink for ink in (wanted, *others, *own) if ink not in result.values())
        result[title] = next(free)
    return {title: ("head", ink) for title, ink in result.items()}
