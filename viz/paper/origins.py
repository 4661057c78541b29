"""The tokens of the model's text that a row of a figure's numbers is about."""

from collections.abc import Mapping
from typing import Any

from transformer.analysis.reading import AttentionMap
from transformer.analysis.tables.origins import Sides

Facts = Mapping[str, Any]
Maps = Mapping[str, AttentionMap]
"""A kind of attention -> the map of it that is drawn."""


class Origins:
    """The maps whose cells are rows of a file: each says its tokens."""

    def __init__(self, maps: Maps) -> None:
        self.maps = maps
        self.sides = {kind: Sides(map.attention) for kind, map in maps.items()}
        self.sizes = {(len(each.rows), len(each.columns)) for each in maps.values()}

    def with_origins(self, row: Facts) -> dict[str, Any]:
        """The row with position, piece and word of its cell, whatever is hidden or merged."""
        (only,) = self.maps if len(self.maps) == 1 else ("",)
        kind = row.get("kind", only)
        if kind not in self.maps:
            return dict(row)
        map, sides, result = self.maps[kind], self.sides[kind], dict(row)
        query = row.get("row", row.get("strongest-row"))
        key = row.get("column", row.get("strongest-column"))
        if query is not None and query >= 0:
            result |= sides.query(*map.row_groups[query])
        if key is not None and key >= 0:
            result |= sides.key(*map.column_groups[key])
        return result

    def is_whole(self, facts: Facts) -> bool:
        """Tell whether rows and columns are counted one by one, not in blocks of a large map."""
        return "rows" not in facts or (facts["rows"], facts["columns"]) in self.sizes
