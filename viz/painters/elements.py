"""HTML of our painters as nested lists, of which a browser makes elements: it parses none."""

from html.parser import HTMLParser
from typing import Any

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
