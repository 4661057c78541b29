"""The page Heads without a server: what the survey in a checkpoint's folder knows of its heads.

The table is the app's, all heads layer by layer; beside it stands the order of its rows by each
column, and what a search looks in: the browser measures nothing here.
"""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from transformer import Checkpoint, Recording
from transformer.corpus.labels import Atlas
from transformer.corpus.measured import metrics, roles
from transformer.corpus.shipped import Place, shipped_survey
from viz.figures.heads.all_heads import about_sentences, count_labelled, heads_table
from viz.figures.heads.orders import LAYER, in_order, numbers_of, orders_of, searched_in
from viz.labels import kind_title
from viz.live.models import example
from viz.painters.bars_html import elements as as_elements
from viz.painters.table_html import table_body
from viz.theme import LIGHT


def heads_page(checkpoint: Checkpoint, recording: Recording) -> dict[str, Any] | None:
    """Return it as JSON values; None where the checkpoint has no survey. Raises CheckpointError.

    recording: any one of the checkpoint, whose layers have the numbers that are shown.
    """
    shipped = shipped_survey(checkpoint.path)
    if shipped is None:
        return None
    atlas = Atlas(shipped, recording.numbering)
    places, numbers = list(atlas.heads), numbers_of(atlas, atlas.kinds)
    links = [_on_explore(place) for place in places]
    table = heads_table(atlas, places, list(numbers), links, LAYER)
    of = metrics() | roles()
    says = {name: f"{of[name].title}: {of[name].explain}" for name in numbers if name in of}
    columns = _columns(list(numbers), len(table.columns))
    return {
        "says": count_labelled(atlas),
        "about": about_sentences(atlas),
        "table": as_elements(table_body(table, LIGHT)),  # it has no shade, and so no theme
        "kinds": [
            {
                "name": kind,
                "title": kind_title(kind),
                "lacks": [i for name in numbers if name not in own for i in columns[name]],
            }
            for kind in atlas.kinds
            for own in [atlas.numbers(kind)]
        ],
        "orders": [
            {
                "name": name,
                "title": title,
                "rows": [places.index(place) for place in in_order(places, atlas, name)],
                "says": says.get(name, ""),
                "column": next(iter(columns.get(name, ())), None),
            }
            for name, title in orders_of(numbers).items()
        ],
        "rows": [
            {"kind": place[0], "layer": place[1], "text": searched_in(place, atlas)}
            for place in places
        ],
    }


def _on_explore(place: Place) -> str:
    kind, layer, head = place
    return f"?page=explore&kind={kind}&layer={layer}&head={head}"


def _columns(numbers: list[str], n_columns: int) -> dict[str, list[int]]:
    """The columns of each number: the last ones are those that are no worth; it has two."""
    others = [name for name in numbers if name != "worth"]
    first = n_columns - len(others)
    result = {name: [first + i] for i, name in enumerate(others)}
    return result | ({"worth": [first - 2, first - 1]} if "worth" in numbers else {})


def surveys_of(
    checkpoints: Sequence[Checkpoint], one_file: bool
) -> tuple[dict[str, dict[str, str]], dict[str, bytes], dict[str, str]]:
    """Return where the page finds each survey, by the names of checkpoints; files by their paths
    beside the page, of a folder; and texts by the names of elements, of one file.

    It is fetched when somebody opens the page. Raises CheckpointError.
    """
    places, files, elements = dict[str, dict[str, str]](), dict[str, bytes](), dict[str, str]()
    for each in checkpoints:
        page = heads_page(each, example(each, each.about.examples[0])[1])
        if page is None:
            continue
        text = json.dumps(page, ensure_ascii=False)
        if one_file:
            name = f"heads-{each.name}"
            elements[name], places[each.name] = text.replace("<", "\\u003c"), {"element": name}
        else:
            path = f"heads/{each.name}.{sha256(text.encode()).hexdigest()[:16]}.json"
            files[path], places[each.name] = text.encode(), {"path": path}
    return places, files, elements
