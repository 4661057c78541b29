"""A part of a page that links change: a browser shows it before the page has run.

A run costs the browser more than the part does (docs/performance.md). So a page says what the part
is for other choices, a link to one of them asks for it, and the run that follows draws the same.
"""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit, Words
from viz.painters.bars_html import WIDTHS, side_by_side, titled
from viz.painters.words_html import words_body
from viz.screen import Screen, parse, put, query, value_of
from viz.state.live_preview import let_links_ask
from viz.state.state import current_theme
from viz.talks.stage import on_wall
from viz.theme import Theme
from viz.ui.showing import body_of, columns, show, show_words


@dataclass(frozen=True)
class Part:
    """A part of a page that shows some of its choices."""

    links: str
    """HTML that leads to other choices: nobody follows it on a wall."""
    columns: Sequence[Sequence[Exhibit | Words]]
    """Tables, words and upright bars, in two columns; what is not main has its title above it."""

    def body(self, look: Theme) -> str:
        """All of it, as HTML."""
        return self.links + side_by_side(
            *([_body(it, look) for it in each] for each in self.columns)
        )


def show_ahead(screen: Screen, fields: Sequence[str], part: Callable[[Screen], Part]) -> None:
    """Draw a part of the page.

    fields: of the Screen, whose choices it shows. part: called in another thread as well, where
    nothing of the session is, with a Screen that differs in these alone.
    """
    if on_wall():
        _show_on_wall(part(screen))
        return
    look = current_theme()

    def there(text: str) -> str | None:
        """The part at another address; None where that differs in more."""
        other = parse(dict(parse_qsl(text)) | {"page": screen.page})
        is_near = put(other, **{name: value_of(screen, name) for name in fields}) == screen
        return markup(other) if is_near else None

    def markup(at: Screen) -> str:
        body, place = part(at).body(look), html.escape(query(at))
        return f'<div data-ahead="{address}" data-at="{place}">{body}</div>'

    address = let_links_ask(there)
    st.html(markup(screen))


def _show_on_wall(part: Part) -> None:
    for column, each in zip(columns(WIDTHS, gap="large"), part.columns, strict=True):
        with column:
            for it in each:
                if isinstance(it, Words):
                    show_words(it)
                else:
                    show(it, it.title)


def _body(it: Exhibit | Words, look: Theme) -> str:
    if isinstance(it, Words):
        return words_body(it)
    return body_of(it, look) if it.is_main else titled(it.title, body_of(it, look))
