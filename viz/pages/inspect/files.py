"""The checkpoint that is inspected: its files, modules and vocabulary."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from transformer.checkpoint import shipped_path
from transformer.inspection.circuits import Ends, Head, copying_scores
from transformer.inspection.survey import Inspection, survey
from transformer.inspection.tensor_statistics import (
    Branch,
    Group,
    Statistics,
    grouped,
    histogram,
    statistics,
)
from transformer.inspection.undertrained import RULE
from transformer.refusal import Refusal, visible
from transformer.tokenizer import Tokenizer, TokenizerError
from transformer.vocabulary import sides_of, source_side
from viz.app_packages import pd, st
from viz.export import rows_csv
from viz.figures.decoding import split_text
from viz.labels import label, literal
from viz.page_fields import InspectFields
from viz.run.cache import keep
from viz.state.page import Pane
from viz.state.state import bound, fail, warn
from viz.ui.parts import Part
from viz.ui.save_menu import offer_file

# The checkpoint that is inspected: its files' contents, each read once.

Key = tuple[str, int]
"""A checkpoint's name and when its files were written last."""


def key_of(pane: Pane) -> Key:
    """Return that of the checkpoint that is chosen, whether or not it can run."""
    return pane.request.checkpoint, pane.request.version


@keep(8, "Reading the checkpoint")
def inspected(key: Key) -> Inspection:
    """Survey the files of a checkpoint. Raises CheckpointError."""
    return survey(shipped_path(key[0]))


@keep(4)
def tensor_of(key: Key, name: str) -> Tensor:
    """One tensor's values. Raises CheckpointError."""
    return inspected(key).read(name)


@keep(64, "Computing singular values")
def statistics_of(key: Key, name: str) -> Statistics:
    """One tensor in numbers."""
    return statistics(tensor_of(key, name))


@keep(64)
def histogram_of(key: Key, name: str) -> tuple[Tensor, Tensor]:
    """The edges and the counts of one tensor's values."""
    return histogram(tensor_of(key, name))


@keep(16)
def head_of(key: Key, kind: str, layer: int, head: int) -> Head:
    """One head's matrices. Raises CircuitError."""
    return inspected(key).heads.layer(kind, layer)[head]


@keep(2)
def ends_of(key: Key, kind: str) -> Ends:
    """Return the two ends of a kind of attention. Raises CircuitError."""
    return inspected(key).heads.ends(kind)


@keep(32, "Computing copying scores")
def scores_of(key: Key, kind: str) -> Tensor:
    """The copying scores [L, H] of a kind of attention. Raises CircuitError."""
    return copying_scores(inspected(key).heads, kind)


@keep(8, "Opening the tokenizer")
def tokenizer_of(key: Key) -> Tokenizer:
    """Raises TokenizerError or CheckpointError."""
    return inspected(key).contents.read_tokenizer()


@keep(8, "Reading the vocabulary")
def pieces_of(key: Key) -> tuple[list[str], list[str], list[str]]:
    """Return every id's piece in one case, to search in; its label; "special", "byte" or ""."""
    tokenizer = tokenizer_of(key)
    tokens = [tokenizer.token(id) for id in range(tokenizer.vocab_size)]
    folded = [token.piece.casefold() for token in tokens]
    kinds = ["special" if it.special else "byte" if it.byte is not None else "" for it in tokens]
    return folded, [label(token) for token in tokens], kinds


# The modules of a checkpoint in a table, and whatever is suspicious.

INDENT = "\u2003"
MODULES_HEIGHT = 520
LONG, LIST = 8, 280
"""From so many findings on, the list that a line opens is so many pixels high, and scrolls."""


def _modules(pane: Pane) -> None:
    inspection = inspected(key_of(pane))
    table, column = st.columns([5, 2], gap="large")
    with table:
        st.dataframe(
            frame_modules(inspection),
            hide_index=True,
            height=MODULES_HEIGHT,
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


def frame_modules(inspection: Inspection) -> "pd.DataFrame":
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
    offer_file(
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
        "Modules",
    )


MODULES = Part("Modules", draw=_modules)

# The vocabulary with a search, and how a text splits.

VOCABULARY_HEIGHT = 440
LONGEST = 2000
"""Characters of a text that is split here."""
MOST = 10_000
"""Rows of the table: nobody reads on, and a vocabulary may have 250,000."""

LIKE = "Like untrained"
"""The column of `Training.likeness`."""


def _vocabulary(pane: Pane) -> None:
    key, inspection = key_of(pane), inspected(key_of(pane))
    try:
        tokenizer = source_side(tokenizer_of(key))
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
    written = " that are written" if len(sides_of(tokenizer_of(key))) > 1 else ""
    st.caption(f"{len(ids):,} of {tokenizer_of(key).vocab_size:,} pieces{written}{first}")
    small: dict[str, Any] = {"width": "small"}
    columns = {name: st.column_config.Column(**small) for name in ("Id", "Kind")}
    columns[LIKE] = st.column_config.NumberColumn(format="%.2f", help=RULE, **small)
    rows = frame_vocabulary(key, ids[:MOST])
    st.dataframe(rows, hide_index=True, height=VOCABULARY_HEIGHT, column_config=columns)


def matching(folded: Sequence[str], wanted: str) -> list[int]:
    """Ids whose piece holds the text, in any case, or that it is; all for no text."""
    sought, number = wanted.casefold(), wanted.strip()
    return [id for id, piece in enumerate(folded) if sought in piece or number == str(id)]


def frame_vocabulary(key: Key, ids: Sequence[int]) -> "pd.DataFrame":
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


VOCABULARY = Part("Vocabulary", draw=_vocabulary)
