"""The tokens of a map's rows and columns in the page's two lines, and where a pair's texts meet."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformer.analysis.merging import Group
from transformer.analysis.reading import AttentionMap
from transformer.recording import Recording
from transformer.token import second_at
from transformer.two_models.counterparts import counterparts

Side = Mapping[str, int]
"""Side, "source" or "target" -> the position in the model's text of that side's first token."""


def sides(map: AttentionMap) -> dict[str, Any]:
    """{"rows", "columns"} -> side -> for each position of that side its row or column; -1: none.

    "writes": whether the rows of the target wrote its tokens, from a source that stands apart. A
    token's row is the one that bears its name: the row that wrote it where rows are named by what
    they wrote, else the row that read it. A row of several pieces belongs to each of them.
    """
    rows, columns = _starts(map)
    return {
        "rows": _places(rows, map.row_groups),
        "columns": _places(columns, map.column_groups),
        "writes": map.is_produced and not map.recording.n_prompt,
    }


def second(map: AttentionMap) -> dict[str, list[int]]:
    """{"second": the row and the column that a pair's second text begins at}; 0: the first one, or
    none. Empty where neither has a line before it.
    """
    places = [second_at(map.rows) or 0, second_at(map.columns) or 0]
    return {"second": places} if any(places) else {}


def twin(page: Recording, own: Recording) -> dict[str, list[int]]:
    """Return side -> for each token of the page its counterpart in a picture's text; -1: none.

    A side whose tokens are the same is left out.
    """
    texts = {"source": (page.source, own.source), "target": (page.target, own.target)}
    return {side: counterparts(*both) for side, both in texts.items() if both[0] != both[1]}


def _starts(map: AttentionMap) -> tuple[Side, Side]:
    """Return the starts of rows and columns. A target is read one further than it is written."""
    if map.attention.produced is None:
        return {"source": 0}, {"source": 0}
    if n_prompt := map.recording.n_prompt:
        text = {"source": 0, "target": n_prompt}
        return text, text
    target = {"target": 0 if map.is_produced else 1}
    return target, {"source": 0} if map.attention.is_cross else target


def _places(starts: Side, groups: Sequence[Group]) -> dict[str, list[int]]:
    place = {i: number for number, group in enumerate(groups) for i in group}
    ends = dict(zip(starts, [*list(starts.values())[1:], max(place, default=-1) + 1], strict=True))
    return {side: [place.get(i, -1) for i in range(starts[side], ends[side])] for side in starts}
