"""Sweep: every head off, one at a time, and what that does to each word of the output."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from transformer.analysis.ablation import Ablation
from transformer.analysis.scored import output_read
from transformer.analysis.tables import judged_groups
from transformer.edits import Edit
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.export import sweep_rows
from viz.figures.sweeps import LINE_BREAK, TOTAL, Order, measure_of, rows_of_heads, sweep_table
from viz.labels import counted, decimals_of, kind_title, literal, signed
from viz.page_fields import ExperimentFields
from viz.pages.sweep.sentences import (
    SENTENCE_ROWS,
    choose_pairs,
    choose_sentences,
    left_out,
    means,
    measured,
    numbers_of,
    pairs,
    says,
    second_text,
)
from viz.pages.sweep.studies import HeadAblation, asks, on_explore
from viz.run.work import Growth
from viz.screen import link, put
from viz.state.page import Pane
from viz.state.requests import searched
from viz.ui.controls import choose_one
from viz.ui.experiment import say_unchanged
from viz.ui.parts import Part, Rows

TITLE = "The sweep follows"
SAYS = "An intervention: every head off, one at a time."
CSV, FILE = "Sweep as CSV", "headscope-sweep.csv"
ALL = "All"
OF_SEARCH = "Heads are off in what the search chose itself, not in the hypothesis shown above."


def _own(pane: Pane) -> ExperimentFields:
    return pane.screen.of(ExperimentFields)


def _choose(pane: Pane) -> None:
    """Let be chosen what is swept and which rows are shown, and say what is special about it."""
    own, kinds = _own(pane), list(pane.recording.attentions)
    say_unchanged(pane.screen)
    with st.container(horizontal=True, vertical_alignment="center", key="sweep choices"):
        look: Any = {"label_visibility": "collapsed"}
        titles = {"sentence": "This sentence", "sentences": "Several sentences"}
        over = choose_one("Over", "sweep_over", titles, own.sweep_over, **look)
        if len(kinds) > 1:
            titles = {"all": ALL} | {kind: kind_title(kind) for kind in kinds}
            choose_one("Heads", "sweep_kind", titles, own.sweep_kind, **look)
        if over == "sentences":  # a table of one column has no heads to click
            titles = {"change": "By total change", "layer": "By layer"}
            look |= {"as_list": True, "width": 220}
            choose_one("Sorted", "sweep_sort", titles, own.sweep_sort, **look)
        else:
            choose_pairs(pane)
    if over == "sentences":
        choose_sentences(pane)
    elif pane.request == pane.answer.request:
        if pane.answer.request.branch:
            st.caption(OF_SEARCH)
        if second := second_text(pane):
            st.caption(literal(f"Compared with Decode's second sentence: “{second}”"))


def _exhibits(pane: Pane) -> dict[str, Growth[Any]]:
    """The heads of one kind, or of all, and perhaps their pairs; or their means over sentences.

    Raises Refusal.
    """
    own, kinds, pane = _own(pane), list(pane.recording.attentions), searched(pane)
    kinds = [own.sweep_kind] if own.sweep_kind in kinds else kinds
    if own.sweep_over == "sentences":
        return {"means": means(pane, kinds, own.sweep_sort)}
    study, n = HeadAblation(pane.answer.request, second_text(pane)), own.sweep_pairs
    exhibit = partial(_exhibit, pane, _words(pane), kinds)
    sweep = Growth(TITLE, study, exhibit, is_enough=lambda ablation: ablation.is_measured)
    return {"sweep": sweep} | ({"pairs": pairs(pane, n)} if n in numbers_of(pane) else {})


def _words(pane: Pane) -> list[str]:
    """The words of the output, the classes, the numbers, a masked model's tokens, or the vector.

    Raises Refusal where there is nothing of these.
    """
    if pane.answer.decoding is not None:
        return [word.text.strip() or LINE_BREAK for word in pane.recording.target_words]
    output = output_read(pane.checkpoint, pane.answer.request.text, pane.recording)
    if output.classes or output.numbers:
        return list(output.classes or output.numbers)
    if output.vector is not None:
        return ["the cosine" if second_text(pane) else "the vector"]
    return output.texts_of(output.words)


def _exhibit(pane: Pane, words: Sequence[str], kinds: Sequence[str], ablation: Ablation) -> Exhibit:
    orders = ["layer", "change", *(f"word {i}" for i in range(len(words)))]  # as columns stand
    sort = _own(pane).sweep_sort
    sort = sort if sort in orders else "change"
    address = partial(_on_explore, pane)
    rows = rows_of_heads(ablation, pane.recording, kinds, sort, address)
    sweep, output = ablation.sweep, ablation.sweep.output
    number = sweep.judged_number if len(output.numbers) > 1 else ""
    measure = measure_of(output)
    text = f"One head is off in each row ({len(rows):,}): {measure.says}"
    if rows:
        most = max(rows, key=lambda row: abs(row.total))
        change = signed(most.total, decimals_of(most.total))
        whole = f"“{number}”" if number else "the whole output"
        text += f", in {measure.unit}. {most.title} changes {whole} most, by {change}"
    if output.second:
        text += f". The second sentence is “{output.second}”"
    origins = judged_groups(output, pane.recording)
    total = f"most changed: {number}" if number else TOTAL
    order = Order(orders.index(sort), [link(put(pane.screen, sweep_sort=it)) for it in orders])
    table = sweep_table(rows, words, measure, origins, total, order)
    if n := len(sweep.refused):
        off = f"{counted(n, 'head', 'heads')} cannot be switched off: {sweep.refused[0]}"
        table = replace(table, foot=off)
    return Exhibit("Sweep of heads (ablation)", table, text, pane=pane)


def _on_explore(pane: Pane, edit: Edit) -> str:
    return link(on_explore(pane.screen, edit))


def _files(pane: Pane) -> dict[str, Rows]:
    recording = searched(pane).recording

    def make(ablation: Ablation) -> list[dict[str, str]]:
        written = {edit: " ".join(words) for edit, words in ablation.written.items()}
        return sweep_rows(ablation.sweep, recording, written)

    help = "One row per head and word"
    of_sweep = Rows(CSV, FILE, help, make)
    return {"sweep": of_sweep, "means": SENTENCE_ROWS}


SWEEP = Part(
    "Sweep (head ablation)",
    _exhibits,
    rows=_files,
    above={
        "means": lambda pane: st.caption(measured(pane)[1]),
        "pairs": lambda pane: st.caption(says(pane)),
    },
    below=lambda pane, value: left_out(pane, value) if _own(pane).sweep_over == "sentences" else "",
    says=SAYS,
    words=("ablation", "intervention"),
    ahead=_choose,
    grows=True,
    asks=asks,
)
