"""A score of the first layer, taken apart: what is content in it, and what is position."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor

from transformer.analysis.reading import strongest_weight
from transformer.analysis.score_terms import (
    CONTENT,
    FOUR,
    POSITION,
    NoTerms,
    ScoreTerms,
    score_terms,
)
from transformer.analysis.tables import Sides
from transformer.refusal import visible
from transformer.token import Token
from viz.app_packages import st
from viz.components.kit.picture import NothingLeft
from viz.exhibits.exhibit import Exhibit
from viz.figures.positions import Part, score_split
from viz.labels import in_word, in_words, kind_title, literal, number
from viz.run.line import Runner
from viz.run.request import Request, answer
from viz.run.work import Growth, Study
from viz.state.focus import pin_cell, pinned_cell
from viz.state.page import Pane
from viz.state.state import change, widget
from viz.ui.progress import whole
from viz.ui.save_menu import offer_figures
from viz.ui.showing import show

TITLE = "**Content and position in one score**"
FIRST_LAYER = (
    "Only the first layer of self-attention reads embeddings and positions themselves: later ones "
    "read what layers before have mixed."
)
EXACT = "Exact: no norm stands between the embeddings and this attention."
FROZEN = (
    "With the norm frozen: the deviation by which the norm before this attention divides each word "
    "is taken as it is in this run."
)
ONLY_CONTENT = (
    "This model adds no encodings to its words: the product is of contents only. Rotary positions "
    "act inside of it, by turning query and key; a bias of distance is added to it."
)


Result = ScoreTerms | NoTerms


@dataclass(frozen=True)
class Terms(Study[Result]):
    """The terms of a head of the first layer, or why there are none.

    A model that is not ours is run five times.
    """

    request: Request
    kind: str
    head: int

    def run(self, before: Result | None, runner: Runner) -> Iterator[Result]:
        plain = answer(self.request, runner)
        choices = (plain.recording, self.kind, self.head, self.request.edits)
        result: Result
        with runner.turn(plain.checkpoint.model):
            try:
                result = score_terms(plain.checkpoint, *choices)
            except NoTerms as error:
                result = error
        yield result


def draw_terms(growth: Growth[Result] | None, pane: Pane) -> None:
    """The terms of one score of the chosen head, with the edits in force. growth: as declared."""
    if growth is None:
        _elsewhere(pane)
        return
    result = whole(growth.study, st.empty())
    if result is None:
        return
    try:
        exhibit = growth.exhibit(result)
    except NothingLeft as reason:
        st.markdown(TITLE)
        st.caption(literal(str(reason)))
        return
    _choose_cell(pane)
    show(exhibit, "score")
    st.caption(literal(exhibit.says))
    offer_figures(pane, {"score": exhibit})


def terms_exhibits(pane: Pane) -> dict[str, Growth[Result]]:
    """Declare the exhibit of a score's terms; none of a head that is not of the first layer."""
    selection = pane.selection
    if selection.attention(pane.recording).is_cross or selection.layer > 0:
        return {}
    study = Terms(pane.answer.request, selection.kind, selection.head)
    return {"score": Growth("The terms", study, partial(_exhibit, pane), is_main=False)}


def _exhibit(pane: Pane, terms: Result) -> Exhibit:
    """Raises NothingLeft where the score has no terms."""
    if isinstance(terms, NoTerms):
        raise NothingLeft(str(terms))
    query, key = _cell(pane)
    attention = pane.selection.attention(pane.recording)
    named = {
        CONTENT: (in_word(attention.queries, query), in_word(attention.keys, key)),
        POSITION: (f"position {query}", f"position {key}"),
    }
    allowed, sides = attention.allowed(0, pane.selection.head), Sides(attention)
    parts = {place: _part(term, query, key, allowed) for place, term in terms.four.items()}
    more = _more(terms, query, key)
    score = float(terms.score[query, key])
    place = f"{kind_title(pane.selection.kind)} {pane.selection.name(pane.recording)}"
    tokens = " and key ".join(f"“{each}”" for each in named[CONTENT])
    return Exhibit(
        f"Content and position in one score of {place}, query {tokens}",
        score_split(parts, named, more, score, (sides.query(query), sides.key(key))),
        _summary(terms, bool(allowed[query, key])),
        is_main=False,
        pane=pane,
    )


def _elsewhere(pane: Pane) -> None:
    """Say why these scores are not taken apart, and offer some that are."""
    st.markdown(TITLE)
    st.caption(FIRST_LAYER)
    attentions, selection = pane.recording.attentions, pane.selection
    kinds = [kind for kind, each in attentions.items() if not each.is_cross]
    if not kinds:
        return
    kind = selection.kind if selection.kind in kinds else kinds[0]
    head = min(selection.head, attentions[kind].n_heads - 1)
    title = f"{kind_title(kind)} L{attentions[kind].number(0)} H{head}"
    st.button(
        f"Show {literal(title)}",
        on_click=change,
        kwargs={"kind": kind, "layer": 0, "head": head},
    )


def _choose_cell(pane: Pane) -> None:
    attention, cell = pane.selection.attention(pane.recording), _cell(pane)
    queries, keys = attention.queries, attention.keys
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(TITLE, width="content")
        _choose("Query", queries, cell[0], lambda new: pin_cell(pane, new, cell[1]))
        _choose("Key", keys, cell[1], lambda new: pin_cell(pane, cell[0], new))


def _cell(pane: Pane) -> tuple[int, int]:
    """Query and key: those of the cell that is open or pinned, else of the largest weight."""
    selection = pane.selection
    attention = selection.attention(pane.recording)
    sides = range(len(attention.queries)), range(len(attention.keys))
    return pinned_cell(pane) or strongest_weight(attention, selection.layer, selection.head, *sides)


def _choose(title: str, tokens: Sequence[Token], chosen: int, choose: Any) -> None:
    names = [f"{i} {word}" for i, word in enumerate(in_words(tokens))]
    callback = widget(f"term {title}", chosen, choose)
    look: Any = {"format_func": lambda i: visible(names[i]), "width": 140}
    look["label_visibility"] = "collapsed"
    st.selectbox(title, range(len(names)), chosen, **look, **callback)


def _part(term: Tensor, query: int, key: int, allowed: Tensor) -> Part:
    cells = term[query][allowed[query]]
    return Part(float(term[query, key]), float(cells.std(correction=0)) if len(cells) else 0.0)


def _more(terms: ScoreTerms, query: int, key: int) -> Mapping[str, float]:
    """Return the rest of the score; a bias of distance and edits only where there are some."""
    more = {"biases": float(terms.biases[query, key])} if len(terms.four) == len(FOUR) else {}
    if bool(terms.others.abs().max() > _ROUNDING):
        more["bias of distance and edits"] = float(terms.others[query, key])
    return more


_ROUNDING = 1e-4
"""The rest that float32 leaves between a recorded score and its product."""


def _summary(terms: ScoreTerms, is_allowed: bool) -> str:
    how = ONLY_CONTENT if len(terms.four) < len(FOUR) else FROZEN if terms.is_frozen else EXACT
    largest = float(terms.score.abs().max())
    closed = "" if is_allowed else " A mask closes this cell: its score meets no softmax."
    return (
        f"{how} A softmax sees what differs between the keys of a row: ± says how much. The sum is "
        f"the recorded score up to {number(terms.error, 0, 'e')}, in cells that reach "
        f"{largest:.0f}.{closed}"
    )
