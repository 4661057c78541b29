"""Effects of patches as HTML tables: layers are rows; words, or heads, are columns.

Each cell is a link that puts its patch in force, or takes it back, which the address component
goes to without loading the page anew (`data-state`).
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass

from viz.figures.sweep_grid import legible
from viz.labels import signed
from viz.theme import N_STOPS, Theme

LEAST = 0.05
"""Effects below have a shade, and no number."""
REACHED = 0.1
"""Effects from which on the Tab key leads to a cell; all others are for a pointer."""
_STYLE = """
<style>
  .patches { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
  .patches figure { margin: 0 0 0.6rem; max-width: 100%; overflow-x: auto; }
  .patches figcaption { font-size: 0.875rem; color: TEXT; font-weight: 600; }
  .patches table { border-collapse: separate; border-spacing: 1px; margin: 0; width: max-content;
                   font-size: 0.8125rem; font-variant-numeric: tabular-nums; }
  .patches th, .patches td { border: 0; padding: 0 0.25rem; font-weight: 400; height: 1.5rem;
                             line-height: 1.5rem; text-align: center; white-space: nowrap; }
  .patches td { padding: 0; min-width: 2.4rem; box-shadow: 0 0 0 1px GRID; }
  .patches td a { display: block; padding: 0 0.2rem; color: inherit; text-decoration: none; }
  .patches td.kept { outline: 2px solid ACCENT; outline-offset: -1px; }
  .patches td a:hover, .patches td a:focus-visible { outline: 2px solid TEXT;
                                                     outline-offset: -2px; }
  .patches th { color: DIM; }
  .patches th.other { color: ACCENT; font-weight: 600; }
  .patches tbody th { position: sticky; left: 0; background: BACKGROUND; z-index: 1; }
</style>
"""


@dataclass(frozen=True)
class Cell:
    """One patch."""

    address: str
    title: str
    """What is put where."""
    effect: float | None
    """None: not tried yet."""
    is_kept: bool


@dataclass(frozen=True)
class Map:
    """The patches of one kind of attention."""

    title: str
    columns: Sequence[tuple[str, str]]
    """What stands above: of A and of B, which differ where A has another word."""
    rows: Sequence[tuple[str, Sequence[Cell | None]]]
    """Titled; None: there is nothing to patch here."""


def patch_maps(lines: Sequence[Sequence[Map]], theme: Theme) -> str:
    """Lines of maps, on a scale from -1 over 0 to 1; effects beyond have its ends."""
    drawn = "".join(f'<div class="patches">{"".join(map(_map, maps))}</div>' for maps in lines)
    return f"{_style(theme)}{_legend(theme)}{drawn}"


def token_lines(lines: Sequence[tuple[str, Sequence[tuple[str, bool]]]], theme: Theme) -> str:
    """Sentences token by token, one below the other. lines: a title, and tokens with a mark."""
    drawn = "".join(
        f"<tr><th>{html.escape(title)}</th>{''.join(_head(*token) for token in tokens)}</tr>"
        for title, tokens in lines
    )
    body = f"<figure><table><tbody>{drawn}</tbody></table></figure>"
    return f'{_style(theme)}<div class="patches">{body}</div>'


def _map(drawn: Map) -> str:
    columns = drawn.columns
    is_two = any(a != b for a, b in columns)
    names = (("A", 0), ("B", 1)) if is_two else (("", 1),)
    heads = "".join(
        f"<tr><th>{name}</th>{''.join(_head(both[i], both[0] != both[1]) for both in columns)}</tr>"
        for name, i in names
    )
    body = "".join(
        f'<tr><th scope="row">{html.escape(title)}</th>{"".join(map(_cell, cells))}</tr>'
        for title, cells in drawn.rows
    )
    return (
        f"<figure><figcaption>{html.escape(drawn.title)}</figcaption>"
        f"<table><thead>{heads}</thead><tbody>{body}</tbody></table></figure>"
    )


def _head(text: str, is_other: bool) -> str:
    return f"<th{' class=other' * is_other}>{html.escape(text)}</th>"


def _cell(cell: Cell | None) -> str:
    if cell is None or cell.effect is None:
        return "<td></td>"
    number = signed(cell.effect)
    text = number if abs(cell.effect) >= LEAST or cell.is_kept else "&nbsp;"
    title = html.escape(f"{cell.title}: effect {signed(cell.effect, 4)}")
    tab = "" if abs(cell.effect) >= REACHED or cell.is_kept else ' tabindex="-1"'
    look = f'class="s{_shade(cell.effect)}{" kept" * cell.is_kept}"'
    return (
        f'<td {look} data-value="{cell.effect:.6g}"><a data-state{tab} '
        f'href="{html.escape(cell.address)}" title="{title}" aria-label="{title}">{text}</a></td>'
    )


def _shade(effect: float) -> int:
    """The stop of the difference scale; even, so that what does next to nothing is quiet."""
    return N_STOPS - 1 + round(max(-1.0, min(1.0, effect)) * (N_STOPS - 1))


def _legend(theme: Theme) -> str:
    stops = ", ".join(theme.difference_scale)
    bar = f"display:inline-block;width:7rem;height:0.7rem;background:linear-gradient(90deg,{stops})"
    return (
        f'<div style="color:{theme.dim};font-size:0.875rem">Effect −1 <span style="{bar}">'
        "</span> 1. 0: the patch changes nothing; 1: B is answered as A is. <span data-control>A "
        "click keeps a patch and shows the output with it.</span></div>"
    )


def _style(theme: Theme) -> str:
    style = _STYLE
    names = {"TEXT": theme.text, "DIM": theme.dim, "ACCENT": theme.accent}
    names |= {"GRID": theme.grid}
    for name, colour in (names | {"BACKGROUND": theme.background}).items():
        style = style.replace(name, colour)
    shades = "".join(
        f".patches td.s{i} {{ background: {colour}; color: {legible(colour, theme)}; }}"
        for i, colour in enumerate(theme.difference_scale)
    )
    return style.replace("</style>", f"{shades}</style>")
