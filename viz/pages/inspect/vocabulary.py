"""The vocabulary with a search, and how a text splits."""

from collections.abc import Sequence
from typing import Any

from transformer.inspection.undertrained import RULE
from transformer.refusal import Refusal
from transformer.tokenizer import TokenizerError
from viz.app_packages import DeltaGenerator, pd, st
from viz.fields.inspect import InspectFields
from viz.figures.split_text import split_text
from viz.pages.inspect.files import Key, inspected, pieces_of, tokenizer_of
from viz.state.note import fail, warn
from viz.state.page import Pane
from viz.state.state import bound

HEIGHT = 440
LONGEST = 2000
"""Characters of a text that is split here."""
MOST = 10_000
"""Rows of the table: nobody reads on, and a vocabulary may have 250,000."""

LIKE = "Like untrained"
"""The column of `Training.likeness`."""


def vocabulary(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """Show how a text splits, beside the pieces there are."""
    inspection = inspected(key)
    try:
        tokenizer = tokenizer_of(key)
    except Refusal as error:
        where = f"{inspection.path.name}: "
        fail(where + str(error).removeprefix(where))
        return
    splits, pieces = st.columns(2, gap="large")
    with splits:
        usual = next(iter(inspection.about.examples), "")
        chosen = pane.screen.of(InspectFields).split
        text = (usual if chosen is None else chosen)[:LONGEST]
        st.text_input("How a text splits", text, max_chars=LONGEST, **bound("split", text, usual))
        try:
            ids = tokenizer.encode(text, inspection.family.reads)
        except TokenizerError as error:
            warn(error)
        else:
            st.caption(f"{len(ids):,} token{'s' * (len(ids) != 1)}, as the model reads them")
            st.html(split_text([tokenizer.token(id) for id in ids]))
    with pieces:
        _pieces(key, pane.screen.of(InspectFields))


def _pieces(key: Key, own: InspectFields) -> None:
    st.text_input(
        "Search the vocabulary",
        own.piece,
        placeholder="A part of a piece, or an id",
        **bound("piece", own.piece),
    )
    ids, trained = matching(pieces_of(key)[0], own.piece), inspected(key).training
    if trained is not None:
        st.toggle("Under-trained only", own.lacking, help=RULE, **bound("lacking", own.lacking))
        if own.lacking:
            ids = [id for id in ids if trained.lacks(tokenizer_of(key).token(id))]
            ids = sorted(ids, key=lambda id: -float(trained.likeness[id]))
    first = f"; the first {MOST:,} of them below" if len(ids) > MOST else ""
    st.caption(f"{len(ids):,} of {tokenizer_of(key).vocab_size:,} pieces{first}")
    small: dict[str, Any] = {"width": "small"}
    columns = {name: st.column_config.Column(**small) for name in ("Id", "Kind")}
    columns[LIKE] = st.column_config.NumberColumn(format="%.2f", help=RULE, **small)
    rows = frame(key, ids[:MOST])
    st.dataframe(rows, hide_index=True, height=HEIGHT, column_config=columns)


def matching(folded: Sequence[str], wanted: str) -> list[int]:
    """Ids whose piece holds the text, in any case, or that it is; all for no text."""
    sought, number = wanted.casefold(), wanted.strip()
    return [id for id, piece in enumerate(folded) if sought in piece or number == str(id)]


def frame(key: Key, ids: Sequence[int]) -> "pd.DataFrame":
    """One row per token."""
    _, labels, kinds = pieces_of(key)
    columns: dict[str, Sequence[object]] = {
        "Id": list(ids),
        "Piece": [labels[id] for id in ids],
        "Kind": [kinds[id] for id in ids],
    }
    trained = inspected(key).training
    if trained is not None:
        values = dict(enumerate(trained.likeness.tolist()))  # a table may have fewer rows
        columns[LIKE] = [values.get(id) for id in ids]
    return pd.DataFrame(columns)
