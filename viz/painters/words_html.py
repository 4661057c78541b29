"""Words as HTML: numbers stand below the words that they are of."""

from collections.abc import Sequence

from viz.exhibits.words import Line, Role, Span, Words
from viz.labels import escaped

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
