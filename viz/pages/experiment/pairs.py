"""Pairs of the strongest heads: which of them make up for each other."""

from typing import Any

import streamlit as st

from transformer.analysis.synergy import Synergy, n_pairs
from viz.exhibits.exhibit import Exhibit
from viz.fields.experiment import ExperimentFields
from viz.figures.pairs_table import PairOff, pairs_table
from viz.pages.experiment.heads import head_name, on_explore
from viz.pages.experiment.studies import HeadPairs
from viz.run.work import finish
from viz.screen import link
from viz.state.page import Pane
from viz.ui.controls import choose_one
from viz.ui.progress import grow
from viz.ui.saving import for_a_paper
from viz.ui.showing import show

NUMBERS = (4, 8, 12, 16, 24)
"""Of heads whose pairs are offered."""
SAYS = (
    "Synergy is what both heads lose together less what each loses by itself, in nats of the whole "
    "output. Below 0 one of them makes up for the loss of the other: backup heads (Wang et al. "
    "2022)."
)


def choose_pairs(pane: Pane) -> int:
    """Of how many heads all pairs are tried; each choice says what it costs."""
    n_heads = sum(each.n_layers * each.n_heads for each in pane.recording.attentions.values())
    titles = {0: "No pairs"} | {
        n: f"Pairs of {n} strongest: {n_pairs(n)} more runs" for n in NUMBERS if n <= n_heads
    }
    look: Any = {"width": 300, "label_visibility": "collapsed"}
    said = pane.screen.of(ExperimentFields).sweep_pairs
    return choose_one("Pairs", "sweep_pairs", titles, said, as_list=True, **look)


def pairs(pane: Pane, n: int) -> None:
    """The pairs of the n heads that are worth most."""
    work = grow(HeadPairs(pane.answer.request, n), lambda known: _table(known, pane))
    if work.is_whole and work.latest is not None:
        for_a_paper(pane, {"pairs": _exhibit(work.latest, pane)}, "paper pairs")


def pairs_exhibits(pane: Pane, n: int) -> dict[str, Exhibit]:
    """What can be taken along of the pairs of n heads, each of which is tried first."""
    if n not in NUMBERS:
        return {}
    return {"pairs": _exhibit(finish(HeadPairs(pane.answer.request, n)), pane)}


def _exhibit(known: Synergy, pane: Pane) -> Exhibit:
    return Exhibit("Pairs of heads (ablation)", pairs_table(_rows(known, pane)), SAYS)


def _rows(known: Synergy, pane: Pane) -> list[PairOff]:
    rows = [
        PairOff(
            " + ".join(head_name(edit, pane.recording) for edit in two),
            link(on_explore(pane.screen, *two)),
            together,
            apart,
        )
        for two, together, apart in zip(
            known.pairs, known.together.tolist(), known.apart.tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row.synergy)


def _table(known: Synergy, pane: Pane) -> None:
    st.caption(SAYS)
    show(_exhibit(known, pane), "pairs")
