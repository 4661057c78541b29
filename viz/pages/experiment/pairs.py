"""Pairs of the strongest heads: which of them make up for each other."""

from typing import Any

from transformer.analysis.synergy import Synergy, n_pairs
from viz.exhibits.exhibit import Exhibit
from viz.fields.decode import DecodeFields
from viz.fields.experiment import ExperimentFields
from viz.figures.heads.names import head_name
from viz.figures.pairs_table import PairOff, pairs_table
from viz.pages.experiment.heads import on_explore
from viz.pages.experiment.studies import HeadPairs
from viz.run.growth import Growth
from viz.screen import link
from viz.state.limits import check_text
from viz.state.page import Pane
from viz.ui.controls import choose_one

NUMBERS = (4, 8, 12, 16, 24)
"""The numbers of heads whose pairs are offered."""
SAYS = (
    "Synergy is what both heads lose together less what each loses by itself, in nats of the whole "
    "output. Below 0 one of them makes up for the loss of the other: backup heads (Wang et al. "
    "2022)."
)
TURNS = (
    "Synergy is minus the angle by which the text's vector turns with both heads off, less those "
    "with each of them off, in degrees. Below 0 one of them makes up for the loss of the other: "
    "backup heads (Wang et al. 2022)."
)
CHANGES = (
    "Synergy is the change of the text's number (of several the one that heads change most) with "
    "both heads off, less those with each of them off. Where it is as large as one of these and of "
    "the other sign, one makes up for the loss of the other: backup heads (Wang et al. 2022)."
)
BOTH = (
    "Synergy is the change of both sentences' cosine with both heads off, less those with each of "
    "them off. Below 0 one of them makes up for the loss of the other: backup heads (Wang et al. "
    "2022)."
)


def numbers_of(pane: Pane) -> list[int]:
    """The numbers of heads that the model has."""
    n_heads = sum(each.n_layers * each.n_heads for each in pane.recording.attentions.values())
    return [n for n in NUMBERS if n <= n_heads]


def choose_pairs(pane: Pane) -> None:
    """Let the number of heads be chosen whose pairs are tried; each choice says what it costs."""
    titles = {0: "No pairs"} | {
        n: f"Pairs of {n} strongest: {n_pairs(n)} more runs" for n in numbers_of(pane)
    }
    look: Any = {"width": 300, "label_visibility": "collapsed"}
    n = pane.screen.of(ExperimentFields).sweep_pairs
    choose_one("Pairs", "sweep_pairs", titles, n, as_list=True, **look)


def pairs(pane: Pane, n: int) -> Growth[Synergy]:
    """The pairs of the n heads that are worth most."""
    study = HeadPairs(pane.answer.request, n, second_text(pane))
    return Growth("Pairs", study, lambda value: _exhibit(value, pane))


def _exhibit(synergy: Synergy, pane: Pane) -> Exhibit:
    return Exhibit("Pairs of heads (ablation)", pairs_table(_rows(synergy, pane)), says(pane))


def says(pane: Pane) -> str:
    """Say what synergy is, in the unit of this model's output."""
    if pane.recording.numbers:
        return CHANGES
    if pane.recording.vector is None:
        return SAYS
    return BOTH if second_text(pane) else TURNS


def second_text(pane: Pane) -> str:
    """Return Decode's second sentence, where the model gives vectors. Raises Refusal."""
    text = (pane.screen.of(DecodeFields).second_text or "").strip()
    if not text or pane.recording.vector is None:
        return ""
    check_text(text)
    return text


def _rows(synergy: Synergy, pane: Pane) -> list[PairOff]:
    rows = [
        PairOff(
            " + ".join(head_name(edit.at_head, pane.recording) for edit in two),
            link(on_explore(pane.screen, *two)),
            together,
            apart,
        )
        for two, together, apart in zip(
            synergy.pairs, synergy.together.tolist(), synergy.apart.tolist(), strict=True
        )
    ]
    return sorted(rows, key=lambda row: row.synergy)
