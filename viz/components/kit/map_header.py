"""The header of one head's map, as the scripts that draw it read it: now, and in a training."""

import json
from dataclasses import asdict
from typing import Any

from transformer.analysis.reading import AttentionMap
from viz.components.kit.browser import digest, pieces
from viz.components.kit.sides import sides
from viz.labels import kind_name
from viz.map_words import column_title, row_title
from viz.sentence import wording


def map_header(map: AttentionMap) -> dict[str, Any]:
    """Its tokens and their places in the page, its words and its lens."""
    rows, columns = pieces(map.rows), pieces(map.columns)
    return {
        "kind": map.kind,
        "title": kind_name(map.kind),
        "rows": rows,
        "columns": columns,
        "tokens": digest(json.dumps([rows, columns]).encode()),
        "titles": [row_title(map.is_produced), column_title(map)],
        "sentence": asdict(wording(map)),
        "lens": {
            "name": map.lens.name,
            "title": map.lens.title,
            "scale": map.lens.scale,
            "per_head": map.lens.per_head,
        },
        "sides": sides(map),
    }
