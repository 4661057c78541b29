"""A number for every head, as HTML tables: layers are rows, heads are columns.

Each cell is a link that chooses its head, which the address component goes to without loading the
page anew (`data-state`).
"""

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from viz.figures.sweep_grid import legible
from viz.theme import N_STOPS, Theme

_STYLE = """
<style>
  .dependence { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: flex-start; }
  .dependence figure { margin: 0 0 0.5rem; max-width: 100%; overflow-x: auto; }
  .dependence figcaption { font-size: 0.875rem; color: TEXT; font-weight: 600; }
  .dependence table { border-collapse: separate; border-spacing: 1px; margin: 0; width: max-content;
                      font-size: 0.875rem; font-variant-numeric: tabular-nums; }
  .dependence th, .dependence td { border: 0; padding: 0 0.25rem; font-weight: 400; height: 1.6rem;
                                   line-height: 1.6rem; text-align: center; color: DIM; }
  .dependence td { padding: 0; min-width: 2rem; box-shadow: 0 0 0 1px GRID; }
  .dependence td a { display: block; color: inherit; text-decoration: none; }
  .dependence td.chosen { outline: 2px solid ACCENT; outline-offset: -1px; }
  .dependence td a:hover, .dependence td a:focus-visible { outline: 2px solid TEXT;
                                                           outline-offset: -2px; }
</style>
"""


@dataclass(frozen=True)
class Cell:
    """One head."""

    address: str
    title: str
    bits: float
    """NaN: nothing is known of it."""
    is_chosen: bool


@dataclass(frozen=True)
class Table:
    """The heads of one kind of attention."""

    title: str
    rows: Sequence[tuple[str, Sequence[Cell]]]
    """A layer's name, and its heads."""


def dependence_grid(tables: Sequence[Table], theme: Theme) -> str:
    """Tables side by side, shaded by the root of a share of 1 bit: small ones stay visible."""
    return f'{_style(theme)}<div class="dependence">{"".join(map(_table, tables))}</div>'


def dependence_legend(says: str, theme: Theme) -> str:
    """The scale, and what it is of."""
    stops = ", ".join(theme.attention_scale)
    scale = f"background:linear-gradient(90deg,{stops});box-shadow:0 0 0 1px {theme.grid}"
    look = f"display:inline-block;width:6rem;height:0.7rem;margin:0 0.3rem;{scale}"
    return (
        f'<div style="color:{theme.dim};font-size:0.875rem">0 <span style="{look}"></span> 1 bit '
        f"(square-root scale). {html.escape(says)} "
        "<span data-control>A click chooses a head.</span></div>"
    )


def _table(table: Table) -> str:
    n_heads = max((len(cells) for _, cells in table.rows), default=0)
    heads = "".join(f"<th>H{head}</th>" for head in range(n_heads))
    body = "".join(
        f'<tr><th scope="row">{html.escape(title)}</th>{"".join(map(_cell, cells))}</tr>'
        for title, cells in table.rows
    )
    return (
        f"<figure><figcaption>{html.escape(table.title)}</figcaption><table>"
        f"<thead><tr><th></th>{heads}</tr></thead><tbody>{body}</tbody></table></figure>"
    )


def _cell(cell: Cell) -> str:
    is_known = not math.isnan(cell.bits)
    number = f"{cell.bits:.2f}" if is_known else "—"
    said = html.escape(f"{cell.title}: {f'{cell.bits:.4f} bits' if is_known else 'not known'}")
    value = f' data-value="{cell.bits:.6g}"' if is_known else ""
    stop = round(min(1.0, max(0.0, cell.bits)) ** 0.5 * (N_STOPS - 1)) if is_known else 0
    return (
        f'<td class="d{stop}{" chosen" * cell.is_chosen}"{value}><a data-state '
        f'href="{html.escape(cell.address)}" title="{said}" aria-label="{said}">{number}</a></td>'
    )


def _style(theme: Theme) -> str:
    style = _STYLE
    names = {"TEXT": theme.text, "DIM": theme.dim, "ACCENT": theme.accent, "GRID": theme.grid}
    for name, colour in names.items():
        style = style.replace(name, colour)
    shades = "".join(
        f".dependence td.d{i} {{ background: {colour}; color: {legible(colour, theme)}; }}"
        for i, colour in enumerate(theme.attention_scale)
    )
    return style.replace("</style>", f"{shades}</style>")
