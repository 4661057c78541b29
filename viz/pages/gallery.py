"""Gallery: effects that are really there, each a sentence, a small picture and a link."""

import streamlit as st

from transformer import Recording
from transformer.refusal import Refusal
from viz.figures.gallery_cards import Picture, cards
from viz.figures.thumbnail import describe_thumbnail, draw_thumbnail
from viz.gallery import GROUPS, Composition
from viz.labels import literal
from viz.theme import theme
from viz.ui.page import Page, Pane
from viz.ui.request import Request, about, answer, make_request, recording_of_text
from viz.ui.state import current_theme


def draw(pane: Pane) -> None:
    """The cards of all compositions."""
    st.markdown(
        "Found by searching the shipped models; the first ones are composed like Figures 3, 4 and "
        "5 of *Attention Is All You Need*. Numbers are for the sentence opened; averages over many "
        "sentences are in brackets."
    )
    look = current_theme()
    places = []
    for title, compositions in GROUPS.items():
        st.subheader(literal(title), anchor=False)
        places.append(st.empty())
        # Words first: the models that the pictures are drawn from may have to be loaded.
        places[-1].html(cards(compositions, [None] * len(compositions), look))
    for place, compositions in zip(places, GROUPS.values(), strict=True):
        place.html(cards(compositions, [picture(each, look.name) for each in compositions], look))


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


PAGE = Page("gallery", "Gallery", "Learn", 8, draw, shows="nothing")
