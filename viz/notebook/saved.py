"""Components and charts as pages without a server hold them: drawn first, and typed into."""

import html
import io
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import Any

from viz.components.kit.browser import Component, unpack
from viz.components.question.question import QUESTION, question_data
from viz.exhibits.chart import Chart
from viz.live.alive.request import EngineRequest, payload_request
from viz.painters.chart_sheet import SHAPE, sheet
from viz.paper.printed import png
from viz.paper.sheet import INCH, Sheet
from viz.theme import Theme

Data = Callable[[bytes, Theme], bytes]
"""(payload, theme) -> what the component is given: a head that is the theme's, then the payload."""

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
    picture: Any = None
    """A `Picture` of viz/components, which packs the payload; None: nothing packs it of a text."""
    of_any: Data | None = None
    """`data` with the state that fits any text; None: all of it does."""

    @property
    def payload_request(self) -> dict[str, Any]:
        """The way in which an engine packs it. Raises AliveError."""
        return payload_request(self.picture)


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
    typed: EngineRequest | None = None
    """The request of a scene whose reader types; None: it was recorded, and stays so."""
    why_recorded: str = ""
    """The reason, in a clause, why nobody types into a scene that is meant to be live."""


def question(before: bytes, after: bytes) -> SavedPicture:
    """The question of a scene. before, after: its payload without and with the answer."""
    return SavedPicture(QUESTION, question_data, before, "A question", {("reveal",): after})


# Pictures as JSON in a page.


def payloads(data: Data, payload: bytes, themes: tuple[Theme, ...]) -> dict[str, Any]:
    """The payload once, and before it what each theme adds to it."""
    heads = {}
    for theme in themes:
        whole = data(payload, theme)
        assert whole.endswith(payload)
        heads[theme.name] = _base64(whole.removesuffix(payload))
    return {"heads": heads, "payload": _base64(payload)}


def scene_typed(
    request: EngineRequest,
    written: str,
    pictures: "Sequence[SavedPicture]",
    themes: Sequence[Theme],
) -> dict[str, Any]:
    """Return a scene as viz/live/alive/typing.js takes it. Raises AliveError."""
    return {
        **request.data(),
        "written": written,
        "pictures": [[each.component.name, each.payload_request] for each in pictures],
        "states": {
            each.component.name: {
                theme.name: unpack((each.of_any or each.data)(b"", theme))[0] for theme in themes
            }
            for each in pictures
        },
    }


def saved_content(picture: "SavedPicture", themes: tuple[Theme, ...]) -> dict[str, Any]:
    """Return a picture as pages without a server draw it first, and what it answers by itself."""
    return {
        "component": picture.component.name,
        "first": payloads(picture.data, picture.payload, themes),
        "answers": {
            json.dumps(asks, separators=(",", ":"), default=index): payloads(
                picture.data, answer, themes
            )
            for asks, answer in picture.answers.items()
        },
    }


def draws_of(components: Iterable[Component]) -> str:
    """Code: `draws`, from the name of each component to its drawing code."""
    named = {each.name: each for each in components}
    draws = ",\n".join(f"{json.dumps(name)}: {each.script}" for name, each in named.items())
    return f"const draws = {{{draws}}};"


def json_element(name: str, content: Any) -> str:
    """An element whose text is JSON."""
    # No text that is a page's may end its element: JSON may write "<" as a number instead.
    text = json.dumps(content).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}">{text}</script>\n'


def _base64(content: bytes) -> str:
    return b64encode(content).decode()
