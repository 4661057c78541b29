"""The look of heads by their labels: a colour each, the same in every chart and checkpoint."""

from zlib import crc32

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
"""Roles with colours of their own; relations of syntax share the others."""
N_OTHERS = 5


def ink_of(role: str) -> Ink:
    """The colour of heads of a role."""
    if role in ROLES:
        return "head", ROLES.index(role)
    return "head", len(ROLES) + crc32(role.encode()) % N_OTHERS
