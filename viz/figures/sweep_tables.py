"""Pairs of heads, and heads over many sentences, as HTML tables that look like a sweep's grid."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from viz.figures.sweep_grid import shade, sweep_style
from viz.labels import decimals_of, signed
from viz.theme import Theme

_STYLE = """
<style>
  .sweep td.span { width: 100%; min-width: 14rem; padding: 0 0.6rem; }
  .sweep table.pairs { min-width: 0; }
  .sweep .pairs td { padding-left: 1.2rem; }
  .sweep .span div { position: relative; height: 1.2rem; }
  .sweep .span i, .sweep .span b, .sweep .span u { position: absolute; top: 50%; }
  .sweep .span i { height: 2px; margin-top: -1px; background: DIM; }
  .sweep .span b { width: 7px; height: 7px; margin: -3.5px; border-radius: 50%; background: INK; }
  .sweep .span b.lost { background: CONTRAST; }
  .sweep .span u { top: 0; bottom: 0; width: 1px; background: GRID; }
</style>
"""


@dataclass(frozen=True)
class PairRow:
    """Two heads off at once, in nats of the whole output."""

    title: str
    address: str
    together: float
    apart: float
    """The sum of what each of them does by itself."""

    @property
    def synergy(self) -> float:
        return self.together - self.apart


@dataclass(frozen=True)
class MeanRow:
    """A head off, over many sentences, in nats of the whole output."""

    title: str
    address: str
    mean: float
    low: float | None
    high: float | None
    share_other: float
    """Of the sentences, those in which the model would write other words."""


def pairs_table(rows: Sequence[PairRow], theme: Theme) -> str:
    """A row per pair, with the shade of its synergy."""
    largest = max((abs(row.synergy) for row in rows), default=0.0)
    n = decimals_of(max((abs(row.together) for row in rows), default=0.0))
    body = "".join(
        f"<tr>{_head(row.title, row.address)}{_number(row.together, n)}"
        f"{_number(row.apart, n)}"
        f'<td class="c s{shade(row.synergy, largest)}" data-value="{row.synergy:.6g}">'
        f"{signed(row.synergy, n)}</td></tr>"
        for row in rows
    )
    return _table(("off", "together", "one by one", "synergy"), body, "Pairs", theme)


def means_table(rows: Sequence[MeanRow], theme: Theme) -> str:
    """A row per head: the mean as a dot, its interval as a line, over one scale with 0."""
    ends = [0.0, *(end for row in rows for end in (row.mean, row.low, row.high) if end is not None)]
    least, most = min(ends), max(ends)

    def place(value: float) -> float:
        return 100 * (value - least) / ((most - least) or 1.0)

    n = decimals_of(max(-least, most))
    span = f"{signed(least, n)} to {signed(most, n)} nats"
    body = "".join(
        f"<tr>{_head(row.title, row.address)}{_number(row.mean, n)}"
        f"<td>{_ends(row, n)}</td><td>{100 * row.share_other:.0f} %</td>"
        f'<td class="span"><div><u style="left:{place(0):.2f}%"></u>{_line(row, place)}'
        f'<b{" class=lost" * (row.mean < 0)} style="left:{place(row.mean):.2f}%"></b></div></td>'
        "</tr>"
        for row in rows
    )
    return _table(("off", "mean", "95 % interval", "other words", span), body, "Means", theme)


def _line(row: MeanRow, place: Callable[[float], float]) -> str:
    if row.low is None or row.high is None:
        return ""
    left, right = place(row.low), place(row.high)
    return f'<i style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'


def _ends(row: MeanRow, decimals: int) -> str:
    if row.low is None or row.high is None:
        return "of one sentence"
    return f"{signed(row.low, decimals)} to {signed(row.high, decimals)}"


def _number(value: float, decimals: int) -> str:
    return f'<td data-value="{value:.6g}">{signed(value, decimals)}</td>'


def _head(title: str, address: str) -> str:
    link = f'<a data-state href="{html.escape(address)}">{html.escape(title)}</a>'
    return f'<th scope="row">{link}</th>'


def _table(heads: Sequence[str], body: str, name: str, theme: Theme) -> str:
    style = _STYLE.replace("DIM", theme.dim).replace("GRID", theme.grid)
    style = style.replace("INK", theme.ink).replace("CONTRAST", theme.contrast)
    row = "".join(f'<th scope="col">{html.escape(head)}</th>' for head in heads)
    return (
        f'{sweep_style(theme)}{style}<div class="sweep" role="region" aria-label="{name}">'
        f'<table class="{name.lower()}"><thead><tr>{row}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
