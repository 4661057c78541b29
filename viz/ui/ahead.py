"""Work before words: what takes long is computed before the first element is sent.

The browser renders a page anew for every 10 ms in which elements arrive, and each of these costs
it as much: a script that computes between its elements is painted late. Streamlit hands over what
was chosen, under the keys of the controls, before the script draws them; so answers and payloads
can be made, and cached, first.
"""

from contextlib import suppress

import streamlit as st

from transformer import CheckpointError, InputError
from transformer.decoding import decoding_methods
from transformer.recording import Attention
from viz.ui.current import SHOWN
from viz.ui.payloads import grid_payload
from viz.ui.picture import prepare_picture
from viz.ui.reading import current_reading
from viz.ui.request import Answer, Request, answer, make_request
from viz.views.view import Selection

PAGE = "Explore"
"""The page at which sentences are typed, and whose pictures are the largest."""
MOST_CELLS = 2**26
"""Of all heads: 144 heads of 680 tokens. Beyond, the browser shows each picture once it is made."""


def foresee(page: str) -> Answer | None:
    """The answer that this page is about to show; None where that is not sure.

    Only the sentence or the head may be new. It is shown from now on, and the payloads of the page
    are in their caches.
    """
    shown: Answer | None = st.session_state.get(SHOWN)
    if page != PAGE or shown is None or not _is_as_it_was(shown.request):
        return None
    last, text = shown.request, st.session_state.get("text") or ""
    request = make_request(last.checkpoint, text, last.method, last.options, last.languages)
    with suppress(CheckpointError, InputError, ValueError):  # the frame says what is wrong
        answered = answer(request)
        if _fill(request, answered):
            st.session_state[SHOWN] = answered
            return answered
    return None


def _is_as_it_was(last: Request) -> bool:
    """Whether the model and its decoding are the same, and the text comes all at once."""
    state = st.session_state
    chosen = {"checkpoint": last.checkpoint, "decoding": last.method, **dict(last.options)}
    chosen |= dict(zip(("from", "to"), last.languages, strict=True))
    method = decoding_methods().get(last.method)
    return not (method and method.streams) and all(
        state.get(name, value) == value for name, value in chosen.items()
    )


def _fill(request: Request, answered: Answer) -> bool:
    """Make the payloads of the grid and of the large picture; False: not all choices are known."""
    kind, layer, head = (st.session_state.get(name) for name in ("kind", "layer", "head"))
    attention = answered.recording.attentions.get(str(kind))
    if attention is None or layer is None or head is None or not is_small(attention):
        return False
    if layer >= attention.n_layers or head >= attention.n_heads:
        return False
    reading = current_reading()
    grid_payload(request, attention.kind, reading)
    prepare_picture(request, Selection(attention.kind, layer, head), reading)
    return True


def is_small(attention: Attention) -> bool:
    """Whether all heads are computed before any of them is shown."""
    n_heads = attention.n_layers * attention.n_heads
    return n_heads * len(attention.queries) * len(attention.keys) <= MOST_CELLS
