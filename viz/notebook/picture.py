"""A browser component in a page of its own: in a notebook, in a browser, as a file."""

import html
import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

from transformer.analysis.reading import Reading
from transformer.causes import Evidence
from transformer.corpus.shipped import ShippedSurvey
from transformer.corpus.surveyed import Survey
from transformer.decoding import Decoding
from transformer.device import usual_state
from transformer.discover import discover
from transformer.extras import NotInstalled
from transformer.files.foreign_text import write_whole
from transformer.inputs import (
    NUMBER,
    PATH,
    TEXT,
    YES_OR_NO,
    InputError,
    Wanted,
    all_whole,
    checks,
    of_class,
)
from transformer.recording import Recording
from transformer.refusal import quoted
from viz.components.kit.browser import Component, bundle, palette
from viz.components.question.question import QUESTION, question_data
from viz.exhibits.chart import Chart
from viz.export import page_html
from viz.painters.chart_sheet import SHAPE, sheet
from viz.paper.figure import KINDS, Figure, of_component
from viz.paper.printed import png
from viz.paper.record import FigureError, Record, versions
from viz.paper.sheet import INCH, Sheet
from viz.theme import DARK, LIGHT, Theme

# A picture where it cannot be pointed at: an image or a table, and the sentence that says so.
#
# Whoever takes frames out of an output takes styles out, too: JupyterLab of a notebook that it
# does not trust, others of every notebook. So the style that hides the still goes with the frame.

OUTPUT, CLASS = "headscope-output", "headscope-still"
HIDING = f"<style>.{OUTPUT}:has(iframe) > .{CLASS} {{ display: none }}</style>"
"""A still is hidden by the frame of its own output: another cell may have lost its own. Marimo puts
an element around each frame, so no still follows one there."""
STILL_WIDTH = 6.9
"""Inches: two columns of a paper, about as wide as a notebook."""


def image(figure: Figure | None, title: str) -> str:
    """Draw the figure as an image; empty where there is none, or nothing that draws it."""
    if figure is None:
        return ""
    try:
        source = b64encode(figure.file("svg", STILL_WIDTH)).decode()
    except (FigureError, NotInstalled):
        return ""
    return f'<img alt="{html.escape(title)}" src="data:image/svg+xml;base64,{source}">'


# Arguments of pictures: a wrong one ends in a sentence that says what to give.

P = ParamSpec("P")
T = TypeVar("T")

WANTED = {
    "recording": of_class(
        Recording,
        "a recording, which record(checkpoint, text, target) and record(module, inputs) make",
    ),
    "decoding": of_class(Decoding, "a decoding, as decode(checkpoint, text) makes it"),
    "evidence": of_class(Evidence, "evidence, as evidence(checkpoint, text) finds it"),
    "survey": of_class(
        (Survey, ShippedSurvey), "a survey, as survey(checkpoint, sentences) makes it"
    ),
    "heads": Wanted(all_whole, "a list of heads, counted from 0").or_none,
    "lens": of_class((str, Reading), "the name of a lens, or a Reading"),
    "word": Wanted(lambda it: TEXT.fits(it) or NUMBER.fits(it), "a written word, or its number"),
    "height": NUMBER.or_none,
    "path": YES_OR_NO,
    "words": YES_OR_NO,
    "query": NUMBER,
    "key": NUMBER,
    "kind": TEXT.or_none,
    **dict.fromkeys(("show", "sort", "theme", "name"), TEXT),
}
"""The arguments by their names, which are the same in every picture."""


def pictured(function: Callable[P, T]) -> Callable[P, T]:
    """A function that draws what it is given, wherever a caller has tensors made."""
    return usual_state()(checks(**WANTED)(function))


# A browser component in a page of its own: in a notebook, in a browser, as a file.

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
    files: Mapping[str, Callable[[], bytes]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Ending of a further file -> what makes it."""

    def _repr_html_(self) -> str:
        """A frame, so that styles do not leak and many can stand on one page; and its still."""
        fits = _ANY_HEIGHT if self.height is None else ""
        frame = (
            f'<iframe srcdoc="{html.escape(self.html)}" title="{html.escape(self.title)}" '
            f'{fits} style="width: 100%; height: {self.height or HEIGHT}px; border: 0"></iframe>'
        )
        # A frame, and what stands where it is left out. content: HTML, empty where there is
        # none.
        content = self.table or image(self.figure, self.title)
        what = "this is a still of it" if content else "it is not shown"
        sentence = (
            f"{html.escape(self.title)}: {what}, as frames are left out here. "
            "Run the cell again, or trust the notebook, to point at things."
        )
        behind = f'<div class="{CLASS}">{content}<p>{sentence}</p></div>'
        return f'<div class="{OUTPUT}">{HIDING}{frame}{behind}</div>'

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print what a front end shows that draws nothing. printer: IPython's."""
        printer.text(
            f"{self.title}: a picture, not shown as text. Its .save() writes it to a file."
        )

    @checks(path=PATH)
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
        elif kind in self.files:
            content = self.files[kind]()
        else:
            kinds = [*PAGES[:1], *(KINDS if self.figure else ()), *self.files]
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
    around it, else as the system. Raises InputError.
    """
    themes = themes_of(theme)
    if height is not None and height < 1:
        raise InputError(f"A height of {height} pixels shows nothing: leave it out, or say more.")
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
    """The themes that a page has: two, of which it chooses one, or one. Raises InputError."""
    themes = {"auto": (LIGHT, DARK), "light": (LIGHT,), "dark": (DARK,)}
    if name not in themes:
        raise InputError(f"There is no theme {name!r}: there are {', '.join(themes)}.")
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


# A chart on a wall: drawn as for a paper, without Plotly's code, live and where no server is.

CHART_IMAGE_WIDTH = 6.2
"""Inches: then the least type of a figure is 24 px where this is as wide as 1920 px of a wall."""
TALLEST = 0.3
"""Its share of the width: the area between the axes. A wall is wide, and words stand above."""
BESIDE = 0.21
"""The same of a chart in a column, above which more may stand."""


GAP = 0.055
"""Its share of the page's width: between two columns of a wall."""


@dataclass(frozen=True, eq=False)
class ChartImage:
    """A chart that a page shows as an image."""

    sheet: Callable[[Theme, float], Sheet]
    """In which colours, and for how much of the page's width -> what is drawn."""
    says: str
    """The alternative text."""


def chart_images(charts: Sequence[ChartImage], themes: Sequence[Theme]) -> str:
    """Side by side, an image for each theme: the page's style shows that of its own."""
    share = (1 - GAP * (len(charts) - 1)) / max(1, len(charts))
    return "".join(
        _boxed(_image(chart.sheet(each, share), chart.says, each.name) for each in themes)
        for chart in charts
    )


def chart_image(chart: Chart, theme: Theme, says: str, share: float = 1.0) -> str:
    """The image of a chart in the colours of the page.

    share: of the page's width, for it.
    """
    return _boxed([_image(sheet_of(chart, theme, share), says, "")])


def sheet_of(chart: Chart, theme: Theme, share: float) -> Sheet:
    """A chart for so much of the page's width."""
    width = CHART_IMAGE_WIDTH * INCH
    shape, tallest = (SHAPE, TALLEST) if share == 1 else (BESIDE / share, BESIDE)
    return sheet(chart, theme, share * width, shape, tallest * width)


def _boxed(images: Iterable[str]) -> str:
    return f'<div class="printed">{"".join(images)}</div>'


def _image(sheet: Sheet, says: str, theme: str) -> str:
    from PIL import Image  # with matplotlib: only when a figure is made

    file = io.BytesIO()
    with Image.open(io.BytesIO(png(sheet, "", says, ""))) as image:
        image.convert("RGB").save(file, "WEBP", lossless=True, method=2)  # half of a PNG
    source = f"data:image/webp;base64,{b64encode(file.getvalue()).decode()}"
    return f'<img class="{theme}" alt="{html.escape(says)}" src="{source}">'


# A scene of a story without a server: its pictures and charts, as they are saved.


@dataclass(frozen=True, eq=False)
class SavedPicture:
    """A component with what it draws."""

    component: Component
    data: Data
    payload: bytes
    says: str
    """The alternative text."""
    answers: Mapping[tuple[Any, ...], bytes] = field(default_factory=dict)
    """Payloads by what is asked for, as `viz.notebook.picture.picture` takes them."""


@dataclass(frozen=True, eq=False)
class SavedScene:
    """A scene as the model answered it."""

    text: str | None = None
    """The sentence that was read; None where the page is about no sentence."""
    written: str = ""
    pictures: tuple[SavedPicture, ...] = ()
    charts: tuple[ChartImage, ...] = ()
    """Drawn as images, where no component draws anything."""
    outputs: str = ""
    """The change of the output where the model is changed, as HTML."""


def question(before: bytes, after: bytes) -> SavedPicture:
    """The question of a scene. before, after: its payload without and with the answer."""
    return SavedPicture(QUESTION, question_data, before, "A question", {("reveal",): after})
