"""The text that is written without the word that a pinned one needs most."""

from dataclasses import replace

from transformer.decoding.decode import decoding_methods
from transformer.editing.read_words import side_read
from transformer.edits.edit import Edit
from viz.app_packages import st
from viz.labels import literal
from viz.run.request import Request
from viz.state.page import Pane
from viz.ui.progress import paid


def written_without(pane: Pane, place: int, word: str) -> None:
    """Say it in a line below the card. place, word: of the one that is needed, in the text."""
    request, decoding = _request(pane, place), pane.answer.decoding
    if request is None or decoding is None:
        return
    answer = paid(request, st.empty(), "written without")
    if answer is None or answer.decoding is None:
        return
    text = answer.decoding.text
    is_same = text == decoding.text
    says = "the same is written" if is_same else f"this is written: {literal(text)}"
    st.markdown(f"Without “{literal(word)}” {says}")


def _request(pane: Pane, place: int) -> Request | None:
    """The answer's request with the word hidden; None where what is written was given."""
    request = pane.answer.request
    method = decoding_methods().get(request.method)
    if method is None or method.needs_target or request.branch:
        return None
    edit = str(Edit("hide", side_read(pane.checkpoint), (place,)))
    return replace(request, edits=(*request.edits, edit))
