"""Sweep: every head off, one at a time, and what that does to each word of the output."""

from collections.abc import Sequence
from typing import Any

from transformer.analysis.ablation import Ablation, Sweep
from transformer.analysis.scored import exchanged, output_read
from transformer.analysis.tables import judged_at, together
from transformer.edits import Edit
from transformer.recording import Recording
from transformer.refusal import Refusal
from transformer.words import word_piece, words_of
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.table import Change
from viz.export import sweep_csv
from viz.fields.fields import ExperimentFields
from viz.figures.heads.all_heads import head_name
from viz.figures.sweeps import CLASSES, MEASURES, WORDS, HeadOff, Order, sweep_table
from viz.labels import counted, decimals_of, kind_title, literal, signed
from viz.pages.experiment.sentences import (
    choose_pairs,
    choose_sentences,
    means,
    numbers_of,
    over_sentences,
    pairs,
    says,
    second_text,
)
from viz.pages.experiment.studies import HeadAblation, ask, is_asked, on_explore
from viz.run.work import Growth
from viz.screen import link, put
from viz.state.page import Pane
from viz.state.requests import searched
from viz.state.state import note
from viz.ui.controls import choose_one
from viz.ui.experiment import say_unchanged
from viz.ui.progress import begin, grow, is_written
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show, show_growth

OF_SEARCH = "Heads are off in what the search chose itself, not in the hypothesis shown above."


def sweep_page(pane: Pane) -> None:
    """The grid of all heads, sorted and filtered as is chosen; or their means over sentences."""
    say_unchanged(pane.screen)
    try:
        with st.container(horizontal=True, vertical_alignment="center", key="sweep choices"):
            over = _choose_over(pane)
            _choose_kinds(pane)
            if over == "sentences":
                _choose_sort(pane)
            if over == "sentence":
                choose_pairs(pane)
        if over == "sentences":
            choose_sentences(pane)
            over_sentences(pane, sweep_exhibits(pane)["means"])
        elif is_written(pane, "The sweep follows"):
            if pane.answer.request.branch:
                st.caption(OF_SEARCH)
            _over_the_sentence(searched(pane), **sweep_exhibits(pane))
    except Refusal as error:
        note(error)


def _over_the_sentence(
    pane: Pane, sweep: Growth[Ablation], pairs: Growth[Any] | None = None
) -> None:
    if second := second_text(pane):
        st.caption(literal(f"Compared with Decode's second sentence: “{second}”"))
    if not is_asked(pane, sweep.study):
        ask(pane)
        return
    latest = begin(sweep.study).latest
    is_measured = latest is not None and latest.is_measured

    def draw(ablation: Ablation) -> None:
        if ablation.is_measured and not is_measured:
            st.rerun()  # what follows below needs all of it
        _grid(ablation, sweep.exhibit(ablation), pane.recording)

    grow(sweep.study, draw)
    if latest is None or not is_measured:
        return
    for_a_paper(pane, {"sweep": sweep.exhibit(latest)}, "paper sweep")
    if pairs is not None:
        st.caption(says(pane))
        show_growth(pane, pairs, "pairs")


def _choose_over(pane: Pane) -> str:
    titles = {"sentence": "This sentence", "sentences": "Several sentences"}
    choice = pane.screen.of(ExperimentFields).sweep_over
    return choose_one("Over", "sweep_over", titles, choice, label_visibility="collapsed")


def _columns(pane: Pane) -> list[str]:
    """The words of the output, the classes, the numbers, a masked model's tokens, or the vector.

    Raises Refusal where there is nothing of these.
    """
    if pane.answer.decoding is not None:
        return [word.strip() or "⏎" for word in words_of(pane.recording.target)]
    output = output_read(pane.checkpoint, pane.request.text, pane.recording)
    if output.classes or output.numbers:
        return list(output.classes or output.numbers)
    if output.vector is not None:
        return ["the cosine" if second_text(pane) else "the vector"]
    return [word_piece([output.words[i] for i in group]).strip(" ▁") for group in output.groups]


def sweep_exhibits(pane: Pane) -> dict[str, Growth[Any]]:
    """Declare the exhibits of all heads, each of which is tried first. Raises Refusal."""
    own = pane.screen.of(ExperimentFields)
    kinds = list(pane.recording.attentions)
    kinds = [own.sweep_kind] if own.sweep_kind in kinds else kinds
    pane = searched(pane)
    words = _columns(pane) if own.sweep_over == "sentence" else []
    sort = own.sweep_sort if own.sweep_sort in _orders(words) else "change"
    if own.sweep_over == "sentences":
        return {"means": means(pane, kinds, sort)}
    study = HeadAblation(pane.answer.request, second_text(pane))
    sweep = Growth("Sweep", study, lambda value: _exhibit(value, pane, words, kinds, sort))
    n = own.sweep_pairs
    return {"sweep": sweep} | ({"pairs": pairs(pane, n)} if n in numbers_of(pane) else {})


def _choose_kinds(pane: Pane) -> None:
    kinds = list(pane.recording.attentions)
    if len(kinds) > 1:
        titles = {"all": "All"} | {kind: kind_title(kind) for kind in kinds}
        choice = pane.screen.of(ExperimentFields).sweep_kind
        choose_one("Heads", "sweep_kind", titles, choice, label_visibility="collapsed")


def _orders(words: Sequence[str]) -> list[str]:
    """The orders of the rows, in the order of the columns whose heads choose them."""
    return ["layer", "change", *(f"word {i}" for i in range(len(words)))]


def _choose_sort(pane: Pane) -> None:
    """Over several sentences: a table of one column has no heads to click."""
    titles = {"change": "By total change", "layer": "By layer"}
    look: Any = {"width": 220, "label_visibility": "collapsed"}
    choice = pane.screen.of(ExperimentFields).sweep_sort
    choose_one("Sorted", "sweep_sort", titles, choice, as_list=True, **look)


def _grid(ablation: Ablation, exhibit: Exhibit, recording: Recording) -> None:
    show(exhibit, "sweep")
    if ablation.sweep.refused:
        n = len(ablation.sweep.refused)
        st.caption(
            literal(
                f"{counted(n, 'head', 'heads')} cannot be switched off: {ablation.sweep.refused[0]}"
            )
        )
    written = {edit: " ".join(each) for edit, each in ablation.written.items()}
    download(
        "Sweep as CSV",
        lambda: sweep_csv(ablation.sweep, recording, written),
        "headscope-sweep.csv",
        "One row per head and word",
    )


def _exhibit(
    ablation: Ablation, pane: Pane, words: Sequence[str], kinds: Sequence[str], sort: str
) -> Exhibit:
    rows = _rows(ablation, pane, kinds, sort)
    output = ablation.sweep.output
    number = ablation.sweep.judged_number if len(output.numbers) > 1 else ""
    measure = MEASURES.get(output.unit) or (CLASSES if output.classes else WORDS)
    text = f"One head is off in each row ({len(rows):,}): {measure.says}"
    if rows:
        most = max(rows, key=lambda row: abs(row.total))
        change = signed(most.total, decimals_of(most.total))
        whole = f"“{number}”" if number else "the whole output"
        text += f", in {measure.unit}. {most.title} changes {whole} most, by {change}"
    if output.second:
        text += f". The second sentence is “{output.second}”"
    judged = judged_at(output, pane.recording)
    origins = [together([judged[i] for i in group]) for group in output.groups]
    total = f"most changed: {number}" if number else "total"
    orders = _orders(words)
    links = [link(put(pane.screen, sweep_sort=each)) for each in orders]
    order = Order(orders.index(sort), links)
    table = sweep_table(rows, words, measure, origins, total, order)
    return Exhibit("Sweep of heads (ablation)", table, text)


def _rows(ablation: Ablation, pane: Pane, kinds: Sequence[str], sort: str) -> list[HeadOff]:
    sweep, plain = ablation.sweep, ablation.plain
    rows = [
        (edit, changes, total)
        for edit, changes, total in zip(
            sweep.edits, _by_word(sweep), sweep.totals.tolist(), strict=True
        )
        if edit.place in kinds
    ]
    if sort == "change":
        rows.sort(key=lambda row: row[2])
    elif sort != "layer":
        word = int(sort.removeprefix("word "))
        rows.sort(key=lambda row: row[1][word])
    before = [None, *((edit.place, edit.layer) for edit, _, _ in rows)]
    return [
        HeadOff(
            head_name(edit.at_head, pane.recording),
            link(on_explore(pane.screen, edit)),
            changes,
            total,
            is_first=sort == "layer" and last is not None and last != (edit.place, edit.layer),
            written=_written(ablation, edit, plain),
        )
        for (edit, changes, total), last in zip(rows, before, strict=False)
    ]


def _by_word(sweep: Sweep) -> list[list[float]]:
    """[N][W]: of a word, the sum over its pieces."""
    changes: list[list[float]] = sweep.changes.tolist()
    groups = sweep.output.groups
    return [[sum(row[i] for i in group) for group in groups] for row in changes]


def _written(ablation: Ablation, edit: Edit, plain: Sequence[str]) -> tuple[Change, ...] | None:
    words = ablation.written.get(edit)
    if words is None:
        return None
    return tuple(Change(" ".join(old), " ".join(new)) for old, new in exchanged(plain, words))
