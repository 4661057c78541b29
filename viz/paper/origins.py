"""The tokens of the model's text that a row of a figure's numbers is about."""

from collections.abc import Iterable, Mapping
from typing import Any

from transformer.analysis.reading import AttentionMap

Facts = Mapping[str, Any]
Maps = Mapping[str, AttentionMap]
"""A kind of attention -> the map of it that is drawn."""


def with_origins(row: Facts, maps: Maps) -> dict[str, Any]:
    """The row with positions and pieces of its cell, whatever is hidden; of words all their pieces.

    A query has the piece that was read and the one that was written then; empty: none was.
    """
    map = maps.get(row.get("kind", "")) or (next(iter(maps.values())) if len(maps) == 1 else None)
    if map is None:
        return dict(row)
    attention, result = map.attention, dict(row)
    query = row.get("row", row.get("strongest-row"))
    key = row.get("column", row.get("strongest-column"))
    if query is not None and query >= 0:
        group, written = map.row_groups[query], attention.produced or ()
        result["query_position"] = _joined(group)
        result["query_piece"] = _joined(attention.queries[i].piece for i in group)
        result["written_piece"] = _joined(written[i].piece for i in group if i < len(written))
    if key is not None and key >= 0:
        result["key_position"] = _joined(map.column_groups[key])
        result["key_piece"] = _joined(attention.keys[i].piece for i in map.column_groups[key])
    return result


def is_whole(facts: Facts, maps: Maps) -> bool:
    """Tell whether rows and columns are counted one by one, and not in blocks of a large map."""
    sizes = {(len(each.rows), len(each.columns)) for each in maps.values()}
    return "rows" not in facts or (facts["rows"], facts["columns"]) in sizes


def _joined(parts: Iterable[object]) -> str:
    return " ".join(map(str, parts))
