"""The modules of a checkpoint as a tree: every module with the sum of what it holds."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

from transformer.files.tensors import Stored


@dataclass(frozen=True)
class Branch:
    """One row of the tree: a module, or a tensor."""

    path: str
    depth: int
    n_parameters: int
    tensor: Stored | None = None
    """None for a module."""

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def module_tree(tensors: Iterable[Stored], buffers: Set[str] = frozenset()) -> list[Branch]:
    """Modules and tensors in the order of their first tensor, children below their parent.

    buffers: names of saved tensors that are no parameters (a batch norm's running statistics):
    they are listed and count as nothing.
    """
    tensors = list(tensors)
    counts = {each.name: 0 if each.name in buffers else each.n_values for each in tensors}
    children: dict[str, list[str]] = {}
    sums: dict[str, int] = {}
    for name in counts:
        parts = name.split(".")
        for depth in range(len(parts)):
            parent, path = ".".join(parts[:depth]), ".".join(parts[: depth + 1])
            if path not in sums:
                sums[path] = 0
                children.setdefault(parent, []).append(path)
            sums[path] += counts[name]
    stored = {each.name: each for each in tensors}
    return list(_below("", children, sums, stored))


def _below(
    top: str, children: dict[str, list[str]], sums: dict[str, int], stored: dict[str, Stored]
) -> Iterable[Branch]:
    """Depth first, without recursion: a name may have any number of dots."""
    stack = list(reversed(children.get(top, [])))
    while stack:
        path = stack.pop()
        yield Branch(path, path.count("."), sums[path], stored.get(path))
        stack.extend(reversed(children.get(path, [])))
