"""Why attention: table 1 of "Attention Is All You Need", to play with and to measure."""

import streamlit as st

from transformer.complexity import Sizes
from viz.export import costs_csv
from viz.figures.cost_table import cost_table
from viz.figures.layer_costs import QUANTITIES, describe_costs, draw_costs
from viz.pages.why_attention.costs import EXPLAIN, choose, choose_length, remarks, show_times
from viz.pages.why_attention.times import known_times, measure_button
from viz.ui.page import Page, Pane
from viz.ui.panel import plot
from viz.ui.saving import download
from viz.ui.state import current_theme


def draw(pane: Pane) -> None:
    """The table beside the choice of its sizes, and its curves below."""
    device = str(pane.checkpoint.device)
    choices, table = st.columns((1, 3), gap="large")
    with choices:
        sizes, n = _sizes(pane)
    measured = known_times(sizes)
    with choices, st.container(horizontal=True):
        download(
            "Costs as CSV",
            lambda: costs_csv(sizes, n, measured),
            "headscope-layer-costs.csv",
            "Every cost of every layer over n, with the measured times",
        )
        if measured is not None:
            measure_button(sizes, device, "Measure again", quiet=True)
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
        show_times(measured, sizes, n, device)
    st.caption(remarks(measured, sizes, n))


def _sizes(pane: Pane) -> tuple[Sizes, int]:
    screen = pane.screen
    left, right = st.columns(2)
    with left:
        d = choose("d", "width", screen.d, (64, 128, 256, 512, 1024), 512)
        k = choose("k", "kernel", screen.k, (3, 5, 7, 9), 3)
    with right:
        n = choose_length(screen.n)
        r = choose("r", "neighbourhood", screen.r, (4, 8, 16, 32, 64, 128), 8)
    return Sizes(d, k, r), n


PAGE = Page("why_attention", "Why attention", 8, draw)
