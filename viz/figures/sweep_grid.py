"""What each head is worth to each word, as an HTML table: a row a head, a column a word.

Blue and brown part for every kind of colour-blindness. A row's head is a link that the address
component goes to without loading the page anew (`data-state`).
"""

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from viz.labels import decimals_of, signed
from viz.theme import N_STOPS, Theme

LEAST = 0.05
"""Nats below which a cell has a shade, and no number."""
WIDE = 24
"""Words beyond which cells have no numbers and words are written upwards."""
TITLED = 5000
"""Cells up to which each says its number to a pointer."""
_SAYS = (
    "In each row one head is off: what that adds to the log-probability of each word of the output."
)
LEGIBLE = 4.5
"""The contrast that small text needs (WCAG 2.2)."""
_STYLE = """
<style>
  .st-key-sweep-grid, .st-key-sweep-pairs, .st-key-sweep-means { padding: 0 !important;
    overflow-x: auto; border: 1px solid GRID; border-radius: 8px; }
  .sweep table { border-collapse: separate; border-spacing: 0; margin: 0; width: max-content;
                 min-width: 100%; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
  .sweep th, .sweep td { border: 0; padding: 0 0.35rem; line-height: 1.5rem; height: 1.5rem;
                         text-align: right; white-space: nowrap; font-weight: 400; }
  .sweep tbody td.c { min-width: 2.5rem; border-left: 1px solid BACKGROUND;
                      border-top: 1px solid BACKGROUND; padding: 0 0.25rem; }
  .sweep thead th { position: sticky; top: 0; z-index: 2; background: SURFACE; color: TEXT;
                    border-bottom: 1px solid GRID; vertical-align: bottom;
                    padding: 0.15rem 0.35rem; }
  .sweep th:first-child { position: sticky; left: 0; z-index: 1; background: SURFACE;
                          text-align: left; border-right: 1px solid GRID; }
  .sweep thead th:first-child { z-index: 3; }
  .sweep th.words, .sweep td.words { text-align: left; width: 100%; padding-left: 0.8rem; }
  .sweep td.words del { color: DIM; text-decoration-color: ACCENT; }
  .sweep td.words ins { color: ACCENT; text-decoration: underline; text-underline-offset: 3px; }
  .sweep td.words span, .sweep td.total.none { color: DIM; }
  .sweep th a { color: TEXT; text-decoration: none; display: block; min-height: 24px; }
  .sweep th a:hover, .sweep th a:focus-visible { color: ACCENT; text-decoration: underline; }
  .sweep tbody tr:hover th, .sweep tbody tr:hover td:not(.c) { background: GRID; }
  .sweep tr.first > * { border-top: 3px solid GRID !important; }
  .sweep .wide tbody td.c { min-width: 0.8rem; padding: 0; }
  .sweep .wide thead th.word { writing-mode: vertical-rl; transform: rotate(180deg);
                               text-align: left; max-height: 9rem; padding: 0.35rem 0; }
  .sweep .wide thead th.word { position: sticky; top: 0; }
</style>
"""


@dataclass(frozen=True)
class Row:
    """One change of the model, and what came of it."""

    title: str
    """Such as "Cross L2 H3"."""
    address: str
    """A link to it on another page."""
    changes: Sequence[float]
    """Of each word's log-probability, in nats."""
    total: float
    """Of the whole output's."""
    is_first: bool = False
    """Whether it begins a new layer, where rows stand layer by layer."""
    written: str = ""
    """What became of the words when the text was written again, as HTML; nothing: not known."""


def sweep_grid(
    rows: Sequence[Row],
    words: Sequence[str],
    largest: float,
    theme: Theme,
    written: str = "words that change",
) -> str:
    """largest: the change in nats that has the darkest shade. written: above the last column."""
    is_wide, is_titled = len(words) > WIDE, len(rows) * len(words) <= TITLED
    heads = "".join(f'<th class="word" scope="col">{html.escape(word)}</th>' for word in words)
    decimals = decimals_of(max((row.total for row in rows), key=abs, default=0.0))
    body = "".join(_row(row, words, largest, is_wide, is_titled, decimals) for row in rows)
    return (
        f"{sweep_style(theme)}"
        '<div class="sweep" tabindex="0" role="region" aria-label="Sweep">'
        f'<table class="{"wide" if is_wide else "narrow"}"><thead><tr>'
        f'<th scope="col">off</th><th scope="col">total</th>{heads}'
        f'<th class="words" scope="col">{html.escape(written)}</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(
    row: Row, words: Sequence[str], largest: float, is_wide: bool, is_titled: bool, decimals: int
) -> str:
    cells = "".join(
        _cell(change, word if is_titled else None, largest, is_wide)
        for change, word in zip(row.changes, words, strict=True)
    )
    return (
        f'<tr{" class=first" * row.is_first}><th scope="row"><a data-state '
        f'href="{html.escape(row.address)}">{html.escape(row.title)}</a></th>'
        f'<td class="total" data-value="{row.total:.6g}">{signed(row.total, decimals)}</td>{cells}'
        f'<td class="words">{row.written}</td></tr>'
    )


def _cell(change: float, word: str | None, largest: float, is_wide: bool) -> str:
    text = "" if is_wide or abs(change) < LEAST else signed(change, 1 if abs(change) >= 9.95 else 2)
    title = (
        ""
        if word is None
        else f' title="{html.escape(word)} {signed(change, max(3, decimals_of(largest)))}"'
    )
    place = f'class="c s{shade(change, largest)}" data-value="{change:.6g}"'
    return f"<td {place}{title}>{text}</td>"


def shade(change: float, largest: float) -> int:
    """The stop of the difference scale, by the root of a change's share of the largest.

    >>> shade(0.0, 4.0), shade(4.0, 4.0), shade(-1.0, 4.0)
    (16, 32, 8)
    """
    middle = N_STOPS - 1
    part = min(1.0, abs(change) / largest) ** 0.5 if largest > 0 else 0.0
    return middle + round(part * middle) * (1 if change > 0 else -1)


def sweep_legend(largest: float, theme: Theme) -> str:
    """The scale, from the most that is lost to the most that is gained, as HTML."""
    stops = ", ".join(theme.difference_scale)
    scale = f"background:linear-gradient(90deg,{stops});margin:0 0.4rem;vertical-align:-1px"
    n = decimals_of(largest)
    bar = f"display:inline-block;width:7rem;height:0.7rem;{scale}"
    return (
        f'<div style="color:{theme.dim};font-size:0.875rem">less likely {signed(-largest, n)} '
        f'<span style="{bar}"></span> {signed(largest, n)} nats, more likely. {_SAYS} '
        "<span data-control>A click on a head opens Explore with it off.</span></div>"
    )


def rewritten(
    parts: Iterable[tuple[Sequence[str], Sequence[str]]], same: str = "the same words"
) -> str:
    """Words that went and those that came in their place, as HTML. same: said where none did."""
    said = [
        " → ".join(
            [f"<del>{html.escape(' '.join(old))}</del>"] * bool(old)
            + [f"<ins>{'' if old else '+ '}{html.escape(' '.join(new))}</ins>"] * bool(new)
        )
        for old, new in parts
    ]
    return " · ".join(said) or f"<span>{html.escape(same)}</span>"


def sweep_style(theme: Theme) -> str:
    """What the tables of sweeps look like: in `.sweep`, cells of classes c and s0 .. s32."""
    names = {"GRID": theme.grid, "SURFACE": theme.surface, "TEXT": theme.text, "DIM": theme.dim}
    names |= {"BACKGROUND": theme.background, "ACCENT": theme.accent}
    style = _STYLE
    for name, colour in names.items():
        style = style.replace(name, colour)
    shades = "".join(
        f".sweep td.s{i} {{ background: {colour}; color: {legible(colour, theme)}; }}"
        for i, colour in enumerate(theme.difference_scale)
    )
    return style.replace("</style>", f"{shades}</style>")


def legible(colour: str, theme: Theme) -> str:
    """What can be read on a colour: the theme's text or background, else white or black."""
    own = luminance(colour)
    found = {each: _contrast(luminance(each), own) for each in (theme.text, theme.background)}
    found |= {each: _contrast(luminance(each), own) for each in ("#ffffff", "#000000")}
    return next(each for each in found if found[each] >= LEGIBLE)  # white or black always is


def luminance(colour: str) -> float:
    """Relative, 0 to 1 (WCAG 2.2), of #rrggbb."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(a: float, b: float) -> float:
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
