"""A browser component in a page of its own: in a notebook, in a browser, as a file."""

import html
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any, Literal

from transformer.discover import discover
from transformer.files.whole_file import write_whole
from transformer.refusal import quoted
from viz.components.kit.browser import Component, palette
from viz.components.kit.modules import bundle
from viz.export import page_html
from viz.notebook.still import image, with_still
from viz.paper.figure import KINDS, Figure, of_component
from viz.paper.record import FigureError, Record, versions
from viz.theme import DARK, LIGHT, Theme

ThemeName = Literal["auto", "light", "dark"]
Data = Callable[[bytes, Theme], bytes]
"""(payload, theme) -> what the component is given: a head that is the theme's, then the payload."""

HEIGHT = 640
"""The height of a picture's frame, in pixels, until the page has measured itself where it may."""
PAGES = ("html", "htm")
"""The endings of a page's file."""
_SHIM = Path(__file__).with_name("stand_alone.js")
_ANY_HEIGHT = 'data-fits=""'
_STYLE = """
h1 { margin: 0; padding: 8px 8px 0; font: 600 14px/1.45 system-ui, sans-serif; }
main { display: flow-root; padding: 8px; }
"""


@dataclass(frozen=True)
class Picture:
    """A picture as a page of its own: a notebook shows it where it is a cell's last value."""

    title: str
    html: str = field(repr=False)
    """A whole page that needs neither a server nor a network."""
    height: int | None = None
    """The height of its frame in a notebook, in pixels; None: as high as it is."""
    figure: Figure | None = field(default=None, repr=False)
    """The same for a paper; None where a picture has none."""
    table: str = field(default="", repr=False)
    """The same as bare HTML, where it is a table."""

    def _repr_html_(self) -> str:
        """A frame, so that styles do not leak and many can stand on one page; and its still."""
        fits = _ANY_HEIGHT if self.height is None else ""
        frame = (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" '
            f'{fits} style="width: 100%; height: {self.height or HEIGHT}px; border: 0"></iframe>'
        )
        return with_still(frame, self.title, self.table or image(self.figure, self.title))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print what a front end shows that draws nothing. printer: IPython's."""
        printer.text(
            f"{self.title}: a picture, not shown as text. Its .save() writes it to a file."
        )

    def save(self, path: str | Path, width: float | None = None) -> Path:
        """Write the page to a file, which any browser opens; or a figure: .svg, .pdf or .png.

        width: of a figure, in inches: 3.3 is a column of a paper, 6.9 two. Raises OSError, and
        FigureError in a sentence.
        """
        file = Path(path)
        kind = file.suffix.removeprefix(".").lower()
        if kind in PAGES:
            content = self.html.encode()
        elif self.figure is not None and kind in KINDS:
            content = self.figure.file(kind, width)
        else:
            kinds = [*PAGES[:1], *(KINDS if self.figure else ())]
            ends = " or ".join(f".{each}" for each in kinds)
            raise FigureError(
                f"This picture cannot be written as {quoted(file.name)}: end it in {ends}."
            )
        write_whole(file, content)
        return file


def picture(
    component: Component,
    title: str,
    data: Data,
    payload: bytes,
    *,
    is_titled: bool = True,
    answers: Mapping[tuple[str, Any], bytes] | None = None,
    theme: ThemeName = "auto",
    height: int | None = None,
) -> Picture:
    """A component that shows a payload.

    is_titled: whether the title stands above; some components say themselves what they are.
    answers: (what the component asks, with which value) -> the payload that it then shows; what is
    not among them stays a matter of the page. theme: "auto" is as light or dark as the notebook
    around it, else as the system. Raises ValueError.
    """
    themes = themes_of(theme)
    if height is not None and height < 1:
        raise ValueError(f"A height of {height} pixels shows nothing: leave it out, or say more.")
    content = {
        "html": component.html,
        "css": component.css,
        "themes": {each.name: palette(each) for each in themes},
        "first": payloads(data, payload, themes),
        "answers": {
            json.dumps(request, separators=(",", ":"), default=index): payloads(
                data, answer, themes
            )
            for request, answer in (answers or {}).items()
        },
    }
    figure = None
    if component.name in discover("viz.paper.drawings", "DRAWING"):
        record = Record("explore", "", "", "", "", "", title, title, versions())
        figure = of_component(component.name, data(payload, themes[0]), record)
    heading = f"<h1>{html.escape(title)}</h1>\n" if is_titled else ""
    body = _body(component, heading, content)
    return Picture(title, page_html(title, body, "transparent"), height, figure)


def themes_of(name: str) -> tuple[Theme, ...]:
    """The themes that a page has: two, of which it chooses one, or one. Raises ValueError."""
    themes = {"auto": (LIGHT, DARK), "light": (LIGHT,), "dark": (DARK,)}
    if name not in themes:
        raise ValueError(f"There is no theme {name!r}: there are {', '.join(themes)}.")
    return themes[name]


def payloads(data: Data, payload: bytes, themes: tuple[Theme, ...]) -> dict[str, Any]:
    """The payload once, and before it what each theme adds to it."""
    heads = {}
    for theme in themes:
        whole = data(payload, theme)
        assert whole.endswith(payload)
        heads[theme.name] = _base64(whole.removesuffix(payload))
    return {"heads": heads, "payload": _base64(payload)}


def _body(component: Component, heading: str, content: Mapping[str, Any]) -> str:
    # No text that is a page's may end its element: JSON may write "<" as a number instead.
    text = json.dumps(content).replace("<", "\\u003c")
    module = f"const drawInto = {component.script};\nconst standAlone = {bundle(_SHIM).script};"
    start = 'standAlone(drawInto, JSON.parse(document.querySelector("#content").textContent));'
    return (
        f"<style>{_STYLE}</style>\n{heading}<main></main>\n"
        f'<script type="application/json" id="content">{text}</script>\n'
        f'<script type="module">\n{inline(module)}\n{start}\n</script>'
    )


def inline(code: str) -> str:
    """Code that an element may hold: in its strings and comments "<\\/script" is "</script"."""
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
