"""The look of tables on the screen: one style for all of them, in the colours of the theme."""

from collections.abc import Iterable

from viz.exhibits.shading import Scale
from viz.painters.shades import grounds_of
from viz.theme import Theme

_CSS = """
  .tables .line { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
  .tables .line > div { min-width: 0; max-width: 100%; }
  .tables .line > div:has(.rows, .formula) { flex: 1 1 100%; }
  .tables .legend, .tables p { color: var(--dim); font-size: 0.875rem; }
  .tables p { margin: 0.2rem 0 0.6rem; font-variant-numeric: tabular-nums; }
  .tables .title { margin: 0; color: var(--text); font-size: 1.25rem; line-height: 1.3; }
  .tables .title + .legend { margin-top: 0.4rem; }
  .tables p b { color: var(--text); font-weight: 600; }
  .tables .ramp { display: inline-block; width: 7rem; height: 0.7rem; margin: 0 0.4rem;
                  vertical-align: -1px; box-shadow: 0 0 0 1px var(--grid); }
  .tables .sample { display: inline-block; width: 28px; margin-right: 0.6rem;
                    vertical-align: middle; }
  .samples { display: flex; flex-wrap: wrap; gap: 0.2rem 1.6rem; font-size: 0.95rem; }
  .data { margin: 0 0 0.6rem; max-width: 100%; overflow-x: auto; }
  /* The right edge fades while more is there; where a browser cannot tell how far a table is
     scrolled, a shade behind it says so, over which the end of the table brings a cover along. */
  @supports (animation-timeline: scroll()) {
    .data { animation: more-columns linear both; animation-timeline: scroll(self inline); }
  }
  @keyframes more-columns {
    from, 99% { mask-image: linear-gradient(to left, transparent, #000 2.5rem); }
    to { mask-image: none; }
  }
  @media print { .data { animation: none; } }
  .data { background: linear-gradient(var(--background), var(--background)),
                      linear-gradient(to left, color-mix(in srgb, var(--dim) 50%, transparent),
                                      transparent);
          background-position: right; background-size: 0.8rem 100%, 0.6rem 100%;
          background-repeat: no-repeat; background-clip: padding-box;
          background-attachment: local, scroll; }
  .data figcaption { font-size: 0.875rem; color: var(--text); font-weight: 600; }
  .data table { border-collapse: separate; border-spacing: 1px; margin: 0; width: max-content;
                font-size: 0.875rem; font-variant-numeric: tabular-nums; }
  .data :is(th, td) { border: 0; padding: 0 0.25rem; height: 1.5rem; line-height: 1.5rem;
                      font-weight: 400; text-align: center; white-space: nowrap; }
  .data th { color: var(--dim); }
  .data th.marked { color: var(--accent); font-weight: 600; }
  .data td.marked { outline: 2px solid var(--accent); outline-offset: -1px; }
  .data :is(th, td) a { display: block; color: inherit; text-decoration: none; }
  .data :is(del, ins) { unicode-bidi: isolate; } /* an arrow leads from one to the other */
  .data small { display: block; font-size: 0.875rem; }
  .data th small { color: var(--text); font-weight: 600; }

  .data.map tbody th { position: sticky; left: 0; z-index: 1; background: var(--background); }
  .data.map tbody td { padding: 0; min-width: 2.4rem; box-shadow: 0 0 0 1px var(--grid); }
  .data.map tbody td[class^="d"]:not(:has(small)) { min-width: 2rem; } /* no sign stands there */
  .data.map td a { padding: 0 0.2rem; }
  .data.map td a:is(:hover, :focus-visible) { outline: 2px solid var(--text);
                                              outline-offset: -2px; }
  .data.map tr > :is(th, td):has(small) { padding: 0.15rem 0.7rem; line-height: 1.35; }
  .data.map tbody td:has(small) { min-width: 6.5rem; }
  .data.map tbody th:has(small) { text-align: right; }

  .data.rows { border: 1px solid var(--grid); border-radius: 8px; overflow: auto; }
  .data.rows.tall { max-height: 620px; }
  .data.rows table { border-spacing: 0; min-width: 100%; }
  .data.rows :is(th, td) { padding: 0 0.35rem; text-align: right; }
  .data.rows tbody td:is([class^="s"], [class^="d"]) {
    min-width: 2.5rem; padding: 0 0.25rem;
    border-left: 1px solid var(--background); border-top: 1px solid var(--background);
  }
  .data.rows thead th { position: sticky; top: 0; z-index: 2; background: var(--surface);
                        color: var(--text); border-bottom: 1px solid var(--grid);
                        vertical-align: bottom; padding: 0.15rem 0.35rem; }
  .data.rows th:first-child { position: sticky; left: 0; z-index: 1; background: var(--surface);
                              text-align: left; border-right: 1px solid var(--grid); }
  .data.rows thead th:first-child { z-index: 3; }
  .data.rows th a { color: var(--text); min-height: 24px; }
  .data.rows th a:is(:hover, :focus-visible) { color: var(--accent); text-decoration: underline; }
  .data.rows tbody tr:hover :is(th, td:not([class^="s"], [class^="d"])) { background: var(--grid); }
  .data thead summary { display: block; min-height: 24px; cursor: help;
                        text-decoration: underline dotted; text-underline-offset: 3px; }
  .data thead summary::-webkit-details-marker { display: none; }
  .data thead details span { position: absolute; width: 1px; height: 1px; overflow: hidden;
                             clip-path: inset(50%); } /* for readers: others see the line below */
  .tables .line:has(.meanings) { container-type: inline-size; }
  .data:not(:has(thead details[open])) .meanings, .data p[class^="m"] { display: none; }
  .data .meanings td { height: auto; padding: 0.3rem 0.35rem; text-align: left; }
  .data .meanings div { width: 0; min-width: 100%; }
  .tables .data .meanings p { position: sticky; left: 0.35rem; margin: 0; white-space: normal;
                              width: min(100%, 100cqi - 1.4rem, 44rem); line-height: 1.4; }
  .data.rows thead th[aria-sort] a { color: var(--accent); }
  .data.rows thead th[aria-sort] a::after { content: " ▾"; }
  .data.rows tr.first > * { border-top: 3px solid var(--grid); }
  .data.rows.few { width: fit-content; } /* the frame ends where the few columns do */
  .data.rows.few table { min-width: 0; }
  .data.rows.few td:not(:first-child) { padding-left: 1.2rem; }

  .data.rows:has(td.text) table { width: 100%; } /* words are broken, rather than cut */
  .data.rows :is(th, td).text { text-align: left; width: 100%; padding-left: 0.8rem; }
  .data.rows td.text:not(:empty) { white-space: normal; min-width: 9rem; }
  .data.rows td.text > span { display: inline-block; max-width: 30rem; }
  .data.rows td.text:has(details) { min-width: 18rem; }
  .data.rows td.text summary { display: block; cursor: pointer; }
  .data.rows td.text summary::-webkit-details-marker { display: none; }
  @media not print {
    .data.rows td.text details:not([open]) summary {
      display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;
    }
  }
  @media (max-width: 700px) { .data.rows td.text:not(:empty) { min-width: 60vw; } }
  .data.rows tbody :is(th, td) a { text-decoration: underline; text-underline-offset: 3px; }
  .data td.text del { color: var(--dim); text-decoration-color: var(--accent); }
  .data td.text ins { color: var(--accent); text-decoration: underline;
                      text-underline-offset: 3px; }
  .data td.text span { color: var(--dim); }
  .data td.text b { color: var(--accent); font-weight: 600; }
  .data.wide tbody td:is([class^="s"], [class^="d"]) { min-width: 0.8rem; padding: 0; }
  .data.wide thead th.word { writing-mode: vertical-rl; transform: rotate(180deg);
                             text-align: left; height: auto; max-height: 9rem; padding: 0.35rem 0; }

  .data.rows tbody td.interval { width: 100%; min-width: 14rem; padding: 0 0.6rem; }
  .data .interval div { position: relative; height: 1.2rem; }
  .data .interval :is(i, b, u) { position: absolute; top: 50%; }
  .data .interval i { height: 2px; margin-top: -1px; background: var(--dim); }
  .data .interval b { width: 7px; height: 7px; margin: -3.5px; border-radius: 50%;
                      background: var(--ink); }
  .data .interval b.lost { background: var(--contrast); }
  .data .interval u { top: 0; bottom: 0; width: 1px; background: var(--grid); }

  .data.list table { border-collapse: collapse; font-size: 0.95rem; }
  .data.list:has(.formula) table { width: 100%; }
  .data.list :is(th, td) { padding: 0.3rem 1.2rem 0.3rem 0; height: auto; line-height: 1.5;
                           text-align: right; }
  .data.list thead th { font-size: 0.875rem; white-space: normal; }
  .data.list tbody th { color: var(--text); }
  .data.list tbody tr { border-top: 1px solid var(--grid); }
  .data.list :is(th:first-child, .formula) { text-align: left; }
  .data.list .formula { padding-left: clamp(0.6rem, 1.2vw, 1.6rem); }
  .data.list :is(th, td):last-child { padding-right: 0; }
  .data .bars { width: 12rem; }
  .data .bars span { display: block; height: 7px; min-width: 1px; margin: 2px 0;
                     background: var(--ink); }
  .data .bars span:first-child { background: var(--dim); }
"""

MOST_OPENED = 24
"""Heads of one table that open a sentence."""
_OPENED = "".join(
    f".data:has(.m{i}[open]) .meanings .m{i} {{ display: block; }}" for i in range(MOST_OPENED)
)


def style_of(scales: Iterable[Scale], theme: Theme) -> str:
    """The style sheet of tables with shades of these scales."""
    shades = "".join(
        f".data td.{class_of(scale, i)} {{ background: {ground}; color: {ink}; }}"
        for scale in sorted(set(scales))
        for i, (ground, ink) in enumerate(grounds_of(scale, theme))
    )
    return f"<style>{_CSS}{_OPENED}{shades}</style>"


def class_of(scale: Scale, stop: int) -> str:
    """The class of cells of this shade: a colour in each of 5,000 cells would be long."""
    return f"{'s' if scale == 'signed' else 'd'}{stop}"
