"""Figures of a search: its hypotheses, their scores, and texts beside each other."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isclose

import numpy as np

from transformer.analysis.scored import exchanged
from transformer.decoding.reranking import PENALTIES, Base, Tie, leads, score_at, ties
from transformer.refusal import visible
from transformer.token import Token
from transformer.words import text_words
from viz.exhibits.chart import Axis, Bars, Chart, Curve, Ink, Mark, Rule
from viz.exhibits.table import Cell, Change, Column, Row, Table
from viz.labels import label, number, percent
from viz.theme import SERIES

# All finished hypotheses of a search with the parts of their scores side by side.

NAME, DRAWN = "Why this one won", "All texts that were drawn"
IN_ORDER = "in the order of their seeds"
RULED = Column(
    "After the folder’s rules, nats",
    explain="The log-probability after the rules that the model’s folder has for writing.",
)
COVERAGE = Column(
    "Coverage",
    explain="The coverage penalty: low where a source word was read too little (Wu et al. 2016).",
)

LOST = Column("Lost words", explain="Words of the source without a trace in the text.")

OF_RANKS = "What the texts are ranked by: the best is the highest."
OF_DRAWS = "The log-probability over the divisor. Nothing is ranked by it here: chance chose."


@dataclass(frozen=True)
class Ranked:
    """A finished hypothesis, as it is ranked."""

    text: str
    log_prob: float
    """log p(text | source) of the model itself, in nats."""
    ranked_by: float
    """The same after the rules that its folder has for writing: the sum in the score."""
    length: int
    """In tokens, its end included."""
    divisor: float
    coverage: float
    score: float
    n_lost: int | None = None
    """Words of the source that it loses, where that is ranked by first."""


def table(hypotheses: Sequence[Ranked], foot: str, is_drawn: bool = False) -> Table:
    """A row each, and the words in which it differs from the first one.

    is_drawn: chance chose them, and they are in the order of their seeds; else by rank.
    """
    has_coverage = any(each.coverage for each in hypotheses)
    has_rules = any(map(_is_ruled, hypotheses))
    is_judged = any(each.n_lost is not None for each in hypotheses)
    best = text_words(hypotheses[0].text)
    columns = [
        Column("Draw" if is_drawn else "Rank"),
        Column("Text", is_text=True),
        Column("Unlike the first", is_text=True),
        Column(
            "Log-probability, nats",
            explain="The sum over all tokens; an end is one.",
        ),
        *[RULED] * has_rules,
        Column("Length, tokens", explain="An end is one, too."),
        Column(
            "Divisor",
            explain="The length penalty: what the sum before it is divided by.",
        ),
        *[COVERAGE] * has_coverage,
        *[LOST] * is_judged,
        Column("Score", explain=OF_DRAWS if is_drawn else OF_RANKS),
    ]
    rows = [
        Row(
            Cell(str(rank)),
            _cells(each, best, has_rules, has_coverage),
            origin={"text": visible(each.text)},
        )
        for rank, each in enumerate(hypotheses, 1)
    ]
    return Table(DRAWN if is_drawn else NAME, columns, rows, foot=foot)


def _is_ruled(it: Ranked) -> bool:
    """Tell whether rules changed the sum by more than it is exact to."""
    return not isclose(it.log_prob, it.ranked_by, rel_tol=1e-4, abs_tol=1e-3)


def _cells(it: Ranked, best: Sequence[str], has_rules: bool, has_coverage: bool) -> list[Cell]:
    ruled = [Cell(number(it.ranked_by), it.ranked_by)] * has_rules
    coverage = [Cell(number(it.coverage), it.coverage)] * has_coverage
    return [
        Cell(visible(it.text)),
        Cell(changes=tuple(differences(best, it.text))),
        Cell(number(it.log_prob), it.log_prob),
        *ruled,
        Cell(str(it.length), float(it.length)),
        Cell(number(it.divisor, 3), it.divisor),
        *coverage,
        *([] if it.n_lost is None else [Cell(str(it.n_lost), float(it.n_lost))]),
        Cell(number(it.score, 4), it.score),
    ]


def differences(best: Sequence[str], text: str) -> list[Change]:
    """Words of the best text that another one has not, with what stands for them."""
    return [
        Change(visible(" ".join(old)), visible(" ".join(new)))
        for old, new in exchanged(best, text_words(text))
    ]


def says(hypotheses: Sequence[Ranked], is_drawn: bool = False) -> str:
    """The table in a sentence."""
    first, *others = hypotheses
    text = f"“{visible(first.text)}” scores {number(first.score, 4)}"
    if is_drawn:
        n = len(hypotheses)
        count = "One text was drawn." if n == 1 else f"{n} texts were drawn, {IN_ORDER}."
        return f"{count} The first, {text}."
    if not others:
        return f"The only finished hypothesis, {text}."
    second = f"“{visible(others[0].text)}”, {number(others[0].score, 4)}"
    return f"{len(hypotheses)} finished hypotheses. The best, {text}; the next one, {second}."


# The scores of finished hypotheses over the length penalty, with the penalties of ties.

HEIGHT = 330
N_POINTS = 201
"""Points of a curve: one each 0.025, the penalties that a control offers among them."""
MOST_LETTERS = 44
ONLY_RANKED_AGAIN = (
    "This only ranks these texts again: at another penalty the search itself may write others."
)


def chart_penalty_curves(hypotheses: Sequence[Ranked], penalty: float, base: Base) -> Chart:
    """A curve for each hypothesis, by its lead over the one that was written.

    Their scores themselves lie on top of each other. penalty: the one in use.
    """
    at = np.linspace(*PENALTIES, N_POINTS)
    curves = [np.array([score_at(it, float(x), base) for x in at]) for it in hypotheses]
    marks: list[Mark] = [
        Curve(
            _name(hypotheses, i),
            at,
            scores - curves[0],
            i % len(SERIES),
            "{0:.4f}",
            width=3.0 if i == 0 else 1.6,
            more=[(score,) for score in scores.tolist()],
        )
        for i, scores in enumerate(curves)
    ]
    if crossings := ties(hypotheses, base):
        marks.append(_ties(crossings, hypotheses[0], base))
    if PENALTIES[0] <= penalty <= PENALTIES[1]:
        marks.append(Rule(penalty, f"in use: {number(penalty, 2, 'g')}", place="bottom"))
    x = Axis("length penalty", ends=PENALTIES, hover="length penalty {x:.3f}")
    more = " over the length penalty\nonly these texts, ranked again"
    y = Axis("score less that of the first", has_grid=True)
    return Chart("penalty_curves", "Scores", more, x, y, marks, HEIGHT)


def _ties(crossings: Sequence[Tie], first: Ranked, base: Base) -> Curve:
    return Curve(
        "tie",
        [each.penalty for each in crossings],
        [each.score - score_at(first, each.penalty, base) for each in crossings],
        "text",
        "{0} and {1} tie at {x:.4f}",
        width=0,
        point=8,
        is_ring=True,
        more=[(each.below + 1, each.above + 1) for each in crossings],
    )


def first_of_all(hypotheses: Sequence[Ranked], base: Base) -> str:
    """Say which one is first at which penalties."""
    parts = leads(hypotheses, base)
    if len(parts) == 1:
        return f"{parts[0].index + 1} is first at every penalty from 0 to {PENALTIES[1]:g}."
    ranges = [
        f"{each.index + 1} is first from {number(each.start, 4, 'g')} to {number(each.end, 4, 'g')}"
        for each in parts
    ]
    return f"{', '.join(ranges)}."


def _name(hypotheses: Sequence[Ranked], index: int) -> str:
    """The rank of one, and the words in which it differs from the best."""
    text = hypotheses[index].text
    if index:
        changes = differences(text_words(hypotheses[0].text), text)
        text = ", ".join(" → ".join(filter(None, each.parts)) for each in changes) or text
    text = visible(text)
    short = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"
    return f"{index + 1}: {short}"


# A bar per probability, one below the other, from 0 to 1.

ENDS = (0.0, 1.18)
"""With room for the text behind a bar that ends at 1."""


def chart_probability_bars(
    name: str,
    title: tuple[str, str],
    names: Sequence[Token | str],
    probs: Sequence[float],
    best: int,
    logits: Sequence[float] = (),
    origin: Mapping[str, str] | None = None,
) -> Chart:
    """The first one on top. title: words that stand out, and others; best: the one in the accent;
    logits: said of each under the pointer; origin: the token in whose place they stand.
    """
    texts, places = [percent(prob) for prob in probs], range(len(names))
    inks: list[Ink] = ["accent" if place == best else "dim" for place in places]
    bars = Bars(
        "",
        places,
        probs,
        inks,
        "{y}: {x:.4f} ({0})" + ("\nlogit {1:.4f}" if logits else ""),
        is_level=True,
        texts=texts,
        more=list(zip(texts, *((logits,) if logits else ()), strict=True)),
    )
    origins = [origin] * len(names) if origin else ()
    x = Axis("probability", ends=ENDS, has_grid=True, ticks=[(0, "0"), (0.5, "0.5"), (1, "1")])
    return Chart(name, *title, x, Axis("", labels=names, origins=origins), (bars,))


# The pieces of a text as HTML: a box a token, with its piece above its id.

_STYLE = """
<style>
  ol.split.split { display: flex; flex-wrap: wrap; gap: 0.3rem; padding: 0; margin: 0; }
  .split li.token { list-style: none; margin: 0; max-width: 100%; text-align: center; }
  .split li.token { padding: 0.1rem 0.45rem 0.2rem; background: var(--surface); }
  .split li.token { border: 1px solid var(--grid); border-radius: 4px; }
  .split .piece { display: block; overflow-wrap: anywhere; white-space: pre-wrap; }
  .split .id { display: block; color: var(--dim); font-size: 0.78rem; }
  .split .special .piece { color: var(--dim); font-style: italic; }
</style>
"""


def split_text(tokens: Sequence[Token]) -> str:
    """A list of tokens; special ones are dim."""
    return f'{_STYLE}<ol class="split">{"".join(map(_item, tokens))}</ol>'


def _item(token: Token) -> str:
    kind = "token special" if token.special else "token"
    piece = f'<span class="piece">{html.escape(label(token))}</span>'
    return f'<li class="{kind}">{piece}<span class="id">{token.id}</span></li>'


# Sentences token by token, one below the other.


def token_lines(lines: Sequence[tuple[str, Sequence[tuple[str, bool]]]]) -> Table:
    """lines: a title, and tokens, of which some are marked."""
    *heads, columns = [
        [Column(title), *(Column(token, is_marked=is_marked) for token, is_marked in tokens)]
        for title, tokens in lines
    ]
    return Table("Tokens", columns, (), kind="map", heads=heads)
