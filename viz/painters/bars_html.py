"""Bars and parts of a page as HTML, and HTML as lists."""

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from string import Formatter
from typing import Any

import numpy as np

from viz.exhibits.chart import Bars, Chart
from viz.labels import escaped
from viz.painters.chart_marks import Scale, scales
from viz.painters.shades import colour_of
from viz.theme import FONT_SIZE, Theme

# Upright bars as HTML: Plotly needs a tenth of a second for a chart, and two for its code once.

REM = 16
"""Pixels of CSS's rem, which is larger on large screens."""
TYPE, TITLE = FONT_SIZE / REM, (FONT_SIZE + 1) / REM

STYLE = f"""
<style>
  .chart {{ display: grid; grid-template-columns: auto auto 1fr; margin: 0 1rem 0.6rem 0;
           container-type: inline-size; font-size: {TYPE}rem; line-height: 1.3; }}
  .chart > p {{ margin: 0; font-size: inherit; color: var(--dim); text-align: center;
               white-space: pre-line; }}
  .chart > .title {{ grid-column: 1 / -1; margin: 0.5rem 0 1rem; font-size: {TITLE}rem;
                    color: var(--text); text-align: left; }}
  .chart > .up {{ writing-mode: vertical-rl; rotate: 180deg; }}
  .chart :is(.x, .plot, .across) {{ grid-column: 3; position: relative; }}
  .chart .y {{ position: relative; margin: 0 0.3rem 0 0.4rem; }}
  .chart :is(.x, .y) {{ color: var(--text); white-space: nowrap; }}
  .chart .x {{ height: 1.7rem; }}
  .chart .x span {{ position: absolute; top: 0.3rem; translate: -50%; }}
  .chart .y span {{ position: absolute; right: 0; translate: 0 50%; }}
  .chart .plot > * {{ position: absolute; }}
  .chart hr {{ width: 100%; margin: 0; border: 0; border-top: 1px solid var(--grid); }}
  .chart b {{ top: 0; bottom: 0; }}
  .chart b::before {{ position: absolute; inset: auto 0 var(--low); height: var(--size);
                     background: var(--of); content: ""; }}
  .chart b:hover::after {{ position: absolute; bottom: calc(var(--low) + var(--size)); left: 50%;
                          z-index: 1; padding: 0.1rem 0.4rem; border: 1px solid var(--grid);
                          background: var(--surface); color: var(--text); font-weight: 400;
                          white-space: pre; pointer-events: none; content: attr(aria-label); }}
  .chart b.right:hover::after {{ left: auto; right: 50%; }}
  @container (max-width: 26rem) {{ .chart .many span:nth-child(even) {{ display: none; }} }}
</style>
"""
MANY = 6
"""Labels of x; of more a narrow chart leaves every second one out."""


def are_bars(chart: Chart) -> bool:
    """Tell whether a chart is upright bars along numbers, and no more."""
    mark = chart.marks[0] if len(chart.marks) == 1 and not chart.x.labels else None
    return isinstance(mark, Bars) and not (mark.is_level or mark.texts or mark.name)


def bars_body(chart: Chart, theme: Theme, says: str) -> str:
    """The chart, for a page that has the `STYLE` of bars. All texts are `escaped`.

    says: of the chart, to readers of screens, which find the number of each bar, too.
    """
    x, y = (replace(each, start=0.0, end=100.0) for each in scales(chart))
    (bars,) = (mark for mark in chart.marks if isinstance(mark, Bars))
    across, up = x.ticks(), y.ticks()
    wide = max((len(text) for _, text in up), default=0)
    lines = "".join(f'<hr style="bottom:{at:.4g}%">' for at, _ in up) if y.axis.has_grid else ""
    more = escaped(chart.more)
    return (
        f'<figure class="chart" aria-label="{escaped(says)}">'
        f'<p class="title"><strong>{escaped(chart.title)}</strong>{more}</p>'
        f'<p class="up">{escaped(y.axis.title)}</p>'
        f'<div class="y" style="width:{wide}ch">{_labels(up, "bottom")}</div>'
        f'<div class="plot" style="height:{chart.height / REM:g}rem">{lines}'
        f"{''.join(_bars(bars, x, y, theme))}</div>"
        f'<div class="x{" many" * (len(across) > MANY)}">{_labels(across, "left")}</div>'
        f'<p class="across">{escaped(x.axis.title)}</p></figure>'
    )


def _labels(ticks: Sequence[tuple[float, str]], side: str) -> str:
    return "".join(f'<span style="{side}:{at:.4g}%">{escaped(text)}</span>' for at, text in ticks)


def _bars(bars: Bars, x: Scale, y: Scale, theme: Theme) -> Iterator[str]:
    """An element a bar, as high as the plot: a bar of 0 is found by the pointer, too."""
    at, values = np.asarray(bars.at).tolist(), np.asarray(bars.values).tolist()
    wide = bars.width * float(np.diff(x.at(at)).min(initial=100.0))
    inks = bars.inks if len(bars.inks) > 1 else len(at) * [bars.inks[0]]
    more = bars.more or len(at) * [()]
    zero = float(y.at(0.0))
    for place, value, ink, further in zip(at, values, inks, more, strict=True):
        middle, end = float(x.at(place)), float(y.at(value))
        look = f"left:{middle - wide / 2:.5g}%;width:{wide:.4g}%;--low:{min(zero, end):.5g}%;"
        look += f"--size:{abs(end - zero):.5g}%;--of:{colour_of(ink, theme)}"
        side = ' class="right"' if middle > 50 else ""
        text = escaped(_HOVER.format(bars.hover, *further, x=place, y=value))
        yield f'<b role="img" aria-label="{text}"{side} style="{look}"></b>'


class _Hover(Formatter):
    """Numbers as Plotly writes them: whole ones as such, and with a true minus."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            return value
        whole = int(value) if value == int(value) else value
        return format(whole, format_spec).replace("-", "−")


_HOVER = _Hover()


# Parts of a page as HTML, for what is shown before a page has run: columns, titles, links.

WIDTHS = 6, 8
"""The widths of the two columns, in proportion."""
PARTS_HTML_STYLE = f"""
<style>
  .parts {{ display: grid; grid-template-columns: {WIDTHS[0]}fr {WIDTHS[1]}fr; gap: 0 4rem; }}
  .parts > * {{ min-width: 0; }}
  .parts .text-lines {{ margin-bottom: 0.6rem; }}
  .parts h4 {{ margin: 0.6rem 0; padding: 0; font-size: 1rem; font-weight: 600; }}
  .links {{ display: flex; flex-wrap: wrap; gap: 0.3rem 1.5rem; margin-bottom: 0.6rem;
           font-size: 0.875rem; }}
  .links nav {{ display: flex; flex-wrap: wrap; gap: 0.3rem; }}
  .links a {{ box-sizing: border-box; min-width: 28px; padding: 0 0.2rem;
             min-height: 24px; line-height: 24px; text-align: center; }}
  .links .apart a {{ margin-right: 0.7rem; color: inherit; }}
  .links a[aria-current] {{ outline: 1px solid var(--accent); outline-offset: 1px; font-weight: 600;
                           text-decoration: none; }}
  @media (max-width: 1000px) {{ .parts {{ grid-template-columns: 1fr; }} }}
</style>
"""


def side_by_side(*columns: Sequence[str]) -> str:
    """Parts in columns; below each other where there is no room."""
    body = "".join(f"<div>{''.join(each)}</div>" for each in columns)
    return f'<div class="parts">{body}</div>'


def titled(title: str, part: str) -> str:
    """A part with its title above it."""
    return f"<h4>{escaped(title)}</h4>{part}"


def links_row(*groups: str) -> str:
    """Groups of links in a row."""
    return f'<div class="links">{"".join(groups)}</div>'


def links_group(name: str, links: Mapping[str, str], chosen: str | None = None) -> str:
    """Links beside each other. name: of the group, for who hears it; links: text -> address;
    chosen: the text of the one that is open, where the group is a choice.
    """
    look = "" if chosen is not None else ' class="apart"'
    here = ' aria-current="true"'
    texts = "".join(
        f'<a data-state{here * (text == chosen)} href="{html.escape(to)}">{escaped(text)}</a>'
        for text, to in links.items()
    )
    return f'<nav{look} aria-label="{escaped(name)}">{texts}</nav>'


# HTML of our painters as nested lists, of which a browser makes elements: it parses none.

Tree = list[Any]
"""The name of an element, its attributes, and its children: trees and texts."""
_VOID = ("br", "img", "wbr")


def elements(html: str) -> list[Any]:
    """Return what stands in HTML. All that is in it is a text where it was escaped.

    >>> elements('<p class="title">a &lt; b <b>c</b></p>')
    [['p', {'class': 'title'}, 'a < b ', ['b', {}, 'c']]]
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.open[0][2:]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[Tree] = [["", {}]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node: Tree = [tag, {name: value or "" for name, value in attrs}]
        self.open[-1].append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].append(data)
