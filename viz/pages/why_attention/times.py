"""The times of real layers: measured when asked for, and kept."""

from typing import Literal

import streamlit as st
import torch

from transformer.complexity import Measured, Sizes, measure
from viz.ui.state import session


def known_times(sizes: Sizes) -> Measured | None:
    """What this session has measured for these sizes. Never measures by itself."""
    return session().measured.get(sizes)


def measure_button(sizes: Sizes, device: str, title: str, quiet: bool = False) -> None:
    """A button that measures; asked again for the same sizes, it measures anew."""
    kind: Literal["tertiary", "secondary"] = "tertiary" if quiet else "secondary"
    if st.button(title, icon=":material/timer:", type=kind):
        known = session().measured
        if sizes in known:
            _times.clear(sizes, device)
        with st.spinner("Timing each layer at seven lengths, at most 5 seconds …"):
            known[sizes] = _times(sizes, device)
        st.rerun()


@st.cache_data(max_entries=64, show_spinner=False)
def _times(sizes: Sizes, device: str) -> Measured:
    return measure(sizes, torch.device(device))
