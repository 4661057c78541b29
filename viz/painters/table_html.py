"""Tables as HTML, and their look on the screen."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence

from viz.exhibits.chart import Scale
from viz.exhibits.table import (
    Cell,
    Change,
    Column,
    Legend,
    Row,
    Sample,
    Table,
    Tables,
    as_tables,
    place_on,
)
from viz.painters.shades import grounds_of, stop_of, stops_of
from viz.theme import Theme

# The look of tables on the screen: one style for all of them, in the colours of the theme.

_CSS = """
  .tables .line { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-start; }
  .tables .line > div { min-width: 0; max-width: 100%; }
  .tables .line > div:has(.rows, .formula) { flex: 1 1 100%; }
  .tables .legend, .tables p { color: var(--dim); font-size: 0.875rem; }
  .tables p { margin: 0.2rem 0 0.6rem; font-variant-numeric: tabular-nums; }
  .tables :is(.title, .plain) {
    margin: 0; color: var(--text); font-size: 1.25rem; line-height: 1.3;
  }
  .tables .plain { display: var(--fewer, none); }
  .tables .title:has(+ .plain) { display: var(--more, block); }
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
  .data.rows thead tr:where(:not(.meanings)) > * { /* an empty one, too */
    position: sticky; top: 0; z-index: 2; background: var(--surface); color: var(--text);
    border-bottom: 1px solid var(--grid); vertical-align: bottom; padding: 0.15rem 0.35rem;
  }
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


# Tables as HTML: links that the address component goes to without loading the page anew.

TALL = 24
"""Rows beyond which a table scrolls by itself, below its heads."""
SHORT = 32
"""Characters that two lines beside the numbers have room for."""
SORT_BY = "Sort by this"


def table_html(content: Table | Tables, theme: Theme) -> str:
    """All of it, with the style that it needs where no page has that. All texts are escaped."""
    scales = {table.scale for table in as_tables(content) if _has_shades(table)}
    return f"{style_of(scales, theme)}{table_body(content, theme)}"


def table_body(content: Table | Tables, theme: Theme) -> str:
    """All of it, for a page that has the style of tables (`style_of`). All texts are escaped."""
    tables = as_tables(content)
    lines = "".join(
        f'<div class="line">{"".join(map(_table, line))}</div>' for line in tables.lines
    )
    legend = "" if tables.legend is None else _legend(tables.legend, theme)
    title, plain, remark = (
        f'<p class="{name}">{html.escape(text)}</p>' if text else ""
        for name, text in (
            ("title", tables.title),
            ("plain", tables.plain),
            ("remark", tables.remark),
        )
    )
    return f'<div class="tables">{title}{plain}{remark}{legend}{lines}</div>'


def samples_body(samples: Sequence[Cell]) -> str:
    """Names with the lines that they have in charts, in a line; the same of its style."""
    names = "".join(f"<span>{_text(each)}</span>" for each in samples)
    return f'<div class="tables samples">{names}</div>'


def _has_shades(table: Table) -> bool:
    return any(cell and cell.shade is not None for row in table.rows for cell in row.cells)


def _table(table: Table) -> str:
    caption = f"<figcaption>{html.escape(table.title)}</figcaption>" if table.title else ""
    columns, meanings = table.above[1:], _meanings(table)
    head = "".join(
        f"<tr>{''.join(_head(each, meanings) for each in line)}</tr>" for line in table.lines_above
    )
    head += _opened(meanings, len(table.above))
    body = "".join(_row(row, columns, table.scale) for row in table.rows)
    result = f" <b>{html.escape(table.result)}</b>" if table.result else ""
    foot = f"<p>{html.escape(table.below)}{result}</p>" if table.below else ""
    if not table.rows and table.kind != "map":  # heads above nothing: as if rows were to come
        title = f'<p class="title">{html.escape(table.title)}</p>' if table.title else ""
        return f"<div>{title}{foot}</div>"
    name = html.escape(table.name)
    region = f' tabindex="0" role="region" aria-label="{name}"' if table.kind == "rows" else ""
    named = "" if region or table.title else f' aria-label="{name}"'
    return (
        f'<div><figure class="{" ".join(_classes(table))}"{region}>{caption}<table{named}>'
        f"<thead>{head}</thead><tbody>{body}</tbody></table></figure>{foot}</div>"
    )


def _classes(table: Table) -> Iterator[str]:
    yield from ("data", table.kind)
    if len(table.rows) > TALL:
        yield "tall"
    if table.is_wide:
        yield "wide"
    if not any(each.is_word or each.is_text or each.axis for each in table.columns):
        yield "few"


def _meanings(table: Table) -> list[Column]:
    """The heads that open what their numbers are."""
    heads = (each for line in table.lines_above for each in line)
    return [each for each in heads if each.explain and not each.link][:MOST_OPENED]


def _opened(meanings: Sequence[Column], n_columns: int) -> str:
    """A line below the heads with the sentences of those that are open: it is as wide as the table,
    which none of them widens. Readers of screens find each within its head.
    """
    if not meanings:
        return ""
    sentences = "".join(
        f'<p class="m{i}"><b>{_formula(each.title, each.is_formula)}</b> '
        f"{html.escape(each.explain)}</p>"
        for i, each in enumerate(meanings)
    )
    cell = f'<td colspan="{n_columns}"><div>{sentences}</div></td>'
    return f'<tr class="meanings" aria-hidden="true">{cell}</tr>'


def _head(column: Column, meanings: Sequence[Column]) -> str:
    text, small = _formula(column.title, column.is_formula), _small(column.small)
    if not text + small:
        return "<td></td>"
    names = [name for name in ("word", "text", "marked") if getattr(column, f"is_{name}")]
    look = f' class="{" ".join(names)}"' if names else ""
    span = f' colspan="{column.n_columns}"' if column.n_columns > 1 else ""
    order = ' aria-sort="ascending"' if column.is_sorted else ""
    words = f"{text}{small}"
    if column in meanings:
        meaning = f"<span>{html.escape(column.explain)}</span>"
        place = f"m{meanings.index(column)}"
        words = f'<details class="{place}"><summary>{words}</summary>{meaning}</details>'
    if column.link:
        words = f'<a data-state href="{html.escape(column.link)}" title="{SORT_BY}">{words}</a>'
    return f'<th scope="col"{look}{span}{order}>{words}</th>'


def _row(row: Row, columns: Sequence[Column], scale: Scale) -> str:
    head = f'<th scope="row">{_linked(row.head, _text(row.head))}</th>'
    pairs = zip(row.cells, columns, strict=True)
    cells = (_cell(cell, column, scale) for cell, column in pairs)
    return f"<tr{' class=first' * row.is_first}>{head}{''.join(cells)}</tr>"


def _cell(cell: Cell | None, column: Column, scale: Scale) -> str:
    if cell is None:
        return "<td></td>"
    names = " ".join(_looks(cell, column, scale))
    look = f' class="{names}"' if names else ""
    value = "" if cell.value is None else f' data-value="{cell.value:.6g}"'
    tip = f' title="{html.escape(cell.tip)}"' if cell.tip and not cell.link else ""
    return f"<td{look}{value}{tip}>{_linked(cell, _text(cell, column))}</td>"


def _looks(cell: Cell, column: Column, scale: Scale) -> Iterator[str]:
    """Its classes, that of its shade first."""
    if cell.shade is not None:
        yield class_of(scale, stop_of(cell.shade, scale == "signed"))
    if cell.is_marked:
        yield "marked"
    if cell.is_formula:
        yield "formula"
    if column.is_text:
        yield "text"
    if cell.interval is not None:
        yield "interval"
    if cell.bars:
        yield "bars"


def _text(cell: Cell, column: Column | None = None) -> str:
    """Return the content of a cell."""
    column = column or Column()
    if cell.interval is not None and column.axis is not None:
        # A value with its interval on a scale that all rows share, and where 0 is.
        axis = column.axis
        low, value, high = cell.interval
        zero, place = place_on(axis, 0.0), place_on(axis, value)
        line = ""
        if low is not None and high is not None:
            left, right = place_on(axis, low), place_on(axis, high)
            line = f'<i style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
        lost = " class=lost" * (value < 0)
        least = f'<u style="left:{zero:.2f}%"></u>'
        return f'<div>{least}{line}<b{lost} style="left:{place:.2f}%"></b></div>'
    if cell.changes:
        return _folded(" · ".join(map(_change, cell.changes)), len(cell.plain))
    text = _with_parts(cell) if cell.parts else _formula(cell.text, cell.is_formula)
    text = f"<span>{text}</span>" if column.is_text and text else text
    bars = "".join(f'<span style="width: {100 * share:.1f}%"></span>' for share in cell.bars)
    return f"{_sample(cell.sample)}{text}{_small(cell.small)}{bars}"


def _with_parts(cell: Cell) -> str:
    """The text, with the parts that stand out."""
    pieces, end = [], 0
    for start, stop in cell.parts:
        if start >= end:
            part = html.escape(cell.text[start:stop])
            pieces += [html.escape(cell.text[end:start]), f"<b>{part}</b>"]
            end = stop
    return "".join([*pieces, html.escape(cell.text[end:])])


def _folded(text: str, n: int) -> str:
    """A text of n characters, of which two lines are seen until somebody opens it."""
    return f"<details><summary>{text}</summary></details>" if n > SHORT else text


def _linked(cell: Cell, text: str) -> str:
    if not cell.link:
        return text
    tip = html.escape(cell.tip)
    named = f' title="{tip}" aria-label="{tip}"' if tip else ""
    tab = "" if cell.is_reached else ' tabindex="-1"'
    return f'<a data-state{tab} href="{html.escape(cell.link)}"{named}>{text or "&nbsp;"}</a>'


def _small(text: str) -> str:
    return f"<small>{html.escape(text)}</small>" if text else ""


def _change(change: Change) -> str:
    old, new = map(html.escape, change.parts)
    return " → ".join([f"<del>{old}</del>"] * bool(old) + [f"<ins>{new}</ins>"] * bool(new))


def _formula(text: str, is_formula: bool) -> str:
    return formula_html(html.escape(text)) if is_formula else html.escape(text)


def formula_html(formula: str) -> str:
    """Letters in italics, what follows an underscore below the line.

    >>> formula_html("O(log_k(n))")
    'O(log<sub><i>k</i></sub>(<i>n</i>))'
    """
    lowered = re.sub(r"_(\w)", r"<sub>\1</sub>", formula)
    return re.sub(r"(?<![a-z<])([dknr])(?![a-z])", r"<i>\1</i>", lowered)


def _sample(sample: Sample | None) -> str:
    if sample is None:
        return ""
    stroke, gap = sample.dashes
    line = f"{sample.colour} 0 {stroke}px, transparent {stroke}px {stroke + gap}px"
    ground = f"repeating-linear-gradient(to right, {line})" if gap else sample.colour
    return f'<span class="sample" style="background: {ground}; height: {sample.thick}px"></span>'


def ramp_style(scale: Scale, theme: Theme) -> str:
    """The style of a legend's colours."""
    return f"background:linear-gradient(90deg,{', '.join(stops_of(scale, theme))})"


def _legend(legend: Legend, theme: Theme) -> str:
    ramp = f'<span class="ramp" style="{ramp_style(legend.scale, theme)}"></span>'
    hint = f" <span data-control>{html.escape(legend.hint)}</span>" if legend.hint else ""
    low, high, says = map(html.escape, (legend.low, legend.high, legend.says))
    return f'<div class="legend">{low} {ramp} {high} {says}{hint}</div>'
