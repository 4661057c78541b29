"""All finished hypotheses of a search with the parts of their scores side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isclose

from transformer.analysis.output_change import exchanged
from transformer.visible import visible
from transformer.words import text_words
from viz.exhibits.table import Cell, Change, Column, Row, Table
from viz.labels import number

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


def table(hypotheses: Sequence[Ranked], foot: str, is_drawn: bool = False) -> Table:
    """A row each, and the words in which it differs from the first one.

    is_drawn: chance chose them, and they are in the order of their seeds; else by rank.
    """
    has_coverage = any(each.coverage for each in hypotheses)
    has_rules = any(map(_is_ruled, hypotheses))
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
