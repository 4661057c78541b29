"""The place in the line of a person whose text waits for those of others."""

from functools import partial

from streamlit.delta_generator import DeltaGenerator

from viz.ui.batches import entered, said
from viz.ui.request import Answer, Request, answer, make_answer


def in_line(request: Request, place: DeltaGenerator) -> Answer:
    """The answer. place: empty; says how many are before it, meanwhile. Raises as `make_answer`."""

    def tell(n_before: int) -> None:
        place.caption(said(n_before))

    try:
        return answer(request, partial(make_answer, runner=partial(entered, on_wait=tell)))
    finally:
        place.empty()
