"""Upright bars as HTML: Plotly needs a tenth of a second for a chart, and two for its code once."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from string import Formatter
from typing import Any

import numpy as np

from viz.exhibits.chart import Bars, Chart
from viz.labels import escaped
from viz.painters.chart_scale import Scale, scales
from viz.painters.inks import colour_of
from viz.theme import FONT_SIZE, Theme

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
