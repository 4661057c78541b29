"""Why attention: table 1 of "Attention Is All You Need", to play with and to measure."""

import streamlit as st

from transformer.complexity import CONTIGUOUS, LAYERS, Measured, Sizes
from viz.export import CONFIG, costs_csv
from viz.ui.cost_table import cost_table
from viz.ui.current import current_theme
from viz.ui.layer_times import known_times, measure_button
from viz.ui.panel import download
from viz.views.layer_costs import (
    HEIGHT,
    LONGEST,
    QUANTITIES,
    SHORTEST,
    describe_costs,
    describe_times,
    draw_costs,
    draw_times,
)

EXPLAIN = """
Self-attention brings any two positions together in one step, and no position waits for another;
recurrence needs *n* steps for both. While *n* < *d* (shaded) it also takes fewer operations: a
sentence has some 30 tokens, and *d* is 512 in the paper.
"""


def choose(letter: str, title: str, options: tuple[int, ...], default: int) -> int:
    """One size, from a few values worth comparing."""
    return st.select_slider(
        f"*{letter}*, {title}", options, default, key=letter, bind="query-params"
    )


def choose_length() -> int:
    """Any n that the curves are drawn for."""
    chosen = st.number_input("*n*, length", SHORTEST, LONGEST, 30, key="n", bind="query-params")
    return int(chosen)


def show_times(measured: Measured | None, sizes: Sizes, n: int) -> None:
    """The measured curves; before they are asked for, what would be measured."""
    if measured is None:
        with st.container(height=HEIGHT, border=False, vertical_alignment="center"):
            st.markdown("How long do real layers of these sizes take?")
            measure_button(sizes, "Measure on this machine")
        return
    st.plotly_chart(
        draw_times(measured, n, current_theme()),
        key=f"figure layer_costs times {sizes} {n}",
        theme=None,
        config=CONFIG,
        alt=describe_times(measured),
    )


def remarks(measured: Measured | None, sizes: Sizes, n: int) -> str:
    """What the numbers leave out, and what was timed where."""
    path = CONTIGUOUS.value(n, sizes)
    said = (
        "Table 1 of “Attention Is All You Need”, section 4: orders without constant factors, paths "
        "rounded up to whole steps. Convolutions are dilated; otherwise their longest path is "
        f"{CONTIGUOUS.formula} = {path:,} steps (thin line). "
    )
    if measured is None:
        return said
    threads = f"{measured.threads} thread" + ("s" if measured.threads > 1 else "")
    timed = "; ".join(f"{layer.title}: {layer.timed}" for layer in LAYERS)
    return (
        f"{said}Measured on {measured.device} with {threads}, one sequence in float32, median of "
        f"3 to 100 runs; lengths that would take too long are left out. {timed}. Times also hold "
        "what the orders leave out: constant factors, the fixed costs of a call, and waiting."
    )


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
        st.plotly_chart(
            draw_costs(quantity, sizes, n, current_theme()),
            key=f"figure layer_costs {quantity} {sizes} {n}",
            theme=None,
            config=CONFIG,
            alt=describe_costs(quantity, sizes, n),
        )
with real:
    show_times(measured, sizes, n)
st.caption(remarks(measured, sizes, n))
