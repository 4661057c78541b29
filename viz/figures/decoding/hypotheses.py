"""All finished hypotheses of a search, best first, with the parts of their scores side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer.analysis.output_change import exchanged
from transformer.visible import visible
from transformer.words import text_words
from viz.exhibits.table import Cell, Change, Column, Row, Table
from viz.labels import number

NAME = "Why this one won"


@dataclass(frozen=True)
class Ranked:
    """A finished hypothesis, as it is ranked."""

    text: str
    log_prob: float
    """In nats."""
    length: int
    """In tokens, its end included."""
    divisor: float
    coverage: float
    score: float


def table(hypotheses: Sequence[Ranked], foot: str) -> Table:
    """A row each, by rank; the words in which it differs from the best one."""
    has_coverage = any(each.coverage for each in hypotheses)
    best = text_words(hypotheses[0].text)
    columns = [
        Column("Rank"),
        Column("Text", is_text=True),
        Column("Unlike the first", is_text=True),
        Column("Log-probability, nats"),
        Column("Length, tokens"),
        Column("Divisor"),
        *[Column("Coverage")] * has_coverage,
        Column("Score"),
    ]
    rows = [
        Row(Cell(str(rank)), _cells(each, best, has_coverage), origin={"text": visible(each.text)})
        for rank, each in enumerate(hypotheses, 1)
    ]
    return Table(NAME, columns, rows, foot=foot)


def _cells(it: Ranked, best: Sequence[str], has_coverage: bool) -> list[Cell]:
    coverage = [Cell(number(it.coverage), it.coverage)] * has_coverage
    return [
        Cell(visible(it.text)),
        Cell(changes=tuple(differences(best, it.text))),
        Cell(number(it.log_prob), it.log_prob),
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


def says(hypotheses: Sequence[Ranked]) -> str:
    """The table in a sentence."""
    first, *others = hypotheses
    text = f"“{visible(first.text)}” scores {number(first.score, 4)}"
    if not others:
        return f"The only finished hypothesis, {text}."
    second = f"“{visible(others[0].text)}”, {number(others[0].score, 4)}"
    return f"{len(hypotheses)} finished hypotheses. The best, {text}; the next one, {second}."
