"""The app's tables in a notebook: what a written word needs, and what every head does."""

from collections.abc import Iterator
from pathlib import Path

from transformer.causes import Evidence
from transformer.corpus.atlas import Atlas
from transformer.corpus.shipped import ShippedSurvey
from transformer.corpus.surveyed import Survey
from transformer.inputs import InputError
from viz.components.kit.modules import bundle
from viz.exhibits.table import Table, Tables
from viz.export import page_html
from viz.figures.causes.worth_tables import worth_tables
from viz.figures.heads import heads_table as figures
from viz.notebook.picture import Picture, ThemeName, inline, themes_of
from viz.painters.table_html import table_body, table_html
from viz.theme import LIGHT, Theme

_SCRIPT = Path(__file__).with_name("table_page.js")


def word_card(evidence: Evidence, word: int | str = 0, *, theme: ThemeName = "auto") -> Picture:
    """Show what a written word looks at and needs, with the verdict: the card of its pin.

    word: the word itself, of several equal ones the first, or its number from 0. Raises InputError
    where nothing written is called so.
    """
    words = [each.strip() for each in evidence.target_words]
    number = words.index(word) if word in words else word
    if not isinstance(number, int) or not 0 <= number < len(words):
        raise InputError(f"No written word is {word!r}: there are {', '.join(words)}.")
    return _page(worth_tables(evidence, number), f"Why {words[number]}?", theme)


def heads_table(survey: Survey | ShippedSurvey, *, theme: ThemeName = "auto") -> Picture:
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


def _page(content: Table | Tables, title: str, theme: ThemeName) -> Picture:
    templates = "".join(_template(content, each) for each in themes_of(theme))
    body = f"{templates}<script>{inline(bundle(_SCRIPT).script)}()</script>"
    # As text, tables have no colours but a legend's ramp, which is lost without styles.
    return Picture(title, page_html(title, body, "transparent"), table=table_body(content, LIGHT))


def _template(content: Table | Tables, theme: Theme) -> str:
    style = (
        f":root{{{';'.join(_variables(theme))}}}body{{padding:8px;display:flow-root;"
        f"background:{theme.background};color:var(--text);"
        'font:16px/1.5 "Source Sans",system-ui,sans-serif}'
    )
    tables = f"<style>{style}</style>{table_html(content, theme)}"
    return f'<template data-theme="{theme.name}">{tables}</template>'


def _variables(theme: Theme) -> Iterator[str]:
    for name in ("background", "surface", "text", "dim", "grid", "accent", "ink"):
        yield f"--{name}:{getattr(theme, name)}"
