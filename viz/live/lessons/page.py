"""A lesson as one HTML file: its scenes below each other, with pictures that wait for answers."""

import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from string import Template
from typing import Any

from viz.components.kit.browser import bundle, palette
from viz.export import inline
from viz.labels import escaped
from viz.lessons.results import FORMAT
from viz.lessons.sheet import grading_words
from viz.live.models import POLICY, worker_of
from viz.live.shelf.assets import typeface
from viz.live.shelf.lists import IN_APP, leading, nowhere
from viz.live.site import CONTROLS, page_of
from viz.notebook.saved import ChartImage, SavedPicture, chart_images, payloads
from viz.screen import Screen
from viz.stories.markdown import as_html
from viz.theme import DARK, LIGHT

HERE = Path(__file__).parent
THEMES = (LIGHT, DARK)


@dataclass(frozen=True, eq=False)
class SavedPart:
    """A scene of a lesson, as the model answered it."""

    heading: str
    words: str
    """Markdown."""
    sentence: str = ""
    """The text that was read, and the one that was written, where the scene before had others."""
    remark: str = ""
    """A sentence about the model that it is shown on, or why nothing is asked."""
    tasks: tuple[Mapping[str, Any], ...] = ()
    """Sheets (viz/lessons/sheet.py), each with its code, its row, and what is said of that."""
    in_turn: bool = False
    """True: a task is seen once those before it are over."""
    own: Mapping[str, Any] | None = None
    """The page's data for a sentence that the learner types."""
    pictures: tuple[SavedPicture, ...] = ()
    charts: tuple[ChartImage, ...] = ()
    before_charts: str = ""
    """HTML."""
    end: str = ""
    """The words for whoever has answered, sealed."""
    link: tuple[str, str] | None = None
    """Words and address of the screen that it opens; None: the page beside it has not got it."""


@dataclass(frozen=True, eq=False)
class SavedLesson:
    """A lesson with all that its page knows."""

    name: str
    title: str
    introduction: str
    about: str
    """The sentences below the introduction: how long it takes, and what is read in it."""
    learned: str
    parts: tuple[SavedPart, ...]
    questions: tuple[Mapping[str, Any], ...] = ()
    """The sheets of what is asked before and after it."""
    next: tuple[str, str] | None = None
    """Title and address of the lesson that follows."""
    done: str = ""
    """The code of the lesson in a browser's store."""
    models: Sequence[Mapping[str, Any]] = ()
    elements: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    to: Callable[[Screen], str] = nowhere
    """The address of a screen in the pages beside it; empty where they have none."""
    is_file: bool = False


def lesson_html(lesson: SavedLesson) -> bytes:
    """Return the page of a lesson."""
    content = _content(lesson)
    body = Template((HERE / "page.html").read_text("utf-8")).substitute(
        style=typeface() + "".join(it.read_text("utf-8") for it in (CONTROLS, HERE / "page.css")),
        title=escaped(lesson.title),
        introduction=_linked(lesson, lesson.introduction),
        about=escaped(lesson.about),
        learned=re.sub("^<p>(.*)</p>$", r"\1", as_html(lesson.learned)),
        sections="".join(_section(lesson, it) for it in lesson.parts),
        navigation=_navigation(lesson),
        further=_further(lesson),
        content=json.dumps(content, ensure_ascii=False).replace("<", "\\u003c"),
        files="\n".join(
            f'<script type="application/octet-stream" id="{name}">{text}</script>'
            for name, text in lesson.elements.items()
        ),
        code=inline(_code(lesson)),
        **{name: html.escape(it) for name, it in lesson.words.items() if isinstance(it, str)},
    )
    policy = POLICY if lesson.is_file else f"{POLICY}; connect-src 'self'"
    says = re.sub(r"<[^>]*>", "", as_html(lesson.introduction))
    return page_of(f"{lesson.title} · Headscope", says, policy, body).encode()


def _content(lesson: SavedLesson) -> dict[str, Any]:
    components = {it.component.name: it.component for part in lesson.parts for it in part.pictures}
    parts = [
        {
            "heading": it.heading,
            "tasks": it.tasks,
            "inTurn": it.in_turn,
            "own": it.own,
            "end": it.end,
            "pictures": [_picture(each) for each in it.pictures],
        }
        for it in lesson.parts
    ]
    all_that_is_asked = json.dumps([[it["tasks"], it["own"]] for it in parts] + [lesson.questions])
    return {
        "format": FORMAT,
        "name": lesson.name,
        "title": lesson.title,
        "digest": blake2b(all_that_is_asked.encode(), digest_size=8).hexdigest(),
        "done": lesson.done,
        "isInSite": not lesson.is_file,
        "parts": parts,
        "questions": lesson.questions,
        "words": {**lesson.words, "grading": grading_words()},
        "models": lesson.models,
        "palettes": {theme.name: palette(theme) for theme in THEMES},
        "variables": {theme.name: theme.variables for theme in THEMES},
        "components": {name: {"html": it.html, "css": it.css} for name, it in components.items()},
    }


def _picture(picture: SavedPicture) -> dict[str, Any]:
    """Return what viz/notebook/mounting.js shows."""
    return {
        "component": picture.component.name,
        "first": payloads(picture.data, picture.payload, THEMES),
        "answers": {
            json.dumps(request, separators=(",", ":")): payloads(picture.data, answer, THEMES)
            for request, answer in picture.answers.items()
        },
    }


def _code(lesson: SavedLesson) -> str:
    components = {it.component.name: it.component for part in lesson.parts for it in part.pictures}
    draws = ",\n".join(f"{json.dumps(name)}: {it.script}" for name, it in components.items())
    worker = worker_of(HERE / "worker.js") if lesson.models else ""
    return (
        f"const draws = {{{draws}}};\nconst lesson = {bundle(HERE / 'lesson.js').script};\n"
        f"lesson(draws, {json.dumps(worker)}, "
        'JSON.parse(document.querySelector("#content").textContent));'
    )


def _section(lesson: SavedLesson, part: SavedPart) -> str:
    pictures = "".join(
        f'<div class="picture" role="group" aria-label="{escaped(each.says)}"></div>'
        for each in part.pictures
    )
    charts = chart_images(part.charts, THEMES) if part.charts else ""
    link = ""
    if part.link:
        words, address = part.link
        link = f'<p><a href="{html.escape(address)}">{escaped(words)}</a></p>'
    texts = (("sentence", part.sentence), ("remark", part.remark))
    lines = "".join(
        f'<p class="{name}" dir="auto">{escaped(text)}</p>' for name, text in texts if text
    )
    return (
        f"<section data-scene><h2>{escaped(part.heading)}</h2>"
        f'<div class="words">{_linked(lesson, part.words)}</div>{lines}<div class="tasks"></div>'
        f'<div class="result" hidden><div class="end"></div>{part.before_charts}'
        f'<div class="pictures">{pictures}{charts}</div>{link}</div></section>\n'
    )


def _linked(lesson: SavedLesson, text: str) -> str:
    """Markdown -> HTML, whose links to screens lead to the page beside it, where that has them."""
    return leading(as_html(text), lesson.to, IN_APP)


def _navigation(lesson: SavedLesson) -> str:
    if lesson.is_file:
        return ""
    return f'<a href="../index.html?page=lessons">{escaped(lesson.words["all"])}</a>'


def _further(lesson: SavedLesson) -> str:
    if lesson.is_file or lesson.next is None:
        return ""
    title, address = lesson.next
    return f'<a href="{html.escape(address)}">{escaped(title)}</a>'
