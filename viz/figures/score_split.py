"""A score as the sum of what made it, as an HTML table: a row for what of the query meets a key."""

import html
from collections.abc import Mapping
from dataclasses import dataclass

from viz.figures.sweep_grid import legible
from viz.labels import signed
from viz.theme import N_STOPS, Theme

_STYLE = """
<style>
  .split { overflow-x: auto; }
  .split table { border-collapse: separate; border-spacing: 2px; margin: 0.2rem 0; width: auto;
                 font-size: 0.875rem; font-variant-numeric: tabular-nums; }
  .split th, .split td { border: 0; padding: 0.15rem 0.7rem; font-weight: 400; text-align: center;
                         line-height: 1.35; }
  .split th { color: DIM; }
  .split th b { color: TEXT; font-weight: 600; }
  .split tbody th { text-align: right; }
  .split td { box-shadow: 0 0 0 1px GRID; min-width: 6.5rem; }
  .split td small { display: block; font-size: 0.875rem; }
  .split p { margin: 0.2rem 0 0.6rem; font-size: 0.875rem; color: DIM;
             font-variant-numeric: tabular-nums; }
  .split p b { color: TEXT; }
</style>
"""


@dataclass(frozen=True)
class Part:
    """One of the terms at a cell."""

    value: float
    spread: float
    """Its standard deviation over the keys that this query may look at."""


def score_split(
    parts: Mapping[tuple[str, str], Part],
    named: Mapping[str, tuple[str, str]],
    more: Mapping[str, float],
    score: float,
    theme: Theme,
) -> str:
    """parts: of (query's, key's) "content" and "position"; named: what these are of query and key.

    more: what else is added, such as "biases".
    """
    of = list(dict.fromkeys(name for name, _ in parts))
    to = list(dict.fromkeys(name for _, name in parts))
    largest = max((abs(part.value) for part in parts.values()), default=0.0)
    heads = "".join(_head("key", name, named[name][1]) for name in to)
    body = "".join(
        f"<tr>{_head('query', row, named[row][0])}"
        f"{''.join(_cell(parts[row, name], f'{row}-{name}', largest) for name in to)}</tr>"
        for row in of
    )
    added = "".join(
        f' + {html.escape(name)} <span data-term="{html.escape(name)}">{signed(value, 3)}</span>'
        for name, value in more.items()
    )
    total = f'<b data-term="score">{signed(score, 3)}</b>'
    return (
        f'{_style(theme)}<div class="split"><table><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table><p>these {len(parts)}{added} = score {total}</p></div>"
    )


def _head(whose: str, name: str, what: str) -> str:
    return f"<th>{whose}’s {html.escape(name)}<br><b>{html.escape(what)}</b></th>"


def _cell(part: Part, name: str, largest: float) -> str:
    look = f'class="s{_shade(part.value, largest)}" data-value="{part.value:.6g}"'
    return (
        f'<td {look}><span data-term="{html.escape(name)}">'
        f"{signed(part.value, 3)}</span><small>± {part.spread:.2f} in this row</small></td>"
    )


def _shade(value: float, largest: float) -> int:
    """The stop of the difference scale; the largest term has 2/3 of the way to its end."""
    share = value / largest * 2 / 3 if largest > 0 else 0.0
    return N_STOPS - 1 + round(share * (N_STOPS - 1))


def _style(theme: Theme) -> str:
    style = _STYLE
    for name, colour in (("TEXT", theme.text), ("DIM", theme.dim), ("GRID", theme.grid)):
        style = style.replace(name, colour)
    shades = "".join(
        f".split td.s{i} {{ background: {colour}; color: {legible(colour, theme)}; }}"
        for i, colour in enumerate(theme.difference_scale)
    )
    return style.replace("</style>", f"{shades}</style>")
