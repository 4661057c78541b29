"""The parameters of two checkpoints that differ most, as a table and a file."""

import math

from transformer.inspection.changes import Change, Changes, changes
from transformer.visible import visible
from viz.app_packages import pd, st
from viz.export import rows_csv
from viz.labels import literal
from viz.run.keep import keep
from viz.run.request import Request, open_checkpoint
from viz.state.note import note
from viz.ui.saving import download

SHOWN_FIRST = 12
"""Rows that are seen without scrolling."""
NAMED = 5
EXPLAIN = (
    "Relative change: ‖B − A‖ / ‖A‖ of a tensor, Frobenius norms; cosine: of the angle between "
    "both as vectors."
)


def parameter_changes(a: Request, b: Request) -> None:
    """The table for the checkpoints of two requests."""
    changes = _changes(a, b)
    st.markdown("**Parameters that changed most**, from A to B")
    if not changes.both:
        note("These checkpoints have no parameter of the same name and shape: their models differ.")
        return
    rows = [_row(change) for change in changes.both]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        height=35 * (min(len(rows), SHOWN_FIRST) + 1) + 3,
        column_config={
            "Relative change": st.column_config.NumberColumn(format="%.4f"),
            "Distance": st.column_config.NumberColumn(format="%.4f"),
            "Cosine": st.column_config.NumberColumn(format="%.4f"),
        },
    )
    st.caption(literal(f"{EXPLAIN}{_others(changes)}"))
    download(
        "Changes as CSV",
        lambda: rows_csv([vars(change) for change in changes.both]),
        "headscope-changes.csv",
        "Every tensor that both checkpoints have",
    )


def _row(change: Change) -> dict[str, object]:
    return {
        "Tensor": visible(change.name),
        "Shape": " × ".join(map(str, change.shape)),
        "Relative change": change.relative if math.isfinite(change.relative) else None,
        "Distance": change.distance,
        "Cosine": change.cosine if math.isfinite(change.cosine) else None,
    }


def _others(changes: Changes) -> str:
    text = ""
    for names, where in (
        (changes.other_shapes, "In B with another shape"),
        (changes.only_first, "Only in A"),
        (changes.only_second, "Only in B"),
    ):
        if names:
            more = ", …" if len(names) > NAMED else ""
            text += f" {where}: {', '.join(names[:NAMED])}{more}."
    return text


@keep(16, "Comparing parameters")
def _changes(a: Request, b: Request) -> Changes:
    return changes(open_checkpoint(a).model, open_checkpoint(b).model)
