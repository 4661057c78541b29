"""Tables as HTML: links that the address component goes to without loading the page anew."""

import html
import re
from collections.abc import Iterator, Sequence

from viz.exhibits.shading import Scale
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
from viz.painters.shades import stop_of, stops_of
from viz.painters.table_style import MOST_OPENED, class_of, style_of
from viz.theme import Theme

TALL = 24
"""Rows beyond which a table scrolls by itself, below its heads."""
SHORT = 32
"""Characters that two lines beside the numbers have room for."""


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
    title, remark = (
        f'<p class="{name}">{html.escape(text)}</p>' if text else ""
        for name, text in (("title", tables.title), ("remark", tables.remark))
    )
    return f'<div class="tables">{title}{remark}{legend}{lines}</div>'


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
        words = f'<a data-state href="{html.escape(column.link)}" title="Sort by this">{words}</a>'
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
        return _interval(cell.interval, column.axis)
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


def _interval(ends: tuple[float | None, float, float | None], axis: tuple[float, float]) -> str:
    """A value with its interval on a scale that all rows share, and where 0 is."""
    low, value, high = ends
    zero, place = place_on(axis, 0.0), place_on(axis, value)
    line = ""
    if low is not None and high is not None:
        left, right = place_on(axis, low), place_on(axis, high)
        line = f'<i style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
    lost = " class=lost" * (value < 0)
    return (
        f'<div><u style="left:{zero:.2f}%"></u>{line}<b{lost} style="left:{place:.2f}%"></b></div>'
    )


def _legend(legend: Legend, theme: Theme) -> str:
    stops = ", ".join(stops_of(legend.scale, theme))
    ramp = f'<span class="ramp" style="background:linear-gradient(90deg,{stops})"></span>'
    hint = f" <span data-control>{html.escape(legend.hint)}</span>" if legend.hint else ""
    low, high, says = map(html.escape, (legend.low, legend.high, legend.says))
    return f'<div class="legend">{low} {ramp} {high} {says}{hint}</div>'
