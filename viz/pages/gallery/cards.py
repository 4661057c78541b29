"""The pictures of the gallery's compositions, drawn from what the models do now."""

import streamlit as st

from transformer import Recording
from transformer.refusal import Refusal
from viz.figures.gallery_cards import Picture
from viz.figures.thumbnail import describe_thumbnail, draw_thumbnail
from viz.gallery import Composition
from viz.theme import theme
from viz.ui.request import Request, about, answer, make_request, recording_of_text


def picture(composition: Composition, theme_name: str) -> Picture | None:
    """None where the checkpoint is gone, damaged, or no longer reads the text."""
    request = request_of(composition)
    try:
        return _picture(request, composition.title, theme_name, composition)
    except Refusal:
        return None


def request_of(composition: Composition) -> Request:
    """What the link asks for."""
    screen = composition.screen
    return make_request(screen.checkpoint or "", screen.text or "", screen.decoding or "none")


@st.cache_data(max_entries=128, show_spinner=False)
def _picture(request: Request, title: str, theme_name: str, _composition: Composition) -> Picture:
    """title: of the composition, which it stands for in the key."""
    recording = _recording(request, _composition)
    alt = describe_thumbnail(_composition, recording)
    return Picture(draw_thumbnail(_composition, recording, theme(theme_name)), alt)


def _recording(request: Request, composition: Composition) -> Recording:
    """As the link would make it; of a prompt alone where that holds the facts: it is sooner."""
    known = about(request.checkpoint)
    if known is not None and known.family.continues:
        prompt = recording_of_text(request)
        if max(fact.query for fact in composition.facts) < len(prompt.source):
            return prompt
    return answer(request).recording
