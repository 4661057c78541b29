"""The modules of a checkpoint as a tree: every module with the sum of what it holds."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field

from transformer.files.tensors import Stored

DEEPEST = 64
"""Modules within each other that have a row each; what lies deeper is one name with dots."""
NAMELESS = "(no name)"
"""Stands for a part of a name that is empty, as in "layers..weight"."""


@dataclass(frozen=True)
class Branch:
    """One row of the tree: a module, or a tensor."""

    path: str
    """A tensor's name, which may be empty; a module may have the same."""
    depth: int
    n_parameters: int
    tensor: Stored | None = None
    """None for a module."""
    name: str = NAMELESS
    """The last part of the path."""


def module_tree(tensors: Iterable[Stored], buffers: Set[str] = frozenset()) -> list[Branch]:
    """Modules and tensors in the order of their first tensor, children below their parent.

    buffers: names of saved tensors that are no parameters (a batch norm's running statistics):
    they are listed and count as nothing.
    """
    top = _Module("", -1)
    for each in tensors:
        n, above = 0 if each.name in buffers else each.n_values, top
        *modules, last = each.name.split(".", DEEPEST)
        for part in modules:
            above = above.inner(part)
            above.n_parameters += n
        above.parts[last, False] = Branch(each.name, len(modules), n, each, last or NAMELESS)
    return list(_below(top))


@dataclass
class _Module:
    """A part of a name below which there are others."""

    path: str
    depth: int
    n_parameters: int = 0
    parts: "dict[tuple[str, bool], _Module | Branch]" = field(default_factory=dict)
    """Its parts, by name and whether a module: in one file "a" and "a.b" may both be tensors."""

    def inner(self, part: str) -> "_Module":
        path = f"{self.path}.{part}" if self.depth >= 0 else part
        child = self.parts.setdefault((part, True), _Module(path, self.depth + 1))
        assert isinstance(child, _Module)
        return child


def _below(top: _Module) -> Iterator[Branch]:
    """Depth first."""
    for (name, _), part in top.parts.items():
        if isinstance(part, Branch):
            yield part
        else:
            yield Branch(part.path, part.depth, part.n_parameters, None, name or NAMELESS)
            yield from _below(part)
