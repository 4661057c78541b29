"""Gallery: effects that are really there, each a sentence, a small picture and a link."""

import streamlit as st

from viz.figures.gallery_cards import cards
from viz.gallery import GROUPS
from viz.pages.gallery.cards import picture
from viz.ui.page import Page, Pane
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
        st.subheader(title, anchor=False)
        places.append(st.empty())
        # Words first: the models that the pictures are drawn from may have to be loaded.
        places[-1].html(cards(compositions, [None] * len(compositions), look))
    for place, compositions in zip(places, GROUPS.values(), strict=True):
        place.html(cards(compositions, [picture(each, look.name) for each in compositions], look))


PAGE = Page("gallery", "Gallery", 9, draw)
