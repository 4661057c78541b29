"""A text input, and for each text another tree, of a search of 40 steps with a beam of 8."""

import gc

import streamlit as st
import torch  # noqa: F401  (the app has it in memory too)

from tests.browser.apps.random_search import random_search
from viz.components.search_tree.search_tree import DecodeTree, pack_tree, search_tree
from viz.theme import LIGHT


@st.cache_resource
def freeze() -> None:
    """What the app does after loading a model."""
    gc.collect()
    gc.freeze()


freeze()
text = st.text_input("Sentence")
search_tree(DecodeTree().data(pack_tree(random_search(40, 8, seed=text), True), LIGHT), "tree")
