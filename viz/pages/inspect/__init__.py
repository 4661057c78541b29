"""Inspect: what a checkpoint's files hold, without running them."""

from transformer import CheckpointError
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.fields.fields import InspectFields
from viz.pages.inspect.circuits import circuit_exhibits, circuits_of
from viz.pages.inspect.files import inspected, modules, vocabulary
from viz.pages.inspect.tensor import (
    learned_positions,
    one_tensor,
    position_exhibits,
    tensor_exhibits,
)
from viz.state.page import Page, Pane
from viz.state.state import fail
from viz.ui.controls import choose_one

DRAW = {
    "modules": modules,
    "tensor": one_tensor,
    "circuits": circuits_of,
    "vocabulary": vocabulary,
    "positions": learned_positions,
}


EXHIBITS = {
    "tensor": tensor_exhibits,
    "circuits": circuit_exhibits,
    "positions": position_exhibits,
}
"""Exhibits of the parts that are pictures: the others are tables of text."""


def draw(pane: Pane) -> None:
    """The chosen part, of the checkpoint that is chosen, whether or not it can run."""
    titles = {name: name.capitalize() for name in DRAW}
    top = st.container(horizontal=True, vertical_alignment="bottom", gap="medium")
    with top:
        name = pane.screen.of(InspectFields).inspect
        part = choose_one("Inspect", "inspect", titles, name, label_visibility="hidden")
    key = pane.request.checkpoint, pane.request.version
    try:
        inspected(key)
        DRAW[part](pane, key, top)
    except CheckpointError as error:
        fail(error)


def _exhibits(pane: Pane) -> dict[str, Exhibit]:
    exhibits_of = EXHIBITS.get(pane.screen.of(InspectFields).inspect or "")
    if exhibits_of is None:
        return {}
    return exhibits_of(pane, (pane.request.checkpoint, pane.request.version))


PAGE = Page(
    "inspect",
    "Inspect",
    "Model",
    7,
    draw,
    shows="checkpoint",
    exhibits=_exhibits,
    subject="What the files of a checkpoint hold",
)
