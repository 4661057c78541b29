"""Every payload as Streamlit shows it: escaped wherever Markdown is read, or ?raw, as it stands."""

import pandas as pd
import streamlit as st

from tests.browser.payloads import IN_MARKDOWN, PAYLOADS
from transformer.refusal import visible
from viz.exhibits.chart import Axis, Chart, Curve
from viz.exhibits.exhibit import Exhibit
from viz.labels import literal
from viz.ui.showing import show

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
    curves = [Curve(payload, (1, 2), (1.0, 2.0), "accent", "{y}") for payload in PAYLOADS[::4]]
    chart = Chart("payloads", "Payloads", "", Axis(""), Axis(""), curves, 300)
    show(Exhibit("Curves", chart, "Curves"), "payloads")
st.text("All is drawn")
