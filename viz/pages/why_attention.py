"""The page on the cost of attention: table 1 of its paper, to play with and to measure."""

from dataclasses import dataclass, field
from typing import Literal

import torch

from transformer import InputError
from transformer.complexity import CONTIGUOUS, LAYERS, Measured, Sizes, measure
from transformer.device import choose_device
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.export import costs_csv
from viz.figures.costs import (
    LONGEST,
    QUANTITIES,
    SHORTEST,
    cost_chart,
    cost_table,
    describe_costs,
    describe_times,
    time_chart,
)
from viz.labels import literal
from viz.page_fields import WhyAttentionFields
from viz.run.cache import keep
from viz.state.limits import charge
from viz.state.page import Page, Pane
from viz.state.state import bound, session, warn
from viz.ui.controls import whole_number
from viz.ui.save_menu import offer_figures, offer_file
from viz.ui.showing import columns, explain, show, show_table

TIMES = "times"
LENGTH = 30
BESIDE = 300
"""Pixels of a chart and of whatever stands beside it."""
SIZES = {
    "d": ("width", (64, 128, 256, 512, 1024), 512),
    "k": ("kernel", (3, 5, 7, 9), 3),
    "r": ("neighbourhood", (4, 8, 16, 32, 64, 128), 8),
}
"""Letter -> what it is, the values worth comparing, and the usual one."""
EXPLAIN = """
Self-attention brings any two positions together in one step, and no position waits for another;
recurrence needs *n* steps for both. While *n* < *d* (shaded) it also takes fewer operations: a
sentence has some 30 tokens, and *d* is 512 in the paper.
"""


def draw(pane: Pane) -> None:
    """The table beside the choice of its sizes, and its curves below."""
    device = str(choose_device())
    choices, table = st.columns((1, 3), gap="large")
    sizes, n = sizes_on(pane)
    with choices, st.container(key="sizes"):
        left, right = st.columns(2)
        with left:
            _choose("d", sizes.d)
            _choose("k", sizes.k)
        with right:
            whole_number("*n*, length", "n", n, SHORTEST, LONGEST, LENGTH)
            _choose("r", sizes.r)
    measured = session().of(Times).by_sizes.get(sizes)  # it never measures by itself
    exhibits = cost_exhibits(sizes, n, measured)
    offer_file(
        "Costs as CSV",
        lambda: costs_csv(sizes, n, measured),
        "headscope-layer-costs.csv",
        "Every cost of every layer over n, with the measured times",
        "All costs",
    )
    offer_figures(pane, exhibits)
    if measured is not None:
        with choices:
            measure_button(sizes, device, "Measure again", quiet=True)
    with table:
        explain(EXPLAIN)
        show_table(cost_table(sizes, n, measured))
    places = columns(len(exhibits), n_offers=TIMES not in exhibits)
    for column, (quantity, each) in zip(places, exhibits.items(), strict=False):
        with column:
            show(each, f"layer_costs {quantity} {sizes} {n}")
    for place in places[len(exhibits) :]:
        with place, st.container(height=BESIDE, border=False, vertical_alignment="center"):
            st.markdown("How long do real layers of these sizes take?")
            measure_button(sizes, device, "Measure on this machine")
    st.caption(remarks(measured, sizes, n))


def cost_exhibits(sizes: Sizes, n: int, measured: Measured | None) -> dict[str, Exhibit]:
    """Each quantity, and the times where they were measured."""
    exhibits = {
        quantity: Exhibit(
            title,
            cost_chart(quantity, sizes, n, has_legend=True),
            describe_costs(quantity, sizes, n),
            about="app",
            small=cost_chart(quantity, sizes, n, has_legend=False),  # beside the table
        )
        for quantity, title in QUANTITIES.items()
    }
    if measured is None:
        return exhibits
    times = Exhibit(
        "Time on this machine",
        time_chart(measured, n, has_legend=True),
        describe_times(measured),
        about="app",
        can_be_made_again=False,
        small=time_chart(measured, n, has_legend=False),
    )
    return exhibits | {TIMES: times}


def sizes_on(pane: Pane) -> tuple[Sizes, int]:
    """The sizes and the length that the Screen names; the usual ones where it names no such."""
    own = pane.screen.of(WhyAttentionFields)
    chosen = {"d": own.d, "k": own.k, "r": own.r}
    sizes = {
        letter: number if (number := chosen[letter]) in options else usual
        for letter, (_, options, usual) in SIZES.items()
    }
    n = own.n if own.n is not None and SHORTEST <= own.n <= LONGEST else LENGTH
    return Sizes(**sizes), n


def _choose(letter: str, chosen: int) -> None:
    title, options, usual = SIZES[letter]
    label = f"*{literal(letter)}*, {literal(title)}"
    st.select_slider(label, options, chosen, **bound(letter, chosen, usual))


def remarks(measured: Measured | None, sizes: Sizes, n: int) -> str:
    """Say what the numbers leave out, and what was timed where."""
    path = CONTIGUOUS.value(n, sizes)
    orders = (
        "Table 1 of “Attention Is All You Need”, section 4: orders without constant factors, paths "
        "rounded up to whole steps. Convolutions are dilated; otherwise their longest path is "
        f"{CONTIGUOUS.formula} = {path:,} steps (thin line). "
    )
    if measured is None:
        return orders
    threads = f"{measured.threads} thread" + ("s" if measured.threads > 1 else "")
    timed = "; ".join(f"{layer.title}: {layer.timed}" for layer in LAYERS)
    return (
        f"{orders}Measured on {measured.device} with {threads}, one sequence in float32, median of "
        f"3 to 100 runs; lengths that would take too long are left out. {timed}. Times also hold "
        "what the orders leave out: constant factors, the fixed costs of a call, and waiting."
    )


@dataclass
class Times:
    """The times of real layers that a session asked for."""

    by_sizes: dict[Sizes, Measured] = field(default_factory=dict)


def measure_button(sizes: Sizes, device: str, title: str, quiet: bool = False) -> None:
    """A button that measures; asked again for the same sizes, it measures anew."""
    kind: Literal["tertiary", "secondary"] = "tertiary" if quiet else "secondary"
    if st.button(title, icon=":material/timer:", type=kind):
        times = session().of(Times).by_sizes
        try:
            charge(("times", sizes))
        except InputError as refusal:
            warn(refusal)
            return
        if sizes in times:
            _times.clear(sizes, device)
        with st.spinner("Timing each layer at seven lengths, at most 5 seconds …"):
            times[sizes] = _times(sizes, device)
        st.rerun()


@keep(64)
def _times(sizes: Sizes, device: str) -> Measured:
    return measure(sizes, torch.device(device))


PAGE = Page(
    "why_attention",
    "Why attention",
    "Learn",
    12,
    draw,
    shows="nothing",
    exhibits=lambda pane: cost_exhibits(*sizes_on(pane), None),
    lesson="why-attention",
    invites="Play with the costs of layers, at any length and size",
    subject="The cost of attention beside that of recurrence and convolution",
)
