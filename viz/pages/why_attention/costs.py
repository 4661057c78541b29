"""What the page about table 1 asks for and says: sizes, times of real layers, and remarks."""

import streamlit as st

from transformer.complexity import CONTIGUOUS, LAYERS, Measured, Sizes
from viz.figures.layer_costs import HEIGHT, LONGEST, SHORTEST, describe_times, draw_times
from viz.pages.why_attention.times import measure_button
from viz.ui.controls import whole_number
from viz.ui.panel import plot
from viz.ui.state import bound, current_theme

EXPLAIN = """
Self-attention brings any two positions together in one step, and no position waits for another;
recurrence needs *n* steps for both. While *n* < *d* (shaded) it also takes fewer operations: a
sentence has some 30 tokens, and *d* is 512 in the paper.
"""


def choose(letter: str, title: str, said: int | None, options: tuple[int, ...], usual: int) -> int:
    """One size, from a few values worth comparing."""
    chosen = said if said in options else usual
    st.select_slider(f"*{letter}*, {title}", options, chosen, **bound(letter, chosen, usual))
    return chosen


def choose_length(said: int | None) -> int:
    """Any n that the curves are drawn for."""
    return whole_number("*n*, length", "n", said, SHORTEST, LONGEST, 30)


def show_times(measured: Measured | None, sizes: Sizes, n: int, device: str) -> None:
    """The measured curves; before they are asked for, what would be measured."""
    if measured is None:
        with st.container(height=HEIGHT, border=False, vertical_alignment="center"):
            st.markdown("How long do real layers of these sizes take?")
            measure_button(sizes, device, "Measure on this machine")
        return
    figure = draw_times(measured, n, current_theme())
    plot(figure, describe_times(measured), f"layer_costs times {sizes} {n}")


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
