"""The search for what a step would need to write another word: on Decode, kept as an experiment.

The search begins when its button is pressed; what it found stays until something else is asked.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from transformer.analysis.needed import Head, Needed, needed
from transformer.analysis.tables import Sides
from transformer.decoding.decode import decode
from transformer.decoding.steps import Step
from transformer.refusal import Refusal, visible
from transformer.token import Candidate, Token
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.figures.tables import chart
from viz.labels import in_place, in_word, kind_name, kind_title, literal, percent
from viz.run.line import Runner
from viz.run.request import Request, answer
from viz.run.work import Study
from viz.state.changing import add
from viz.state.page import Pane
from viz.state.state import note, session
from viz.ui.progress import grow
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show

TITLE = "What would it have to look at to write another word?"
MOST_SAID = 8
"""Heads whose rows are said in words."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """Rows that make a token the most probable one of a step, and what is written with them."""

    needs: Needed
    text: str
    """The sentence by the decoding in use, under the edits; empty: no row has to change."""
    writes_it: bool
    """True: it has the token at this step, behind the same tokens. Beam search may leave it."""


@dataclass(frozen=True)
class AnotherWord(Study[Outcome]):
    """The least change of rows that makes a step write another token."""

    request: Request
    step: int
    token_id: int
    heads: tuple[Head, ...]

    def run(self, before: Outcome | None, runner: Runner) -> Iterator[Outcome]:
        request, reading = self.request, answer(self.request, runner)
        at = (request.text, reading.recording.target, self.step, self.token_id, self.heads)
        steps = runner.steps(reading.checkpoint.model)
        with steps.one():
            needs = needed(reading.checkpoint, *at, on_step=steps.give_way, edits=request.edits)
            if not needs.edits:
                result = Outcome(needs, "", writes_it=False)
            else:
                edits = (*request.edits, *needs.edits)
                choices: dict[str, Any] = dict(request.options) | {"edits": edits}
                choices |= request.decided_before(self.step)
                by = (request.text, request.method)
                written = decode(reading.checkpoint, *by, on_step=steps.give_way, **choices)
                wanted = (*reading.recording.target[: self.step], needs.token)
                is_written = written.target[: self.step + 1] == wanted
                result = Outcome(needs, written.text, is_written)
        yield result


@dataclass
class Search:
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
        before = pane.recording.target[:step]
        choices = _choices(pane, layer, head)
        if not others:
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            wanted = st.selectbox(
                "Word",
                others,
                format_func=lambda it: visible(_named(before, it)),
                key="needed word",
                width=240,
            )
            chosen = st.selectbox("Heads that may look elsewhere", choices, width=300)
            heads = choices[chosen]
            search = AnotherWord(pane.answer.request, step, wanted.token.id, heads)
            st.button("Find it", on_click=_ask, args=(search,))
        if session().of(Search).study == search:
            _answer(pane, top, search)


def _named(before: Sequence[Token], candidate: Candidate) -> str:
    return f"{in_place(before, candidate.token)}, {percent(candidate.prob)}"


def _choices(pane: Pane, layer: int, head: int) -> dict[str, tuple[Head, ...]]:
    """Return the heads of each choice of the control."""
    choices: dict[str, tuple[Head, ...]] = {}
    for kind in ("cross", "decoder_self"):
        attention = pane.recording.attentions.get(kind)
        if attention is None:
            continue
        every = [(kind, i, j) for i in range(attention.n_layers) for j in range(attention.n_heads)]
        number = attention.number(layer)
        choices[f"All heads of {kind_name(kind)}"] = tuple(every)
        choices[f"{kind_title(kind)} L{number}"] = tuple(it for it in every if it[1] == layer)
        choices[f"{kind_title(kind)} L{number} H{head}"] = ((kind, layer, head),)
    return choices


def _ask(search: AnotherWord) -> None:
    session().of(Search).study = search


def _answer(pane: Pane, top: Candidate, search: AnotherWord) -> None:
    before = pane.recording.target[: search.step]
    try:
        result = grow(search, lambda result: _show(result, pane, before, top.token)).latest
    except Refusal as error:
        note(error)
        return
    needs = None if result is None else result.needs
    if needs is not None and needs.rows:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Keep it as an experiment", on_click=add, args=needs.edits)
            download(
                "Rows as CSV",
                lambda: rows_csv(_cells(needs, pane)),
                "headscope-needed.csv",
                "What each head looks at, and what it would have to look at",
            )
            for_a_paper(pane, {"needed": _exhibit(needs, pane)}, "paper needed")


def _show(result: Outcome, pane: Pane, before: Sequence[Token], top: Token) -> None:
    needs = result.needs
    word, other = (in_place(before, token) for token in (needs.token, top))
    n, was, now = len(needs.rows), needs.before.probability, needs.after.probability
    if not needs.reached:
        st.markdown(
            f"Nothing was found for these heads to look at that makes “{literal(word)}” the most "
            f"probable word: the closest is {-needs.gap:.2f} below the best, in logits."
        )
        return
    if not n:
        st.markdown(f"“{literal(word)}” is the most probable word already.")
        return
    heads = "1 head" if n == 1 else f"{n:d} heads"
    st.markdown(
        f"To write “{literal(word)}” in place of “{literal(other)}”, {heads} would have to look "
        f"elsewhere, {needs.divergence:.2f} nats in all; checked by a run: "
        f"{literal(percent(now))}, before {literal(percent(was))}. {_written(result)}"
    )
    show(_exhibit(needs, pane), TITLE)


def _written(result: Outcome) -> str:
    """Say what becomes of the sentence: the most probable word of a step need not be written."""
    text = f"“{literal(result.text)}”"
    if result.writes_it:
        return f"Decoded so, the text is {text}."
    return (
        f"The decoding in use leaves the word all the same: {text}. Pin the word in its place and "
        "type this one below its card, to find what writes it."
    )


def _exhibit(needs: Needed, pane: Pane) -> Exhibit:
    names, keys = _names(needs, pane), _keys(needs, pane)
    return Exhibit(
        "Rows that another word would need",
        chart(needs, names, keys, _sides(needs, pane)),
        _seen(needs, names, keys),
        can_be_made_again=False,
    )


def _seen(needs: Needed, names: Sequence[str], keys: Sequence[Token]) -> str:
    """The figure in words: where each head looks most, now and then."""
    sentences = []
    for name, row in zip(names[:MOST_SAID], needs.rows, strict=False):
        now, then = (in_word(keys, int(each.argmax())) for each in (row.before, row.after))
        shares = (percent(float(each.max())) for each in (row.before, row.after))
        sentences.append(
            "{} looks most at “{}” ({}), needed “{}” ({})".format(
                name, *(it for pair in zip((now, then), shares, strict=True) for it in pair)
            )
        )
    n = len(names) - MOST_SAID
    more = f"; and {n} more" if n > 0 else ""
    return f"Heat map, two rows per head. {'; '.join(sentences)}{more}."


def _names(needs: Needed, pane: Pane) -> list[str]:
    attentions = pane.recording.attentions
    return [
        f"L{attentions[row.edit.place].number(row.edit.layer)}H{row.edit.head}"
        for row in needs.rows
    ]


def _keys(needs: Needed, pane: Pane) -> tuple[Token, ...]:
    """The tokens of the columns; all rows are of one kind."""
    row = needs.rows[0]
    return pane.recording.attentions[row.edit.place].keys[: len(row.before)]


def _sides(needs: Needed, pane: Pane) -> Sides:
    return Sides(pane.recording.attentions[needs.rows[0].edit.place])


def _cells(needs: Needed, pane: Pane) -> list[dict[str, object]]:
    sides = _sides(needs, pane)
    return [
        {
            **{"kind": row.edit.place, "layer": row.edit.layer, "head": row.edit.head},
            **sides.query(row.edit.query),
            **sides.key(key),
            **{"before": float(row.before[key]), "after": float(row.after[key])},
        }
        for row in needs.rows
        for key in range(len(row.before))
    ]
