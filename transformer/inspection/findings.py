"""Suspicious things in a checkpoint: in each tensor, and in many that have the same problem."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from transformer.files.foreign_text import some_of

NAMED = 2
"""The number of tensors that the title of a group names."""


@dataclass(frozen=True)
class Finding:
    """Something that should not be, or that a person should know."""

    tensor: str
    problem: str
    """In a few words, such as "3 of 12 values are NaN"."""
    shared: str = field(default="", compare=False)
    """The verb phrase for several that have it, such as "hold NaN"; empty: it is said of each."""

    def __str__(self) -> str:
        return f"{self.tensor}: {self.problem}."


@dataclass(frozen=True)
class Group:
    """Findings of one sort, of one sort of tensors."""

    title: str
    """A line that stands for them: "96 biases are 0: layers.0.bias, ..."."""
    findings: tuple[Finding, ...]


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """In the order in which each sort came first; what is found once is a group of one.

    >>> zeros = [Finding(f"{n}.bias", "every value is 0", "are 0") for n in range(96)]
    >>> grouped(zeros)[0].title
    '96 biases are 0: 0.bias, 1.bias and 94 more'
    """
    sorts: dict[object, list[Finding]] = {}
    for finding in findings:
        sort = (finding.shared, _noun(finding.tensor)) if finding.shared else (finding,)
        sorts.setdefault(sort, []).append(finding)
    return [Group(_title(alike), tuple(alike)) for alike in sorts.values()]


def _title(alike: list[Finding]) -> str:
    first, *others = alike
    if not others:
        return str(first)
    names = some_of((each.tensor for each in alike), NAMED)
    return f"{len(alike):,} {_noun(first.tensor)} {first.shared}: {names}"


def _noun(tensor: str) -> str:
    """Several like this one."""
    if tensor.endswith("bias"):
        return "biases"
    return "weights" if tensor.endswith("weight") else "tensors"
