"""A browser component in a page of its own: in a notebook, in a browser, as a file."""

import html
import json
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import index
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar, Unpack

from transformer.analysis.reading import Reading
from transformer.causes import Evidence
from transformer.corpus.shipped import ShippedSurvey
from transformer.corpus.surveyed import Survey
from transformer.decoding import Decoding
from transformer.decoding.steps import written_text
from transformer.device import usual_state
from transformer.discover import discover
from transformer.extras import NotInstalled
from transformer.field_docs import fields_in_help
from transformer.files.foreign_text import write_whole
from transformer.inputs import (
    NUMBER,
    PATH,
    TEXT,
    YES_OR_NO,
    InputError,
    Wanted,
    all_whole,
    check,
    checks,
    is_whole,
    of_class,
)
from transformer.origin import Origin
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.refusal import quoted
from transformer.token import Token
from viz.components.kit.browser import Component, bundle, palette
from viz.components.token_rows.token_rows import TITLES, TokenRows
from viz.components.word_card.word_card import WORD_CARD
from viz.export import inline, page_html
from viz.live.alive.request import AliveError, EngineRequest, request_of_origin
from viz.live.alive.weights import Weights, weights_within
from viz.notebook.on_paper import LOOK, WIDTH, Look, OnPaper
from viz.notebook.saved import (
    Data,
    SavedPicture,
    draws_of,
    json_element,
    payloads,
    saved_content,
    scene_typed,
)
from viz.paper.figure import KINDS, Figure, of_component
from viz.paper.record import FigureError, Record, versions
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
        (Survey, ShippedSurvey, str, Path),
        "a survey, as survey(checkpoint, sentences) makes it, or the name of a checkpoint with one",
    ),
    "heads": Wanted(
        lambda it: is_whole(it) or (not isinstance(it, Iterator) and all_whole(it)),
        "a head or a list of heads, counted from 0",
    ).or_none,
    "lens": of_class((str, Reading), "the name of a lens, or a Reading"),
    "word": Wanted(lambda it: TEXT.fits(it) or NUMBER.fits(it), "a written word, or its number"),
    "height": NUMBER.or_none,
    "path": YES_OR_NO,
    "words": YES_OR_NO,
    "live": YES_OR_NO,
    "query": NUMBER.or_none,
    "key": NUMBER.or_none,
    "step": NUMBER,
    "kind": TEXT.or_none,
    **dict.fromkeys(("show", "sort", "theme", "name"), TEXT),
}
"""The arguments by their names, which are the same in every picture."""


def pictured(function: Callable[P, T]) -> Callable[P, T]:
    """A function that draws what it is given, wherever a caller has tensors made."""
    return usual_state()(checks(**WANTED)(function))


# A browser component in a page of its own: in a notebook, in a browser, as a file.

ThemeName = Literal["auto", "light", "dark"]

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


@fields_in_help
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
    made_of: "MadeOf | None" = field(default=None, repr=False, compare=False)
    """Enough to let an engine make it of any other text; None: it is of no one text."""
    files: Mapping[str, Callable[[], bytes]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Ending of a further file -> what makes it."""
    paper: OnPaper | None = field(default=None, repr=False, compare=False)
    """The parts of which its figure is drawn with other choices; None: it has no choices."""

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

    @property
    def live(self) -> "Picture":
        """The same in a page whose reader types: its engine answers in their browser.

        The page holds the checkpoint's weights. Raises AliveError.
        """
        try:
            if self.made_of is None:
                raise AliveError("it is of no one text")
            return replace(self, html=self.made_of.page(self.title))
        except AliveError as error:
            raise AliveError(f"{error.why}: leave live out") from error

    @checks(width=WIDTH.or_none)
    def png(self, width: float | None = None, **look: Unpack[Look]) -> bytes:
        """The figure as a PNG of 300 dots per inch.

        width, look: as `save` takes them. Raises InputError and FigureError.
        """
        return self.on_paper(**look).file("png", width)

    @checks(width=WIDTH.or_none)
    def pdf(self, width: float | None = None, **look: Unpack[Look]) -> bytes:
        """The figure as a PDF. width, look: as `save` takes them. Raises as `png`."""
        return self.on_paper(**look).file("pdf", width)

    @checks(width=WIDTH.or_none)
    def svg(self, width: float | None = None, **look: Unpack[Look]) -> bytes:
        """The figure as an SVG. width, look: as `save` takes them. Raises as `png`."""
        return self.on_paper(**look).file("svg", width)

    def on_paper(self, **look: Unpack[Look]) -> Figure:
        """The figure for a paper. Raises InputError, or FigureError where the picture has none."""
        if unknown := sorted(set(look) - set(Look.__annotations__)):
            names = ", ".join(Look.__annotations__)
            raise FigureError(f"A figure has no choice {quoted(unknown[0])}: it has {names}.")
        check("figure", look, LOOK)
        figure = self.figure if self.paper is None else self.paper.figure(look)
        if figure is None:
            raise FigureError(f"{self.title}: there is no figure of this picture for a paper.")
        if self.paper is None and (more := sorted({*look} - {"font", "slide"})):
            raise FigureError(f"This figure has no choice {more[0]!r}: it has font, slide.")
        return replace(figure, font=look.get("font", ""), is_slide=look.get("slide", False))

    @checks(path=PATH, width=WIDTH.or_none, live=YES_OR_NO, data=PATH.or_none)
    def save(
        self,
        path: str | Path,
        width: float | None = None,
        live: bool = False,
        data: str | Path | None = None,
        **look: Unpack[Look],
    ) -> Path:
        """Write the page to a file, which any browser opens; or a figure: .svg, .pdf or .png.

        path: the file; its ending says which.
        width: of a figure, in inches: 3.3 is a column of a paper, 6.9 two.
        live: True: the reader of the page types sentences of their own, as `live` has it.
        data: a second file, of the figure's numbers: .csv, .parquet, or .npz of all heads.
        look: of a figure and its numbers, each by its name:
            words (bool): the pieces of a word are one row or column; left out: as it shows them.
            scale (str): "root" or "linear", how weights become colours; left out: "root".
            font (str): family or file of the typeface; left out: DejaVu Sans.
            slide (bool): it fills a slide of 16:9; left out: False.
            caption (str): the whole caption; left out: ours, `on_paper().record.caption`.
            checkpoint (str): the model's name in it; left out: that of its folder.

        Returns the path. Raises FigureError for an ending that it cannot have, AliveError where no
        engine makes it, and Unwritten where a file cannot be written; warns of letters that no
        typeface here has.
        """
        file = Path(path)
        kind = file.suffix.removeprefix(".").lower()
        has_figure = self.figure is not None or self.paper is not None
        if look and data is None and kind in (*PAGES, *self.files):
            raise FigureError(
                f"{', '.join(look)}: of a figure, and {quoted(file.name)} is none: leave it out."
            )
        if live and kind in PAGES:
            content = self.live.html.encode()
        elif live:
            raise FigureError(f"Nobody types into {quoted(file.name)}: end it in .html.")
        elif kind in PAGES:
            content = self.html.encode()
        elif has_figure and kind in KINDS:
            figure = self.on_paper(**look)
            content = figure.file(kind, width)
            if lacks := figure.lacks(width):
                warnings.warn(lacks, stacklevel=3)
        elif kind in self.files:
            content = self.files[kind]()
        else:
            kinds = [*PAGES[:1], *(KINDS if has_figure else ()), *self.files]
            ends = " or ".join(f".{each}" for each in kinds)
            raise FigureError(
                f"This picture cannot be written as {quoted(file.name)}: end it in {ends}."
            )
        if data is not None:
            beside = Path(data)
            numbers = self.on_paper(**look).data(beside.suffix.removeprefix(".").lower(), width)
            write_whole(beside, numbers)
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
    made_of: "MadeOf | None" = None,
    live: bool = False,
    paper: OnPaper | None = None,
) -> Picture:
    """A component that shows a payload.

    is_titled: whether the title stands above; some components say themselves what they are.
    answers: (what the component asks, with which value) -> the payload that it then shows; what is
    not among them stays a matter of the page. theme: "auto" is as light or dark as the notebook
    around it, else as the system. live: whether its reader types: see `Picture.live`. Raises
    InputError, and AliveError.
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
            json.dumps(asks, separators=(",", ":"), default=index): payloads(data, answer, themes)
            for asks, answer in (answers or {}).items()
        },
    }
    figure = None
    if component.name in discover("viz.paper.drawings", "DRAWING"):
        record = Record("explore", "", "", "", "", "", title, title, versions())
        figure = of_component(component.name, data(payload, themes[0]), record)
    heading = f"<h1>{html.escape(title)}</h1>\n" if is_titled else ""
    body = _body(component, heading, content)
    html_of_page = page_html(title, body, "transparent")
    result = Picture(title, html_of_page, height, figure, made_of=made_of, paper=paper)
    return result.live if live else result


def themes_of(name: str) -> tuple[Theme, ...]:
    """The themes that a page has: two, of which it chooses one, or one. Raises InputError."""
    themes = {"auto": (LIGHT, DARK), "light": (LIGHT,), "dark": (DARK,)}
    if name not in themes:
        raise InputError(f"There is no theme {name!r}: there are {', '.join(themes)}.")
    return themes[name]


def _body(component: Component, heading: str, content: Mapping[str, Any]) -> str:
    module = f"const drawInto = {component.script};\nconst standAlone = {bundle(_SHIM).script};"
    start = 'standAlone(drawInto, JSON.parse(document.querySelector("#content").textContent));'
    return (
        f"<style>{_STYLE}</style>\n{heading}<main></main>\n{json_element('content', content)}"
        f'<script type="module">\n{inline(module)}\n{start}\n</script>'
    )


# A page whose reader types: of one text or scene, with the weights of its checkpoint.


@dataclass(frozen=True, eq=False)
class MadeOf:
    """The call that pictures show, and how each of them shows it."""

    pictures: tuple[SavedPicture, ...]
    origin: Origin | None
    source: tuple[Token, ...] = ()
    target: tuple[Token, ...] = ()
    output: str = ""
    """The class of a text, where nothing is written."""
    theme: ThemeName = "auto"
    is_titled: bool = True
    card: "CardOf | None" = None
    """The card of a written word, in the place of pictures; None: they are pictures."""

    def page(self, title: str) -> str:
        """The page. Raises AliveError."""
        for each in self.pictures:
            _ = each.payload_request  # before any model is opened
        request = request_of_origin(self.origin, self.target)
        source, pictures = self.source, self.pictures
        if self.card is not None:
            source, pictures = self.card.rows(request, self.target)
        ids = [[token.id for token in each] for each in (source, self.target)]
        written = self.output or written_text(request.checkpoint, *ids)
        heading = f"<h1>{html.escape(title)}</h1>" if self.is_titled else ""
        themes = themes_of(self.theme)
        return typed_page(title, pictures, request, written, themes, heading, self.card)


@dataclass(frozen=True, eq=False)
class CardOf:
    """The card of a written word, as tables, and what an engine is asked for to draw others."""

    word: int
    """Its number among those that are written."""
    tables: str
    """Templates with the tables, one a theme."""
    kind: str = "cross"

    def rows(
        self, request: EngineRequest, target: tuple[Token, ...]
    ) -> tuple[tuple[Token, ...], tuple[SavedPicture, ...]]:
        """Return the source, and the tokens above the card, of which one is chosen by a click.

        Raises AliveError.
        """
        recording = record(request.checkpoint, request.text, target or None, request.edits)
        if self.kind not in recording.attentions:
            raise AliveError("the page has cards only of models with a source that stands apart")
        rows = TokenRows(TITLES[request.checkpoint.family.reads])
        payload = rows.payload(recording)
        saved = SavedPicture(rows.component, rows.data, payload, "Tokens", picture=rows)
        return recording.source, (saved,)

    def data(self, themes: Sequence[Theme]) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "word": self.word,
            "kind": self.kind,
            "reading": {"words": True, "special": "shown"},
            "palettes": {theme.name: palette(theme) for theme in themes},
        }


def typed_page(
    title: str,
    pictures: Sequence[SavedPicture],
    request: EngineRequest,
    written: str,
    themes: tuple[Theme, ...],
    heading: str = "",
    card: CardOf | None = None,
) -> str:
    """A page whose reader types, over pictures of one text. Raises AliveError.

    written: the output, or the class. heading: HTML. card: what stands below the pictures.
    """
    weights = weights_within(request.checkpoint)
    drawn = [each.component for each in pictures] + [WORD_CARD] * (card is not None)
    scene = scene_typed(request, written, pictures, themes)
    content = {
        "themes": {each.name: palette(each) for each in themes},
        "components": {each.name: {"html": each.html, "css": each.css} for each in drawn},
        "pictures": [saved_content(each, themes) for each in pictures],
        "scene": scene if card is None else {**scene, "card": card.data(themes)},
    }
    hosts = "".join(f'<div data-picture="{each.name}"></div>' for each in drawn)
    hosts += '<div class="still"></div>' * (card is not None)
    tables = "" if card is None else card.tables
    heading += '\n<div class="sentence"></div><p class="model" role="status"></p>'
    draws = draws_of(drawn)
    entry = bundle(Path(__file__).with_name("typed_page.js")).script
    start = 'JSON.parse(document.querySelector("#content").textContent)'
    style = Path(__file__).with_name("typed.css").read_text("utf-8")
    body = (
        f"<style>{_STYLE}{style}</style>\n{heading}<main>{hosts}</main>{tables}\n"
        f"{json_element('content', content)}{weights.html()}"
        f'<script type="module">\n{inline(draws)}\n({inline(entry)})(draws, {start}, '
        f"{Weights.entry()});\n</script>"
    )
    return page_html(title, body, "transparent", weights.policy)
