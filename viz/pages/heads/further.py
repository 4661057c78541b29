"""The circuits of a head with other heads, and how it came about in training."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import Place
from transformer.inspection.circuits import Heads
from transformer.inspection.composition import Composition, Products, compositions, products_of
from transformer.training.history import left_out, list_snapshots
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.figures.heads.circuits_table import circuits_table
from viz.figures.heads.names import head_name
from viz.labels import literal
from viz.pages.inspect.files import inspected
from viz.pages.training.heads import heads_exhibits
from viz.run.batches import Runner
from viz.run.cache import CACHE
from viz.run.growth import Growth
from viz.run.study import Study
from viz.screen import link
from viz.state.head_links import at_head
from viz.state.note import note
from viz.state.page import Pane
from viz.ui.progress import paid, whole
from viz.ui.showing import show, show_with_files

EXPLAIN = (
    "How much of what one head writes another one reads by its queries, keys or values: "
    "||W_OV W|| / (||W_OV|| ||W||) (Elhage et al. 2021), of the weights only, without norms, "
    "biases and feed-forward layers."
)
MOST_BYTES = 2**27
"""The bytes of all heads' matrices up to which they are kept from one head's page to the next."""
Composed = tuple[list[Composition], list[Composition]]


@dataclass(frozen=True)
class HeadCircuits(Study[Composed]):
    """The composition of a head with all others."""

    checkpoint: str
    version: int
    place: Place

    def run(self, before: Composed | None, runner: Runner) -> Iterator[Composed]:
        heads = inspected((self.checkpoint, self.version)).heads
        name = "products of heads", self.checkpoint, self.version
        every = CACHE.get(name, lambda: _few_products(heads), _bytes_of)
        yield compositions(heads, self.place, every or None)


def _few_products(heads: Heads) -> list[tuple[Place, Products]]:
    """The products of all heads, which are the same whichever is open; none where they are many."""
    result = list[tuple[Place, Products]]()
    for each in products_of(heads):
        result.append(each)
        if _bytes_of(result) > MOST_BYTES:
            return []
    return result


def _bytes_of(products: Sequence[tuple[Place, Products]]) -> int:
    return sum(each.n_bytes for _, each in products)


def circuits_of_head(pane: Pane, atlas: Atlas, place: Place) -> Growth[Composed]:
    """The heads that it reads, and that read it."""
    study = HeadCircuits(pane.request.checkpoint, pane.request.version, place)
    exhibit = partial(_exhibit, pane, atlas, place)
    return Growth("Circuits", study, exhibit, is_main=False)


def _exhibit(pane: Pane, atlas: Atlas, place: Place, composed: Composed) -> Exhibit:
    title = f"Circuits of {head_name(place, atlas)}"
    if not any(composed):
        name = head_name(place, atlas)
        raise NothingLeft(f"No layer above or below {name} reads heads or is read.")

    def link_of(other: Place) -> str:
        return link(at_head(pane.screen, other))

    table = circuits_table(title, *composed, atlas, link_of)
    says = f"The heads that {head_name(place, atlas)} reads most, and those that read it most."
    return Exhibit(title, table, says, is_main=False, about="checkpoint")


def draw_circuits(pane: Pane, atlas: Atlas, place: Place) -> None:
    """Draw them as soon as they are computed; a reason, where weights cannot be read."""
    title = f"Circuits of {head_name(place, atlas)}"
    st.markdown(f"**{literal(title)}**", help=literal(EXPLAIN))
    growth = circuits_of_head(pane, atlas, place)
    composed = paid(growth.study, st.empty())
    if composed is None:
        return
    try:
        show_with_files(pane, growth.exhibit(composed), "circuits")
    except NothingLeft as reason:
        note(reason)


def draw_training(pane: Pane, atlas: Atlas, place: Place) -> None:
    """Draw the head at each snapshot of its own training, on the sentence that is chosen."""
    if not pane.is_of_asked_checkpoint:
        return
    if len(list_snapshots(pane.checkpoint.path)) < 2:
        if sentence := left_out(pane.checkpoint.path):
            st.caption(literal(sentence))
        return
    result = paid(pane.request, st.empty())  # a page of a checkpoint comes with a token only
    growth = None if result is None else heads_exhibits(replace(pane, result=result)).get("heads")
    if growth is None:
        return
    st.markdown(f"**{literal(f'{head_name(place, atlas)} over training')}**")
    course = whole(growth.study, st.empty())
    if course is None:
        return
    try:
        show(growth.exhibit(course), "heads")
    except NothingLeft as reason:
        note(reason)
