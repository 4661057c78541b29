"""What a step would have to look at to write another word: asked on Decode, kept as an experiment.

The search begins when its button is pressed; what it found stays until something else is asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import streamlit as st

from transformer.analysis.needed import Needed, needed
from transformer.analysis.row_pass import Head
from transformer.decoding.steps import Candidate, Step
from transformer.refusal import Refusal
from transformer.tokenizer import Token
from transformer.visible import visible
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.figures import needed_rows
from viz.labels import bare_label, kind_name, kind_title, literal, percent
from viz.run.batches import Runner
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.state.changing import add
from viz.state.note import note
from viz.state.page import Pane
from viz.state.state import session
from viz.ui.progress import grow
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show

TITLE = "What would it have to look at to write another word?"
MOST_SAID = 8
"""Heads whose rows are said in words."""


@dataclass(frozen=True)
class AnotherWord(Study[Needed]):
    """The least change of rows that makes a step write another token."""

    request: Request
    step: int
    token_id: int
    heads: tuple[Head, ...]

    def run(self, before: Needed | None, runner: Runner) -> Iterator[Needed]:
        request, shown = self.request, answer(self.request, runner)
        at = (request.text, shown.recording.target, self.step, self.token_id, self.heads)
        steps = runner.steps(shown.checkpoint.model)
        with steps.one():
            found = needed(shown.checkpoint, *at, on_step=steps.give_way, edits=request.edits)
        yield found


@dataclass
class Asked:
    """The study whose button was pressed last."""

    study: AnotherWord | None = None


def other_word(pane: Pane, step: int, at: Step, layer: int, head: int) -> None:
    """The question, and its answer once it is asked. layer, head: those that the page shows."""
    with st.expander(TITLE):
        if pane.checkpoint.family.is_watched:
            st.caption(
                "This is found by gradients through a model that is built here; this one runs as "
                "its own code says, which gives no gradient of its attention."
            )
            return
        top, *others = at.candidates
        choices = _choices(pane, layer, head)
        if not others:
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            wanted = st.selectbox("Word", others, format_func=_named, key="needed word", width=240)
            chosen = st.selectbox("Heads that may look elsewhere", choices, width=300)
            heads = choices[chosen]
            asked = AnotherWord(pane.answer.request, step, wanted.token.id, heads)
            st.button("Find it", on_click=_ask, args=(asked,))
        if session().of(Asked).study == asked:
            _answer(pane, top, asked)


def _named(candidate: Candidate) -> str:
    return visible(f"{bare_label(candidate.token)}, {percent(candidate.prob)}")


def _choices(pane: Pane, layer: int, head: int) -> dict[str, tuple[Head, ...]]:
    """What the control says -> heads."""
    found: dict[str, tuple[Head, ...]] = {}
    for kind in ("cross", "decoder_self"):
        attention = pane.recording.attentions.get(kind)
        if attention is None:
            continue
        every = [(kind, i, j) for i in range(attention.n_layers) for j in range(attention.n_heads)]
        number = attention.number(layer)
        found[f"All heads of {kind_name(kind)}"] = tuple(every)
        found[f"{kind_title(kind)} L{number}"] = tuple(it for it in every if it[1] == layer)
        found[f"{kind_title(kind)} L{number} H{head}"] = ((kind, layer, head),)
    return found


def _ask(asked: AnotherWord) -> None:
    session().of(Asked).study = asked


def _answer(pane: Pane, top: Candidate, asked: AnotherWord) -> None:
    try:
        found = grow(asked, lambda found: _show(found, pane, top)).latest
    except Refusal as error:
        note(error)
        return
    if found is not None and found.rows:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Keep it as an experiment", on_click=add, args=found.edits)
            download(
                "Rows as CSV",
                lambda: rows_csv(_cells(found, pane)),
                "headscope-needed.csv",
                "What each head looks at, and what it would have to look at",
            )
            for_a_paper(pane, {"needed": _exhibit(found, pane)}, "paper needed")


def _show(found: Needed, pane: Pane, top: Candidate) -> None:
    word, other = bare_label(found.token), bare_label(top.token)
    n, before, after = len(found.rows), found.before.probability, found.after.probability
    if not found.reached:
        st.markdown(
            f"Nothing was found for these heads to look at that makes “{literal(word)}” the most "
            f"probable word: the closest is {-found.gap:.2f} below the best, in logits."
        )
        return
    if not n:
        st.markdown(f"“{literal(word)}” is the most probable word already.")
        return
    heads = "1 head" if n == 1 else f"{n:d} heads"
    st.markdown(
        f"To write “{literal(word)}” in place of “{literal(other)}”, {heads} would have to look "
        f"elsewhere, {found.divergence:.2f} nats in all; checked by a run: "
        f"{literal(percent(after))}, before {literal(percent(before))}."
    )
    show(_exhibit(found, pane), TITLE)


def _exhibit(found: Needed, pane: Pane) -> Exhibit:
    names, keys = _names(found, pane), _keys(found, pane)
    return Exhibit(
        "Rows that another word would need",
        needed_rows.chart(found, names, keys),
        _seen(found, names, keys),
        can_be_made_again=False,
    )


def _seen(found: Needed, names: Sequence[str], keys: Sequence[Token]) -> str:
    """The figure in words: where each head looks most, now and then."""
    said = []
    for name, row in zip(names[:MOST_SAID], found.rows, strict=False):
        now, then = (bare_label(keys[int(each.argmax())]) for each in (row.before, row.after))
        shares = (percent(float(each.max())) for each in (row.before, row.after))
        said.append(
            "{} looks most at “{}” ({}), needed “{}” ({})".format(
                name, *(it for pair in zip((now, then), shares, strict=True) for it in pair)
            )
        )
    n = len(names) - MOST_SAID
    more = f"; and {n} more" if n > 0 else ""
    return f"Heat map, two rows per head. {'; '.join(said)}{more}."


def _names(found: Needed, pane: Pane) -> list[str]:
    attentions = pane.recording.attentions
    return [
        f"L{attentions[row.edit.place].number(row.edit.layer)}H{row.edit.head}"
        for row in found.rows
    ]


def _keys(found: Needed, pane: Pane) -> tuple[Token, ...]:
    """The tokens of the columns; all rows are of one kind."""
    row = found.rows[0]
    return pane.recording.attentions[row.edit.place].keys[: len(row.before)]


def _cells(found: Needed, pane: Pane) -> list[dict[str, object]]:
    return [
        {
            **{"kind": row.edit.place, "layer": row.edit.layer, "head": row.edit.head},
            **{"query": row.edit.query, "key": key, "piece": token.piece},
            **{"before": float(row.before[key]), "after": float(row.after[key])},
        }
        for row in found.rows
        for key, token in enumerate(_keys(found, pane))
    ]
