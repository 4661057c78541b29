"""The values of a survey that was read from a file: each is of its kind, or the file is refused."""

from math import isfinite

from transformer.corpus.measured import N_OFFSETS, N_PLACES
from transformer.corpus.surveyed import Estimate, HeadSummary, Row, Survey, Syntax
from transformer.corpus.syntax import DIRECTIONS

LARGEST = 1e12
"""The largest number: sums of what is below it are finite."""


def check(survey: Survey) -> None:
    """Check the values of all heads. Raises ValueError where one is wrong, or a head is missing."""
    count(survey.n_sentences)
    if not survey.n_sentences or not survey.heads:
        raise ValueError
    text(survey.one_by_one, *survey.left_out)
    for head in survey.heads:
        _check_head(head)
    for kind in {head.kind for head in survey.heads}:
        of = [head for head in survey.heads if head.kind == kind]
        n_heads = 1 + max(head.head for head in of)
        places = [divmod(at, n_heads) for at in range(len(of))]
        is_whole = len(of) % n_heads == 0
        if not is_whole or [(head.layer, head.head) for head in of] != places:
            raise ValueError
        if len({len(head.footprint) for head in of}) > 1:  # their bins are compared
            raise ValueError


def check_estimate(of: Estimate) -> None:
    """Check a mean and its interval. Raises ValueError."""
    number(of.mean)
    _check_interval(of.low, of.high)
    count(of.n_sentences)


def number(*values: object) -> None:
    """Raise ValueError where one of them is no number, or has no end."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError
        if abs(value) > LARGEST or not isfinite(value):
            raise ValueError


def count(*values: object) -> None:
    """Raise ValueError where one of them counts nothing: it is below 0, or has a fraction."""
    for value in values:
        number(value)
        if not isinstance(value, int) or value < 0:
            raise ValueError


def text(*values: object) -> None:
    """Raise ValueError where one of them is no text."""
    if not all(isinstance(value, str) for value in values):
        raise ValueError


def _check_head(head: HeadSummary) -> None:
    text(head.kind, *head.numbers, *head.syntax)
    count(head.layer, head.head)
    for estimate in head.numbers.values():
        check_estimate(estimate)
    number(*head.footprint)
    if len(head.footprint) not in {N_OFFSETS, N_PLACES} or min(head.footprint) < 0:
        raise ValueError
    for decile in head.deciles:
        number(decile.low, decile.high, decile.share)
        _check_rows(decile.rows)
    _check_rows(head.strongest)
    for syntax in head.syntax.values():
        _check_syntax(syntax)


def _check_rows(rows: tuple[Row, ...]) -> None:
    for row in rows:
        number(row.weight)
        count(row.sentence, row.query, row.key)  # -1 would be the last piece
        text(row.query_piece, row.key_piece, row.row_piece)


def _check_syntax(of: Syntax) -> None:
    number(of.accuracy, of.by_offset, of.offset)
    _check_interval(of.low, of.high)
    count(of.n_arcs, of.n_sentences, abs(of.offset))
    if of.direction not in DIRECTIONS.values():
        raise ValueError


def _check_interval(low: float | None, high: float | None) -> None:
    """Both ends, the lower one first; or none, as of one sentence."""
    if low is None and high is None:
        return
    number(low, high)
    if low is None or high is None or low > high:
        raise ValueError
