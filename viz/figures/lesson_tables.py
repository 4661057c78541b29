"""The tables of lessons as HTML: numbers to work with, and guessed points beside the weights."""

import html
from collections.abc import Sequence

from viz.lessons.task import even, log_loss, percent_of, shares
from viz.theme import Theme

_STYLE = """
<style>
  .numbers { overflow-x: auto; }
  .numbers table { border-collapse: collapse; font-size: 0.95rem; }
  .numbers th, .numbers td { padding: 0.22rem 1.6rem 0.22rem 0; border: 0; font-weight: 400; }
  .numbers th { text-align: left; }
  .numbers td { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
  .numbers thead th { color: DIM; font-size: 0.875rem; }
  .numbers tbody tr { border-top: 1px solid GRID; }
  .numbers .bar { display: block; height: 7px; min-width: 1px; margin: 2px 0; }
  .numbers .bars { width: 12rem; padding-right: 0; }
</style>
"""


def numbers_table(rows: Sequence[tuple[str, str]], theme: Theme) -> str:
    """Names and values."""
    lines = (
        f'<tr><th scope="row">{html.escape(name)}</th><td>{html.escape(value)}</td></tr>'
        for name, value in rows
    )
    return _table("", "".join(lines), theme)


def guess_table(
    words: Sequence[str], points: Sequence[float] | None, weights: Sequence[float], theme: Theme
) -> str:
    """A row per word: the guess above the weight, as bars and as numbers; and what both cost.

    points: None where nobody guessed: an even guess is shown.
    """
    guessed = even(len(words)) if points is None else shares(points)
    rows = zip(words, guessed, weights, strict=True)
    lines = (
        f'<tr><th scope="row">{html.escape(word)}</th><td>{percent_of(p)}</td>'
        f'<td>{percent_of(a)}</td><td class="bars">{_bar(p, theme.dim)}{_bar(a, theme.ink)}</td>'
        "</tr>"
        for word, p, a in rows
    )
    costs = (log_loss(weights, guessed), log_loss(weights, even(len(words))))
    yours = f"Your guess costs {costs[0]:.2f} nats, an even one {costs[1]:.2f}: less is better."
    said = "" if points is None else yours
    names = ("Word", "Even" if points is None else "You", "The head")
    titles = "".join(f'<th scope="col">{each}</th>' for each in names)
    return (
        _table(f"<thead><tr>{titles}<td></td></tr></thead>", "".join(lines), theme)
        + f"<p>{said}</p>"
    )


def _bar(share: float, colour: str) -> str:
    return f'<span class="bar" style="width: {100 * share:.1f}%; background: {colour}"></span>'


def _table(head: str, lines: str, theme: Theme) -> str:
    style = _STYLE.replace("DIM", theme.dim).replace("GRID", theme.grid)
    return f'{style}<div class="numbers"><table>{head}<tbody>{lines}</tbody></table></div>'
