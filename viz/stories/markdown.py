"""The Markdown of stories -> HTML: what is not one of the signs below is text, and is escaped.

Paragraphs, lists (`- ` and `1. `), smaller headings (`### `), `code`, **strong**, *emphasis*,
[links](https://...) to the web or to a screen (./decode?...), and formulas ($n^2$, or $$n^2$$ on
a line of its own) in the part of LaTeX that viz/formula.py knows.
"""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from transformer.refusal import BETWEEN_WORDS, visible
from viz.formula import FormulaError, mathml

_LISTS = {"ul": re.compile(r"[-*] +"), "ol": re.compile(r"\d{1,3}[.)] +")}
_HEADING = re.compile(r"(#{3,6}) +")
_FORMULA = (
    r"\$\$(?P<block>(?:(?!\n[^\S\n]*\n)[^$`])+)\$\$"
    r"|\$(?P<formula>(?=\S)(?:(?!\n[^\S\n]*\n)[^$`])+(?<=\S))\$(?!\d)"  # "$5 and $6" has none
)
_NO_FORMULA = r"\\(?P<sign>[\\`*_\[\]()#.!+$-])|`(?P<code>[^`]+)`"
_FORMULAS = re.compile(f"{_NO_FORMULA}|{_FORMULA}")
_INLINE = re.compile(
    f"{_NO_FORMULA}|{_FORMULA}"
    r"|\*\*(?P<strong>[^*]+)\*\*"
    r"|\*(?P<em>[^*\s][^*]*)\*"
    r"|\[(?P<words>[^\]]+)\]\((?P<to>[^()\s]+)\)"
)
_SAFE = re.compile(r"https?://|\./")


def as_html(text: str) -> str:
    """Elements that may stand anywhere; no attribute holds anything but an address."""
    text = visible(text.expandtabs(1), f"{BETWEEN_WORDS}\n")
    blocks = re.split(r"\n[^\S\n]*\n", text)
    return "".join(_block(block.strip("\n").split("\n")) for block in blocks if block.strip())


def spelled_formulas(text: str) -> str:
    """The same text with the source of each formula in its place: for where none can be drawn."""
    return _FORMULAS.sub(_as_code, text)


def _as_code(match: re.Match[str]) -> str:
    formula = match["block"] or match["formula"]
    return f"`{formula}`" if formula else match[0]


def formula_faults(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line, counted from 0, and the reason of each formula that cannot be drawn."""
    for match in _FORMULAS.finditer(text):
        try:
            mathml(match["block"] or match["formula"] or "")
        except FormulaError as error:
            why = str(error).rstrip(".")
            yield text.count("\n", 0, match.start()), why[:1].lower() + why[1:]


def _block(lines: list[str]) -> str:
    """Lines without an empty one: lists, headings and paragraphs, as they come."""
    return "".join(_part(kind, list(lines_of)) for kind, lines_of in groupby(lines, _kind))


def _kind(line: str) -> str:
    lists = (name for name, sign in _LISTS.items() if sign.match(line.lstrip()))
    return "heading" if _HEADING.match(line) else next(lists, "p")


def _part(kind: str, lines: list[str]) -> str:
    if kind == "heading":
        return "".join(f"<h4>{_inline(_HEADING.sub('', line, count=1))}</h4>" for line in lines)
    if kind == "p":
        return f"<p>{_inline(' '.join(_stripped(lines)))}</p>"
    items = (_LISTS[kind].sub("", line, count=1) for line in _stripped(lines))
    return f"<{kind}>{''.join(f'<li>{_inline(item)}</li>' for item in items)}</{kind}>"


def _stripped(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines)


def _inline(text: str) -> str:
    parts, end = [], 0
    for match in _INLINE.finditer(text):
        parts += [_escaped(text[end : match.start()]), _marked(match)]
        end = match.end()
    return "".join((*parts, _escaped(text[end:])))


def _marked(match: re.Match[str]) -> str:
    name = match.lastgroup if match["to"] is None else "a"
    if name == "sign":
        return _escaped(match["sign"])
    if name == "code":
        return f"<code>{_escaped(match['code'])}</code>"
    if name in ("block", "formula"):
        return _formula(match[name], is_block=name == "block")
    if name == "a":
        if not _SAFE.match(match["to"]):
            return _escaped(match[0])
        here = "data-state " * match["to"].startswith("./")  # without loading the page anew
        return f'<a {here}href="{_escaped(match["to"])}">{_inline(match["words"])}</a>'
    return f"<{name}>{_inline(match[name or ''])}</{name}>"


def _formula(formula: str, is_block: bool) -> str:
    """Draw a formula, or show its source where it cannot be drawn."""
    try:
        return mathml(visible(formula), is_block)
    except FormulaError:
        return f"<code>{_escaped(formula)}</code>"


def _escaped(text: str) -> str:
    return html.escape(visible(text))
