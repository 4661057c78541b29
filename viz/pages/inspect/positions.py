"""The likeness of positions that a model has learned."""

import re

from torch import Tensor

from transformer.config import ModelConfig
from transformer.inspection.survey import Inspection
from transformer.positions.encodings import find_pairs, similarity
from viz.app_packages import DeltaGenerator, st
from viz.exhibits.exhibit import Exhibit
from viz.fields.inspect import InspectFields
from viz.figures import position_similarity
from viz.labels import literal
from viz.pages.inspect.files import Key, inspected, tensor_of
from viz.state.note import note
from viz.state.page import Pane
from viz.ui.columns import columns
from viz.ui.controls import choose_one
from viz.ui.showing import show_with_files

EXPLAIN = (
    "The cosine of the angle between the vectors that the model has learned for any two of its "
    "positions: 1 where both point the same way. It is taken of all of them, whatever the sentence."
)
NAMES = re.compile(
    r"(^|\.)((\w+_)?positions\.table|(\w+_)?(embed_positions|position_embeddings?|wpe|pos_emb\w*)"
    r"(\.weight)?)$"
)
"""Names of models for the table of the vectors that they have learned for positions."""
MOST = 1024
"""Positions that are compared: a picture of more would be too large to send."""
FIXED = {
    "sinusoidal": "Its encodings are fixed sinusoids, which need not be saved.",
    "none": "It adds no positional encodings.",
}


def learned_positions(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """The cosine between any two learned positions; or why there are none."""
    inspection = inspected(key)
    tables = position_tables(inspection)
    if not tables:
        note(f"This model has no learned positions. {_why(inspection)}")
        return
    name, chosen = tables[0], pane.screen.of(InspectFields).table
    if len(tables) > 1:
        titles = dict(zip(tables, tables, strict=True))
        with top:
            name = choose_one("Table", "table", titles, chosen, as_list=True, width=380)
    table = tensor_of(key, name)
    exhibit = _exhibit(table)
    if exhibit is None:
        note(f"{name} is not a matrix with one row per position.")
        return
    figure, words = columns([3, 2], gap="large")
    with figure:
        show_with_files(pane, exhibit, "position-similarity")
    with words:
        st.caption(literal(_note(name, table)) + EXPLAIN)


def position_exhibits(pane: Pane, key: Key) -> dict[str, Exhibit]:
    """Declare the exhibit of learned positions. Raises CheckpointError."""
    tables, chosen = position_tables(inspected(key)), pane.screen.of(InspectFields).table
    if not tables:
        return {}
    exhibit = _exhibit(tensor_of(key, chosen if chosen in tables else tables[0]))
    return {} if exhibit is None else {"position-similarity": exhibit}


def _exhibit(table: Tensor) -> Exhibit | None:
    if table.dim() != 2 or not table.numel():
        return None
    cosines = similarity(table[:MOST], normalised=True)
    return Exhibit(
        "Learned positions",
        position_similarity.chart(cosines),
        position_similarity.describe(cosines),
        about="checkpoint",
    )


def position_tables(inspection: Inspection) -> list[str]:
    """Stored tensors that hold a vector for every position, by their names."""
    return [each.name for each in inspection.tensors if NAMES.search(each.name)]


def _why(inspection: Inspection) -> str:
    if not isinstance(inspection.config, ModelConfig):
        return "None of its tensors is named like a table of positions."
    return FIXED.get(inspection.config.positions, "positions.table is missing.")


def _note(name: str, table: Tensor) -> str:
    """Note what is special about a table of somebody else's."""
    if name.endswith("positions.table"):
        return ""
    first = f", the first {MOST:,} of {len(table):,}" if len(table) > MOST else ""
    fixed = " Its values are those of fixed sinusoids." if find_pairs(table) else ""
    return f"The rows of {name}{first}.{fixed} Some models leave their first rows unused. "
