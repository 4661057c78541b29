"""A part of a page that links change: a browser shows it before the page has run.

A run costs the browser more than the part does (docs/performance.md). So a page says what the part
is for other choices, a link to one of them asks for it, and the run that follows draws the same.
"""

import html
from collections.abc import Callable, Sequence
from urllib.parse import parse_qsl

from viz.app_packages import st
from viz.screen import Screen, parse, put, query, value_of
from viz.state.live_preview import let_links_ask


def show_ahead(screen: Screen, fields: Sequence[str], body: Callable[[Screen], str]) -> None:
    """Draw a part of the page, as HTML.

    fields: of the Screen, whose choices it shows. body: called in another thread as well, where
    nothing of the session is, with a Screen that differs in these alone.
    """

    def there(asked: str) -> str | None:
        """The part at another address; None where that differs in more."""
        other = parse(dict(parse_qsl(asked)) | {"page": screen.page})
        is_near = put(other, **{name: value_of(screen, name) for name in fields}) == screen
        return part(other) if is_near else None

    def part(at: Screen) -> str:
        asked = html.escape(query(at))
        return f'<div data-ahead="{address}" data-at="{asked}">{body(at)}</div>'

    address = let_links_ask(there)
    st.html(part(screen))
