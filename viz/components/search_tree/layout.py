"""The places of the nodes of a tree: columns from left to right, rows from top to bottom.

A layered layout as tidy as Reingold and Tilford 1981: a node stands in the row of its first child,
so that the best hypothesis is a straight line at the top, and subtrees are packed as closely as
their outlines allow. Edges never cross.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from operator import itemgetter

Place = tuple[int, int]
"""Column and row."""
first = itemgetter(0)


def layout(
    parents: Sequence[int], order: Mapping[int, Sequence[int]], to_the_edge: frozenset[int]
) -> list[Place]:
    """The place of each node. parents: before their children, -1 for the root.

    order: the children of each node, from top to bottom; to_the_edge: leaves that keep their row
    free up to the right edge, where their rank stands.
    """
    columns = [0] * len(parents)
    for node in range(1, len(parents)):
        columns[node] = columns[parents[node]] + 1
    last = max(columns, default=0)
    below = [0] * len(parents)
    outlines: dict[int, deque[int]] = {}
    for node in reversed(range(len(parents))):
        room = last - columns[node] if node in to_the_edge else 0
        children = order.get(node, ())
        if children:
            outlines[node] = _stacked([outlines.pop(each) for each in children], below, children)
            outlines[node].extend([0] * (room + 1 - len(outlines[node])))
        else:
            outlines[node] = deque([0] * (room + 1))
    rows = [0] * len(parents)
    for node in range(1, len(parents)):
        rows[node] = rows[parents[node]] + below[node]
    return list(zip(columns, rows, strict=True))


def _stacked(outlines: list[deque[int]], below: list[int], children: Sequence[int]) -> deque[int]:
    """Put subtrees below each other, and return the lower outline of all, a row per column.

    outlines: of each child, from its own column on and counted from its own row; below: is told how
    many rows each child is below the first one.
    """
    whole = outlines[0]
    for child, outline in zip(children[1:], outlines[1:], strict=True):
        # Nothing of a subtree is above its root, so its root's row clears what is above all of it.
        by = max(map(first, zip(whole, outline, strict=False))) + 1
        below[child] = by
        for column, row in enumerate(outline):
            if column < len(whole):
                whole[column] = row + by
            else:
                whole.append(row + by)
    whole.appendleft(0)
    return whole


def shared_chain(parents: Sequence[int], living: Sequence[bool]) -> list[int]:
    """The nodes after the root that every hypothesis shares, in order, up to where they part.

    Empty where there is only one: then nothing parts.
    """
    following: dict[int, list[int]] = {}
    for node in range(1, len(parents)):
        if living[node]:
            following.setdefault(parents[node], []).append(node)
    chain, node = [], 0
    while len(following.get(node, [])) == 1:
        node = following[node][0]
        chain.append(node)
    return chain if len(following.get(node, [])) > 1 else []
