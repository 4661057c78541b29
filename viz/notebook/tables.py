"""The app's tables in a notebook: what a written word needs, and what every head does."""

from collections.abc import Iterator
from typing import Literal

from transformer.causes import Evidence
from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import ShippedSurvey
from transformer.corpus.surveyed import Survey
from transformer.inputs import InputError
from viz.exhibits.table import Table, Tables
from viz.export import page_html
from viz.figures.causes.worth_tables import worth_tables
from viz.figures.heads import heads_table as figures
from viz.notebook.picture import Picture
from viz.painters.table_html import table_body, table_html
from viz.theme import DARK, LIGHT, Theme

_FIT = """
const frame = window.frameElement;
if (frame?.hasAttribute("data-fits"))
  new ResizeObserver(() => {
    if (document.body.offsetWidth) frame.style.height = `${document.body.offsetHeight}px`;
  }).observe(document.body);
"""


def word_card(
    evidence: Evidence, word: int | str = 0, *, theme: Literal["light", "dark"] = "light"
) -> Picture:
    """Show what a written word looks at and needs, with the verdict: the card of its pin.

    word: the word itself, of several equal ones the first, or its number from 0. Raises InputError
    where nothing written is called so.
    """
    words = [each.strip() for each in evidence.target_words]
    number = words.index(word) if word in words else word
    if not isinstance(number, int) or not 0 <= number < len(words):
        raise InputError(f"No written word is {word!r}: there are {', '.join(words)}.")
    return _page(worth_tables(evidence, number), f"Why {words[number]}?", theme)


def heads_table(
    survey: Survey | ShippedSurvey, *, theme: Literal["light", "dark"] = "light"
) -> Picture:
    """A row for each head of a survey: labels, footprint, and every number.

    survey: of `survey()`, or one that is kept beside a checkpoint, which also knows what each head
    is worth.
    """
    if isinstance(survey, Survey):
        survey = ShippedSurvey(survey, {}, {}, {}, {}, {}, "nats", "")
    atlas = Atlas(survey)
    places = list(atlas.heads)
    names = dict.fromkeys(name for kind in atlas.kinds for name in atlas.numbers(kind))
    table = figures.heads_table(atlas, places, list(names), [""] * len(places), "layer")
    return _page(table, "All heads", theme)


def _page(content: Table | Tables, title: str, name: str) -> Picture:
    themes = {"light": LIGHT, "dark": DARK}
    if name not in themes:
        raise ValueError(f"There is no theme {name!r}: there are light, dark.")
    theme = themes[name]
    variables = ";".join(_variables(theme))
    style = (
        f":root{{{variables}}}body{{padding:8px;display:flow-root;color:var(--text);"
        'font:16px/1.5 "Source Sans",system-ui,sans-serif}'
    )
    body = f"<style>{style}</style>{table_html(content, theme)}<script>{_FIT}</script>"
    page = page_html(title, body, theme.background)
    return Picture(title, page, table=table_body(content, theme))


def _variables(theme: Theme) -> Iterator[str]:
    for name in ("background", "surface", "text", "dim", "grid", "accent", "ink"):
        yield f"--{name}:{getattr(theme, name)}"
