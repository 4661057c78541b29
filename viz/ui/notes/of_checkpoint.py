"""The notes of a checkpoint: what its folder adds to the model, and what takes no part in it."""

import html

from transformer.visible import visible
from viz.app_packages import st
from viz.fields.compare import CompareFields
from viz.labels import literal
from viz.run.request import about
from viz.screen import choose, link
from viz.state.checkpoints import pair_with
from viz.state.state import session


def say_notes(checkpoint: str, prefix: str = "") -> None:
    """Show the notes on what its folder adds to the model, and on what takes no part in it."""
    description, pair = about(checkpoint), pair_with(checkpoint)
    if description is None or not description.about.notes:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        notes = " ".join(map(visible, description.about.notes))
        st.caption(literal(f"{prefix}{notes}"), width="content")
        if pair is not None:  # a note says that there is an adapter
            _compare(*pair)


def _compare(base: str, adapted: str) -> None:
    """A link to Compare with a base as A, and itself with its adapter as B."""
    screen = session().screen
    both = choose(screen, checkpoint=base, page="compare")
    both = choose(both, checkpoint_b=adapted, same_head=True)
    if screen.page != "compare" or screen.of(CompareFields).checkpoint_b != adapted:
        address = html.escape(link(both))
        st.html(f'<a data-state href="{address}">Compare base and adapted</a>', width="content")
