"""Why attention: table 1 of "Attention Is All You Need", to play with and to measure."""

import streamlit as st

from transformer.complexity import Sizes
from viz.export import costs_csv
from viz.ui.current import current_theme
from viz.ui.layer_costs import EXPLAIN, choose, choose_length, remarks, show_times
from viz.ui.layer_times import known_times, measure_button
from viz.ui.panel import plot
from viz.ui.saving import download
from viz.views.cost_table import cost_table
from viz.views.layer_costs import QUANTITIES, describe_costs, draw_costs

choices, table = st.columns((1, 3), gap="large")
with choices:
    left, right = st.columns(2)
    with left:
        d = choose("d", "width", (64, 128, 256, 512, 1024), 512)
        k = choose("k", "kernel", (3, 5, 7, 9), 3)
    with right:
        n = choose_length()
        r = choose("r", "neighbourhood", (4, 8, 16, 32, 64, 128), 8)
sizes = Sizes(d, k, r)
measured = known_times(sizes)
with choices, st.container(horizontal=True):
    download(
        "Costs as CSV",
        lambda: costs_csv(sizes, n, measured),
        "headscope-layer-costs.csv",
        "Every cost of every layer over n, with the measured times",
    )
    if measured is not None:
        measure_button(sizes, "Measure again", quiet=True)
with table:
    st.markdown(EXPLAIN)
    st.html(cost_table(sizes, n, measured, current_theme()))

*formulas, real = st.columns(4)
for column, quantity in zip(formulas, QUANTITIES, strict=True):
    with column:
        figure = draw_costs(quantity, sizes, n, current_theme())
        described = describe_costs(quantity, sizes, n)
        plot(figure, described, f"layer_costs {quantity} {sizes} {n}")
with real:
    show_times(measured, sizes, n)
st.caption(remarks(measured, sizes, n))
