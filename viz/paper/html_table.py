"""A picture that is a table on the screen, read from its HTML: what its cells say, and their looks.

Only what viz/figures writes is read, never a stranger's page.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_SHADE = re.compile(r"td\.(\w+) \{ background: (#[0-9a-f]{6}); color: (#[0-9a-f]{6}); \}")
_STOPS = re.compile(r"linear-gradient\(90deg,([^)]*)\)")
_ON_SCALE = re.compile(r"left: ?(-?[\d.]+)%")
_WIDE = re.compile(r"width: ?([\d.]+)%")
LINES = ("br", "small")
"""Elements that begin a line of their own."""


@dataclass(frozen=True)
class Cell:
    """A cell, or what stands above or beside cells."""

    lines: tuple[str, ...]
    shade: tuple[str, str] | None = None
    """Colours of its ground and of what is written on it."""
    value: float | None = None
    """What the shade stands for."""
    is_head: bool = False
    is_marked: bool = False
    """Framed, or of the accent where it is a head."""
    span: tuple[float, ...] = ()
    """Percent of a scale that is as wide as the cell: 0, a value, and the ends of its interval."""
    look: str = ""
    """ "words": a text beside the numbers; "span": a scale."""


@dataclass(frozen=True)
class Table:
    """Rows of cells below a title."""

    title: str
    heads: list[list[Cell]]
    rows: list[list[Cell]]


@dataclass(frozen=True)
class Text:
    """A line beside tables; a scale stands where `stops` are, between what is said."""

    parts: tuple[str, str]
    stops: tuple[str, ...] = ()


Block = Table | Text


@dataclass
class _Node:
    tag: str
    attributes: dict[str, str]
    children: "list[_Node | str]" = field(default_factory=list)

    def all(self, tag: str) -> "Iterator[_Node]":
        for child in self.children:
            if isinstance(child, _Node):
                if child.tag == tag:
                    yield child
                yield from child.all(tag)

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


def read_tables(html: str) -> list[Block]:
    """Tables and what is said beside them, in their order."""
    reader = _Reader()
    reader.feed(html)
    styles = "".join(_text(node) for node in reader.root.all("style"))
    shades = {name: (ground, ink) for name, ground, ink in _SHADE.findall(styles)}
    return list(_blocks(reader.root, shades, ""))


class _Reader(HTMLParser):
    """The elements of a text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = _Node("", {})
        self.opened = [self.root]  # and those below which nothing is kept, as they are only used

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = _Node(tag, {name: value or "" for name, value in attrs})
        if "data-control" not in node.attributes:
            self.opened[-1].children.append(node)
        if tag != "br":
            self.opened.append(node)

    def handle_endtag(self, tag: str) -> None:
        if self.opened[-1].tag == tag:
            self.opened.pop()

    def handle_data(self, data: str) -> None:
        self.opened[-1].children.append(data)


def _blocks(node: _Node, shades: dict[str, tuple[str, str]], title: str) -> Iterator[Block]:
    for child in node.children:
        if isinstance(child, str) or child.tag == "style":
            continue
        if child.tag == "table":
            yield _table(child, shades, title)
        elif child.tag == "p" or (child.tag == "div" and not list(child.all("table"))):
            if (said := _said(child)).parts != ("", ""):
                yield said
        elif child.tag != "figcaption":
            named = next(child.all("figcaption"), None) if child.tag == "figure" else None
            yield from _blocks(child, shades, title if named is None else _text(named))


def _said(node: _Node) -> Text:
    parts = ["", ""]
    stops: tuple[str, ...] = ()
    for child in node.children:
        found = isinstance(child, _Node) and _STOPS.search(child.attributes.get("style", ""))
        if found:
            stops = tuple(each.strip() for each in found[1].split(","))
        else:
            parts[bool(stops)] += child if isinstance(child, str) else _text(child)
    first, second = (" ".join(part.split()) for part in parts)
    return Text((first, second), stops)


def _table(node: _Node, shades: dict[str, tuple[str, str]], title: str) -> Table:
    head = next(node.all("thead"), None)
    body = next(node.all("tbody"), node)
    heads = [] if head is None else [_row(row, shades) for row in head.all("tr")]
    return Table(title, heads, [_row(row, shades) for row in body.all("tr")])


def _row(node: _Node, shades: dict[str, tuple[str, str]]) -> list[Cell]:
    cells = [it for it in node.children if isinstance(it, _Node) and it.tag in ("th", "td")]
    return [_cell(cell, shades) for cell in cells]


def _cell(node: _Node, shades: dict[str, tuple[str, str]]) -> Cell:
    value, classes = node.attributes.get("data-value"), node.classes
    return Cell(
        tuple(line for line in _lines(node) if line) or ("",),
        next((shades[name] for name in classes if name in shades), None),
        None if value is None else float(value),
        node.tag == "th",
        bool({"kept", "chosen", "other"} & set(classes)),
        _span(node),
        next((name for name in ("words", "span") if name in classes), ""),
    )


def _span(node: _Node) -> tuple[float, ...]:
    """Where 0, the value, and the ends of its interval stand."""
    if "span" not in node.classes:
        return ()
    styles = {each.tag: each.attributes.get("style", "") for each in _nodes(node)}
    found = {tag: _ON_SCALE.search(style) for tag, style in styles.items()}
    places = [float(it[1]) for tag in ("u", "b", "i") if (it := found.get(tag))]
    if wide := _WIDE.search(styles.get("i", "")):
        places.append(places[-1] + float(wide[1]))
    return tuple(places)


def _nodes(node: _Node) -> Iterator[_Node]:
    for child in node.children:
        if isinstance(child, _Node):
            yield child
            yield from _nodes(child)


def _lines(node: _Node) -> list[str]:
    lines = [""]
    for child in node.children:
        if isinstance(child, str):
            lines[-1] += child
            continue
        if child.tag in LINES:
            lines.append("")
        own = _lines(child)
        lines[-1] += own[0]
        lines += own[1:]
    return [" ".join(line.split()) for line in lines] if node.tag in ("th", "td") else lines


def _text(node: _Node) -> str:
    return "".join(each if isinstance(each, str) else _text(each) for each in node.children)
