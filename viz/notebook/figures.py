"""Views and tables of a recording in a notebook, and charts without Plotly."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, replace
from difflib import get_close_matches
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any

from transformer import __version__
from transformer.analysis.reading import Selection
from transformer.causes import Evidence
from transformer.corpus.labels import Atlas, title_of
from transformer.corpus.shipped import Place, ShippedSurvey, shipped_survey
from transformer.corpus.surveyed import Survey
from transformer.discover import discover
from transformer.fingerprint import DIGITS, fingerprint
from transformer.formats.opening import locate
from transformer.inputs import InputError, all_whole, is_whole, thing
from transformer.old_spelling import TwiceGiven, warn
from transformer.recording import Recording
from transformer.refusal import items_of, quoted
from viz.app_packages import go
from viz.causes.tables import worth_tables
from viz.components.kit.browser import bundle
from viz.components.kit.picture import head_in
from viz.exhibits.chart import Chart
from viz.exhibits.table import Table, Tables
from viz.export import inline, page_html, rows_csv
from viz.figures.heads import all_heads
from viz.notebook.on_paper import OnPaper
from viz.notebook.picture import CardOf, MadeOf, Picture, ThemeName, image, pictured, themes_of
from viz.painters.chart_plotly import figure as chart_figure
from viz.painters.chart_sheet import sheet
from viz.painters.table_html import table_body, table_html
from viz.paper.figure import Figure
from viz.paper.record import Record, versions
from viz.theme import LIGHT, Theme
from viz.views.view import Dimensions, HeadChoice

# figure(): any view of a recording as a Plotly figure.
#
# JupyterLab and VS Code draw one where they have Plotly's own extension; where none is, as in a
# page that nbconvert made, an image of it stands.


@pictured
def figure(
    recording: Recording,
    name: str,
    *,
    kind: str | None = None,
    layer: int | None = None,
    head: int | None = None,
    theme: ThemeName = "auto",
    **choices: Any,
) -> "go.Figure":
    """Draw the view of that name as a figure of Plotly's.

    recording: of `record`, `from_weights` or `load_recording`.
    name: of a view that the recording has, such as "head_heatmap", "head_difference", "joint_map",
        "encoding_heatmap" or "class_probabilities"; another name is answered by all that it has.
    kind: of the head: "encoder_self", "decoder_self" or "cross"; None: the first that there is.
    layer, head: counted from 0, or from the end with -1; None: 0.
    theme: "light", "dark", or "auto", which is light, as Plotly's figure knows nothing of the page
        around it.
    choices: the view's other controls by their names, such as side="source"; of "head_difference"
        second=(kind, layer, head), the head that is taken from it, else another of its kind and
        layer. What is left out is the first that there is; a wrong name is answered by all.

    Returns a `plotly.graph_objects.Figure`. Its `write_html("x.html")` keeps it; Plotly's own
    `write_image` needs the package kaleido, and `python -m viz figure` writes a view that a page of
    the app shows as .pdf, .svg or .png without it. Raises InputError, also of a choice that the
    view does not have, and NoSuchHead.

    >>> figure(recording, "head_difference", kind="cross", layer=2, head=1)  # doctest: +SKIP
    """
    views = discover("viz.views", "VIEW")
    fitting = [each for each, view in views.items() if view.applies_to(recording)]
    if name not in fitting:
        raise InputError(f"This recording has no view {quoted(name)}: it has {', '.join(fitting)}.")
    view = views[name]
    place = {"kind": kind, "layer": layer, "head": head}
    place = {part: value for part, value in place.items() if value is not None}
    first = next((it.name for it in view.controls if isinstance(it, HeadChoice)), "")
    names = [it.name for it in view.controls if it.name != first]
    of_head = ["kind", "layer", "head"] if first else []
    if first in choices:  # as it was said before: selection=(kind, layer, head)
        if place:
            raise TwiceGiven(
                f"figure: {first} is the old spelling of {', '.join(place)}: give one."
            )
        warn(f"figure: give {first}=(kind, layer, head) as kind=…, layer=…, head=….")
    elif first:
        choices[first] = (*{"kind": None, "layer": 0, "head": 0, **place}.values(),)
    unknown = sorted({*choices, *(place if not first else ())} - {first, *names})
    if unknown:
        there = ", ".join([*of_head, *names]) or "no choice"
        raise InputError(f"{name} has no choice {unknown[0]!r}: it has {there}.")
    chosen: dict[str, Any] = {}
    for control in view.controls:
        if control.name in choices:
            chosen[control.name] = _chosen(control, recording, choices[control.name])
            continue
        options = control.options(recording)
        is_head = isinstance(control, HeadChoice)
        chosen[control.name] = _nearest(options, chosen[first]) if is_head else options[0]
    chart, says = view.content(recording, **chosen), view.describe(recording, **chosen)
    return _with_image(chart, themes_of(theme)[0], says)


def _with_image(chart: Chart, theme: Theme, says: str) -> "go.Figure":
    """Plotly's figure, which gives a notebook an image and a sentence beside Plotly's own data."""
    record = Record("explore", "", "", "", "", "", chart.title, says, versions())
    record = record.with_law(chart.law)
    still = image(Figure(partial(sheet, chart, theme), record), says)
    rest = {"text/plain": says} | ({"text/html": still} if still else {})
    figure = chart_figure(chart, theme)
    own = figure._repr_mimebundle_
    # Of this figure alone: a class of ours could not be made before Plotly is imported.
    figure._repr_mimebundle_ = lambda *choices, **options: rest | own(*choices, **options)
    figure._ipython_display_ = None  # which shows Plotly's data and nothing else
    return figure


def _nearest(heads: Iterable[Selection], to: Selection) -> Selection:
    """Another head of its kind, whose rows and columns are the same: of its layer, if it can be."""
    return min(heads, key=lambda it: (it.kind != to.kind, it == to, it.layer != to.layer))


def _chosen(control: Any, recording: Recording, value: Any) -> Any:
    """A choice that the control offers. Raises InputError and NoSuchHead."""
    if isinstance(control, HeadChoice):
        place = astuple(value) if isinstance(value, Selection) else value
        if not isinstance(place, tuple | list) or len(place) != 3:
            raise InputError(
                f"{control.name} is a head as (kind, layer, head): {thing(value)} is none."
            )
        return head_in(recording, *place)
    options = list(control.options(recording))
    items = items_of(value) if isinstance(control, Dimensions) else None
    if items and all_whole(items) and all((each,) in options for each in items):
        return tuple(items)
    if isinstance(value, str | Integral) and value in options:
        return value
    there = ", ".join(map(repr, options[:4])) + ", ..." * (len(options) > 4)
    raise InputError(f"{control.name} may not be {quoted(value)}: there is {there}.")


# The app's tables in a notebook: what a written word needs, and what every head does.

_SCRIPT = Path(__file__).with_name("table_page.js")


@pictured
def word_card(
    evidence: Evidence, word: int | str = 0, *, theme: ThemeName = "auto", live: bool = False
) -> Picture:
    """Show what a written word looks at and needs, with the verdict: the card of its pin.

    evidence: of `evidence(checkpoint, text)`; costs are in nats.
    word: as it is written, of several equal ones the first, or its number from 0.
    theme: "auto", as light or dark as the notebook around it; "light"; "dark".
    live: True: a page whose reader types, with the weights in it; of a checkpoint trained here.

    Returns a `Picture`. Raises InputError where nothing written is called so, and with live
    AliveError.
    """
    words = [each.strip() for each in evidence.target_words]
    number = words.index(word) if word in words else word
    if not is_whole(number) or not 0 <= int(number) < len(words):
        raise InputError(f"No written word is {quoted(word)}: there are {', '.join(words)}.")
    number = int(number)
    content = worth_tables(evidence, number)
    card = CardOf(number, "".join(_template(content, each) for each in themes_of(theme)))
    of = (evidence.origin, (), evidence.target)
    made_of = MadeOf((), *of, theme=theme, is_titled=False, card=card)
    says = f"What “{words[number]}” looks at, and what it needs"
    paper = OnPaper(content, says, None, None, themes_of(theme)[0], evidence=evidence)
    result = replace(_page(content, f"Why {words[number]}?", theme), made_of=made_of, paper=paper)
    return result.live if live else result


@pictured
def heads_table(
    survey: Survey | ShippedSurvey | str | Path,
    *,
    numbers: Sequence[str] | None = None,
    theme: ThemeName = "auto",
) -> Picture:
    """Show a row for each head of a survey: labels, footprint, and every number.

    survey: of `survey()`; or the name or folder of a checkpoint whose survey is kept beside it
        ("en-de"), which also has what each head is worth.
    numbers: the names of those that are wanted, as "entropy", in bits; all when left out.
    theme: "light", "dark", or "auto", as the notebook around it.

    Returns a `Picture`, which is saved as .csv and, for a paper, as .tex (booktabs) as well: means
    with 95 % intervals and n sentences. Raises InputError for what is no survey, a checkpoint
    without one and a number that is not there, and CheckpointError.
    """
    of = ""
    if isinstance(survey, str | Path):
        folder = locate(survey, may_fetch=False)
        shipped = shipped_survey(folder)
        if shipped is None:
            raise InputError(
                f"heads_table: {folder.name} has no survey beside it: give one that "
                "survey(checkpoint, sentences) makes."
            )
        survey, of = shipped, f"{folder.name}, SHA-256 {fingerprint(folder)[:DIGITS]}"
    if isinstance(survey, Survey):
        survey = ShippedSurvey(survey, {}, {}, {}, {}, {}, "nats", "")
    atlas = Atlas(survey)
    places = list(atlas.heads)
    names = [*dict.fromkeys(name for kind in atlas.kinds for name in atlas.numbers(kind))]
    if numbers is not None:
        wanted = items_of(numbers)
        if wanted is None:
            raise InputError(f"Numbers are a list of some of {', '.join(names)}.")
        if absent := [each for each in map(str, wanted) if each not in names]:
            there = ", ".join(get_close_matches(absent[0], names)) or f"some of {', '.join(names)}"
            raise InputError(f"There is no number {quoted(absent[0])}: give {there}.")
        names = [*map(str, wanted)]
    table = all_heads.heads_table(atlas, places, names, [""] * len(places), "layer")
    files = {
        "csv": lambda: rows_csv(_rows(atlas, names)),
        "tex": lambda: _latex(atlas, names, of).encode(),
    }
    return replace(_page(table, "All heads", theme), files=files)


# All heads as files: every number with its interval and its n, and a table of LaTeX's booktabs.

ESCAPES = str.maketrans(
    {each: f"\\{each}" for each in "%&_#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"−": "$-$", "→": r"$\to$"}
)


def _rows(atlas: Atlas, numbers: Sequence[str]) -> list[dict[str, object]]:
    """A row for each head: its labels, and of each number mean, low, high and n of sentences."""
    rows = []
    for kind, layer, head in atlas.heads:
        labels = atlas.labels.get((kind, layer, head), ())
        row: dict[str, object] = {"kind": kind, "layer": layer, "head": head}
        row["does"] = " · ".join(label.title for label in labels)
        for name in numbers:
            of = atlas.number((kind, layer, head), name)
            values = (None,) * 4 if of is None else (of.mean, of.low, of.high, of.n_sentences)
            ends = zip(("", "_low", "_high", "_n"), values, strict=True)
            row |= {f"{name}{end}": "" if value is None else value for end, value in ends}
        rows.append(row)
    return rows


def _latex(atlas: Atlas, numbers: Sequence[str], checkpoint: str) -> str:
    """The same for a paper; the package booktabs draws its rules."""

    def apart(name: str, value: float) -> tuple[str, str]:
        """A number and its unit, which the head of a column says once."""
        text = all_heads.text_of(name, value, atlas.shipped.unit).translate(ESCAPES)
        number, _, unit = text.partition(" ")
        return number, unit

    def title(name: str) -> str:
        every = [of for place in atlas.heads if (of := atlas.number(place, name))]
        ns = {of.n_sentences for of in every}
        n = "--".join(f"{each:,d}" for each in sorted({min(ns), max(ns)}))
        unit = max((apart(name, of.mean)[1] for of in every), key=len)  # "tokens", not "token"
        of_unit = f"{unit}, " if unit else ""
        return f"{title_of(name).lower().translate(ESCAPES)} ({of_unit}$n$ = {n})"

    def cell(place: Place, name: str) -> str:
        of = atlas.number(place, name)
        if of is None:
            return "--"
        text, _ = apart(name, of.mean)
        if of.low is None or of.high is None:
            return text
        ends = " to ".join(apart(name, end)[0] for end in (of.low, of.high))
        return rf"{text} {{\scriptsize ({ends})}}"

    def row(place: Place) -> list[str]:
        does = " · ".join(label.title for label in atlas.labels.get(place, ()))
        name = all_heads.head_name(place, atlas)
        return [
            name.translate(ESCAPES),
            does.translate(ESCAPES),
            *(cell(place, n) for n in numbers),
        ]

    lines = [
        f"% Headscope {__version__}{checkpoint and f'; checkpoint {checkpoint}'}",
        r"% The preamble needs \usepackage{booktabs}.",
        "% Means over sentences, n of them; in parentheses 95 % intervals (percentile bootstrap).",
        rf"\begin{{tabular}}{{ll{'r' * len(numbers)}}}",
        r"\toprule",
        rf"{' & '.join(['head', 'does', *map(title, numbers)])} \\",
        r"\midrule",
        *(rf"{' & '.join(row(place))} \\" for place in atlas.heads),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "".join(f"{line}\n" for line in lines)


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
