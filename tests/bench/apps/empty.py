"""The floor of the screen bench: a Streamlit script that only shows what was typed."""

import gc

import streamlit as st
import torch  # noqa: F401  (the app has it in memory too, and garbage collection walks it)


@st.cache_resource
def freeze() -> None:
    """What the app does after loading a model."""
    gc.collect()
    gc.freeze()


freeze()
st.html(f'<p id="shown">{st.text_input("Sentence")}</p>')
