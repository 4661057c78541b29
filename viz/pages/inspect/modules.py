"""The modules of a checkpoint in a table, and whatever is suspicious."""

from typing import Any

from transformer.inspection.findings import Group, grouped
from transformer.inspection.module_tree import Branch
from transformer.inspection.survey import Inspection
from transformer.visible import visible
from viz.app_packages import DeltaGenerator, pd, st
from viz.export import rows_csv
from viz.labels import literal
from viz.pages.inspect.files import Key, inspected
from viz.state.page import Pane
from viz.ui.saving import download

INDENT = "\u2003"
HEIGHT = 520
LONG, LIST = 8, 280
"""From so many findings on, the list that a line opens is so many pixels high, and scrolls."""


def modules(pane: Pane, key: Key, top: DeltaGenerator) -> None:
    """Every module and tensor with its share, beside what was found."""
    inspection = inspected(key)
    table, column = st.columns([5, 2], gap="large")
    with table:
        st.dataframe(
            frame(inspection),
            hide_index=True,
            height=HEIGHT,
            column_config={
                "Shape": st.column_config.Column(width=105),
                "Parameters": st.column_config.NumberColumn(format="localized"),
                "Share": st.column_config.ProgressColumn(format="%.3f %%", max_value=100),
            },
        )
        _files(inspection)
    with column:
        st.markdown(
            f"**{inspection.n_parameters:,}** parameters in {len(inspection.tensors):,} tensors"
        )
        _list("Tied", inspection.ties, "No tensor has two roles, and no two are equal.")
        _suspicious(grouped(inspection.findings))
        st.caption(
            "Looked for: tensors that are missing, unexpected or of another shape than config.json "
            "asks for; NaN and infinite values; tensors, and rows of matrices, that are all 0; "
            "tensors without a value, or with an empty part in the name; complex numbers."
        )


def frame(inspection: Inspection) -> "pd.DataFrame":
    """One row per module and tensor, in the model's order."""
    return pd.DataFrame([_row(branch, inspection) for branch in inspection.tree])


def _row(branch: Branch, inspection: Inspection) -> dict[str, object]:
    tensor = branch.tensor
    return {
        "Module": INDENT * branch.depth + visible(branch.name),
        "Shape": (" × ".join(map(str, tensor.shape)) or "one number") if tensor else "",
        "Type": tensor.dtype if tensor else "",
        "Parameters": branch.n_parameters,
        "Share": 100 * branch.n_parameters / (inspection.n_parameters or 1),
    }


def _list(title: str, lines: list[str], nothing: str) -> None:
    st.markdown(f"**{title}**")
    st.markdown("\n".join(f"* {literal(line)}" for line in lines) or nothing)


def _suspicious(groups: list[Group]) -> None:
    """List suspicions; those that many tensors share are one line, which opens."""
    single = [group.title for group in groups if len(group.findings) == 1]
    _list("Suspicious", single, "" if groups else "Nothing suspicious.")
    for group in groups:
        if len(group.findings) > 1:
            height: Any = LIST if len(group.findings) >= LONG else "content"
            with st.expander(literal(group.title)), st.container(height=height, border=False):
                st.markdown("\n".join(f"* {literal(str(each))}" for each in group.findings))


def _files(inspection: Inspection) -> None:
    download(
        "Modules as CSV",
        lambda: rows_csv(
            [
                {
                    "path": branch.path,
                    "shape": " ".join(map(str, branch.tensor.shape)) if branch.tensor else "",
                    "dtype": branch.tensor.dtype if branch.tensor else "",
                    "parameters": branch.n_parameters,
                }
                for branch in inspection.tree
            ]
        ),
        f"headscope-{inspection.path.name}-modules.csv",
        "Every module and tensor with its size",
    )
