"""What was asked is known before the script says so: pictures are sent before the controls.

The browser renders a page anew for every 10 ms in which elements arrive, and each of these costs
it as much: what is sent last is painted late. Streamlit hands over what was chosen, under the keys
of the controls, before the script draws them.
"""

from contextlib import suppress

import streamlit as st

from transformer import CheckpointError, InputError
from transformer.decoding import decoding_methods
from transformer.recording import Attention
from viz.labels import KIND_TITLES
from viz.ui.current import SHOWN, current_selection, default_selection
from viz.ui.defaults import DEFAULT_METHODS
from viz.ui.opened import checkpoint_names, title
from viz.ui.request import Answer, Request, answer, make_request
from viz.views.view import Selection

PAGE = "Explore"
"""The page at which sentences are typed, and whose pictures are the largest."""
MOST_CELLS = 2**26
"""Of all heads: 144 heads of 680 tokens. Beyond, the browser shows each picture once it is made."""


def foresee(page: str) -> tuple[Answer, Selection] | None:
    """The answer and the head that this page is about to show; None where that is not sure.

    Only the sentence or the head may be new. The answer is shown from now on.
    """
    shown: Answer | None = st.session_state.get(SHOWN)
    if page != PAGE or shown is None or not _is_as_it_was(shown.request):
        return None
    if not _is_in_address(shown):
        return None
    last, text = shown.request, st.session_state.get("text") or ""
    request = make_request(last.checkpoint, text, last.method, last.options, last.languages)
    with suppress(CheckpointError, InputError, ValueError):  # the frame says what is wrong
        answered = answer(request)
        if _is_chosen(answered):
            st.session_state[SHOWN] = answered
            return answered, current_selection()
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


def _is_in_address(shown: Answer) -> bool:
    """Whether the address says what the controls do: they follow Back only once they are drawn."""
    state, first = st.session_state, default_selection(shown.checkpoint)
    method = decoding_methods().get(shown.request.method)
    defaults = {
        "text": (state.get("text"), next(iter(shown.checkpoint.about.examples), "")),
        "checkpoint": (title(shown.request.checkpoint), title(checkpoint_names()[0])),
        "decoding": (method and method.title, _first_method(shown)),
        "kind": tuple(KIND_TITLES.get(kind, kind) for kind in (str(state.get("kind")), first.kind)),
        "layer": (f"L{state.get('layer')}", f"L{first.layer}"),
        "head": (f"H{state.get('head')}", f"H{first.head}"),
    }
    said = st.query_params
    return all(said.get(name, default) == value for name, (value, default) in defaults.items())


def _first_method(shown: Answer) -> str | None:
    """The title of the method that a checkpoint is decoded with at first; None: it writes not."""
    family = shown.checkpoint.family
    return decoding_methods()[DEFAULT_METHODS[family.reads]].title if family.decodes else None


def _is_chosen(answered: Answer) -> bool:
    """Whether a head of it is chosen; and all heads are made in a moment."""
    kind, layer, head = (st.session_state.get(name) for name in ("kind", "layer", "head"))
    attention = answered.recording.attentions.get(str(kind))
    if attention is None or layer is None or head is None or not is_small(attention):
        return False
    return bool(layer < attention.n_layers and head < attention.n_heads)


def is_small(attention: Attention) -> bool:
    """Whether all heads are computed before any of them is shown."""
    n_heads = attention.n_layers * attention.n_heads
    return n_heads * len(attention.queries) * len(attention.keys) <= MOST_CELLS
