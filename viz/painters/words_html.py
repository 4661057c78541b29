"""Words as HTML, and on a sheet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from transformer.refusal import visible
from viz.exhibits.exhibit import Line, Role, Span, Words
from viz.labels import escaped
from viz.paper.sheet import NORMAL, SMALL, Facts, Mark, Sheet, fitted, is_leftward, moved, width_of
from viz.paper.sheet import Line as Stroke
from viz.paper.sheet import Words as Text
from viz.theme import Theme

# Words as HTML: numbers stand below the words that they are of.

STYLE = """
<style>
  .text-lines { line-height: 1.3; }
  .text-lines dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 0.8rem;
                   align-items: baseline; }
  .text-lines :is(dl, dt, dd, p) { margin: 0 !important; padding: 0 !important; }
  .text-lines :is(dt, .foot) { color: var(--dim); font-size: 0.875rem; }
  .text-lines small { font-size: 0.875rem; color: var(--dim); font-variant-numeric: tabular-nums; }
  .text-lines dd { word-spacing: 0.15em; }
  .text-lines dt small { display: block; }
  .text-lines:has(.foot) dt small { display: none; } /* the foot says it */
  .text-lines .above { display: inline-flex; flex-direction: column; align-items: center;
                       padding: 0 0.1rem; }
  .text-lines :is(b, s) { unicode-bidi: isolate; } /* as bdi is: no word turns another one */
  .text-lines b { color: var(--accent); text-decoration: underline; text-underline-offset: 3px; }
  .text-lines s { text-decoration-color: var(--accent); text-decoration-thickness: 2px; }
</style>
"""
_TAGS: dict[Role, str] = {"": "bdi", "gone": "s", "new": "b"}


def words_html(words: Words) -> str:
    """All of it, with the style that it needs where no page has that. All texts are `escaped`."""
    return f"{STYLE}{words_body(words)}"


def words_body(words: Words, name: str = "text-lines") -> str:
    """All of it, for a page that has the `STYLE` of words. All texts are `escaped`.

    name: "text-room" where they are not read, and only as much room as they need is left.
    """
    lines = "".join(map(_line, words.lines))
    body = f"<dl>{lines}</dl>" if any(each.title for each in words.lines) else lines
    foot = f'<p class="foot">{_spans(words.foot)}</p>' if words.foot else ""
    return f'<div class="{name}">{body}{foot}</div>'


def _line(line: Line) -> str:
    text = _spans(line.spans)
    if not line.title:
        return f'<p dir="auto">{text}</p>'
    measure = f"<small>{escaped(line.measure)}</small>" if line.measure else ""
    return f'<dt>{escaped(line.title)}{measure}</dt><dd dir="auto">{text}</dd>'


def _spans(spans: Sequence[Span]) -> str:
    return " ".join(map(_span, spans))


def _span(span: Span) -> str:
    tag = _TAGS[span.role]
    value = "" if span.value is None else f' data-value="{span.value:.6g}"'
    text = f"<{tag}{value}>{escaped(span.text)}</{tag}>"
    if not span.small:
        return text
    return f'<span class="above">{text}<small>{escaped(span.small)}</small></span>'


# Words on a sheet: the same lines as on the screen, broken where the next word has no room.

HIGH, BELOW, GAP = 10.0, 7.5, 4.0
"""Points of a row of words, of the numbers below them, and between two lines."""
BESIDE = 2.0
"""Points between two numbers, beside the space between their words."""


@dataclass(frozen=True, eq=False)
class Part:
    """A span with its number, or a word of a span without one: it is never broken."""

    text: str
    span: Span
    facts: Facts
    wide: float
    """In points."""


def words_sheet(words: Words, theme: Theme, width: float) -> Sheet:
    """All lines, as wide as this in points."""
    marks: list[Mark] = []
    y = 0.0
    for line in words.lines:
        if line.title:
            title = f"{line.title}, {line.measure}" if line.measure else line.title
            marks.append(Text(0, y + SMALL, fitted(visible(title), width, SMALL), SMALL, theme.dim))
            y += HIGH
        drawn, high = _line_words_sheet(line, theme, width, NORMAL)
        marks += moved(drawn, 0, y)
        y += high + GAP
    foot, high = _line_words_sheet(Line(words.foot), theme, width, SMALL)
    return Sheet(width, y + high, theme.background, (*marks, *moved(foot, 0, y)))


def _line_words_sheet(
    line: Line, theme: Theme, width: float, size: float
) -> tuple[list[Mark], float]:
    """A line in rows, and how high they are."""
    space, ink = width_of(" ", size), theme.text if size == NORMAL else theme.dim
    parts = [part for span in line.spans for part in _parts(span, line.title, width, size)]
    is_back = is_leftward(" ".join(each.text for each in line.spans))
    marks: list[Mark] = []
    y = 0.0
    for row in _rows(parts, width, space):
        x = 0.0
        for part in _joined(row, size):
            middle = (width - x if is_back else x) + part.wide / (-2 if is_back else 2)
            marks += _part(part, middle, y + size, size, ink, theme)
            x += part.wide + space
        y += HIGH + BELOW * any(part.span.small for part in row)
    return marks, y


def _parts(span: Span, title: str, width: float, size: float) -> Iterator[Part]:
    """Its words, each by itself where no number stands below: the first one has its facts."""
    facts: dict[str, Any] = {
        "line": visible(title),
        "text": visible(span.text),
        "role": span.role,
        "measure": span.measure,
        **span.origin,
    }
    if span.value is not None:
        facts["value"] = span.value
    for text in [span.text] if span.small else span.text.split():
        text = fitted(visible(text), width, size)
        wide = width_of(text, size)
        if span.small:
            wide = BESIDE + max(wide, width_of(span.small, SMALL))
        yield Part(text, span, facts, wide)
        facts = {}


def _rows(parts: Sequence[Part], width: float, space: float) -> Iterator[Sequence[Part]]:
    """Put into each row as many as it has room for, and at least one."""
    row: list[Part] = []
    room = width
    for part in parts:
        if row and part.wide > room:
            yield row
            row, room = [], width
        row.append(part)
        room -= part.wide + space
    if row:
        yield row


def _joined(row: Sequence[Part], size: float) -> Iterator[Part]:
    """Put the words of a row together that are of one span."""
    for _, parts in groupby(row, key=lambda part: id(part.span)):
        first, *others = parts
        text = " ".join([first.text, *(each.text for each in others)])
        yield replace(first, text=text, wide=width_of(text, size)) if others else first


def _part(
    part: Part, middle: float, y: float, size: float, ink: str, theme: Theme
) -> Iterator[Mark]:
    """y: of the line that letters stand on."""
    role = part.span.role
    colour = theme.accent if role == "new" else ink
    yield Text(middle, y, part.text, size, colour, "middle", facts=part.facts)
    if role:
        half, at = width_of(part.text, size) / 2, y + 1.5 if role == "new" else y - 0.3 * size
        yield Stroke((((middle - half, at), (middle + half, at)),), theme.accent, 0.7)
    if part.span.small:
        yield Text(middle, y + BELOW, part.span.small, SMALL, theme.dim, "middle")
