"""Somebody's guess beside the weights of a head."""

from collections.abc import Sequence

from viz.exhibits.table import Cell, Column, Row, Table
from viz.lessons.task import even, log_loss, percent_of, shares


def guess_table(
    words: Sequence[str], points: Sequence[float] | None, weights: Sequence[float]
) -> Table:
    """A row per word: the guess above the weight, as bars and as numbers; and what both cost.

    points: None where nobody guessed: an even guess is shown.
    """
    guess = even(len(words)) if points is None else shares(points)
    rows = [
        Row(Cell(word), [Cell(percent_of(p)), Cell(percent_of(a)), Cell(bars=(p, a))])
        for word, p, a in zip(words, guess, weights, strict=True)
    ]
    costs = (log_loss(weights, guess), log_loss(weights, even(len(words))))
    yours = f"Your guess costs {costs[0]:.2f} nats, an even one {costs[1]:.2f}: less is better."
    guessed = "Even" if points is None else "You"
    titles = ("Word", guessed, "The head", f"{guessed} (upper bar), the head (lower bar)")
    foot = "" if points is None else yours
    return Table("Guess", list(map(Column, titles)), rows, kind="list", foot=foot)
