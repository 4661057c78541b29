"""Every payload as Streamlit shows it: escaped wherever Markdown is read, or ?raw, as it stands."""

import pandas as pd
import streamlit as st

from tests.browser.payloads import IN_MARKDOWN, PAYLOADS
from transformer.visible import visible
from viz.exhibits.exhibit import Exhibit, PlotlyFigure
from viz.figures.curve import Curve, curve_layout, line
from viz.labels import literal
from viz.theme import LIGHT
from viz.ui.panel import plot

if "raw" in st.query_params:
    for i, payload in enumerate(IN_MARKDOWN):
        with st.container(key=f"payload-{i}"):
            st.markdown(payload)
else:
    shown = [literal(payload) for payload in PAYLOADS]
    for text in shown:
        st.error(text)
    for text in shown[::3]:
        st.caption(f"In a sentence: {text}")
        st.expander(text)
        st.button(text, help=text)
    st.markdown("\n".join(f"* {text}" for text in shown))
    st.segmented_control("Buttons", shown, default=shown[0])
    st.table(pd.DataFrame({text: [text] for text in shown[::5]}))
    st.metric(shown[0], 1)
    st.selectbox("List", PAYLOADS, format_func=visible)
    import plotly.graph_objects as go

    figure = go.Figure(layout=curve_layout(LIGHT, "payloads", "Payloads", 300))
    for payload in PAYLOADS[::4]:
        figure.add_trace(line(Curve(payload, (1, 2), (1.0, 2.0)), "#bd3f0c", "%{y}"))
    plot(Exhibit("Curves", PlotlyFigure(lambda _: figure), "Curves"), "payloads")
st.text("All is drawn")
