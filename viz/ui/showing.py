"""The differences between a page and a wall: columns know how wide they are, for charts that are
drawn for their place; words and exhibits, whether they stand there at all."""

import html
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from transformer.extras import missing
from transformer.refusal import Refusal
from viz.app_packages import DeltaGenerator, st
from viz.components.head_map.head_map import HeadMap, Region
from viz.components.kit.picture import NothingLeft
from viz.components.kit.sync import guarded, mountable
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Exhibit, PictureAt, Words
from viz.exhibits.table import Table, Tables
from viz.labels import escaped
from viz.notebook.saved import GAP, chart_image
from viz.painters.bars_html import are_bars, bars_body
from viz.painters.chart_plotly import CONFIG, figure, figure_html
from viz.painters.table_html import table_body
from viz.painters.words_html import words_body
from viz.run.operating import timed
from viz.run.work import Growth
from viz.state.checkpoints import caption_of
from viz.state.live_preview import preview
from viz.state.page import Drawing, Exhibits, Pane
from viz.state.state import current_theme, note, session
from viz.talks.stage import is_presented, on_wall
from viz.theme import Theme, theme
from viz.ui.progress import grow, is_written
from viz.ui.save_menu import is_menu_open, offer_figures, offer_file
from viz.ui.saving import data_of, figure_of, title_of

MOST_ROWS = 13
"""The rows of a table that a wall has room for."""
_share: ContextVar[float] = ContextVar("share", default=1.0)


class Column:
    """A column to draw in, by `with`."""

    def __init__(self, place: DeltaGenerator, part: float) -> None:
        self.place, self.part = place, part
        self._before: list[Token[float]] = []

    def __enter__(self) -> None:
        self._before.append(_share.set(self.part * _share.get()))
        self.place.__enter__()

    def __exit__(self, *raised: Any) -> None:
        _share.reset(self._before.pop())
        self.place.__exit__(*raised)


def columns(
    widths: int | Sequence[float],
    n_offers: int = 0,
    wall: Sequence[float] | None = None,
    **look: Any,
) -> list[Column]:
    """Make columns as Streamlit does, for charts beside each other.

    n_offers: of further ones for what can be done: nobody does it on a wall. wall: widths there.
    """
    if wall is not None and on_wall():
        widths = wall
    if n_offers and not on_wall():
        widths = widths + n_offers if isinstance(widths, int) else [*widths, *[1.0] * n_offers]
    parts = [1.0] * widths if isinstance(widths, int) else widths
    room = 1 - GAP * (len(parts) - 1)
    places = st.columns(list(parts), **look)
    return [
        Column(place, room * part / sum(parts)) for place, part in zip(places, parts, strict=True)
    ]


def share_here() -> float:
    """Return the share of the page's width where something is drawn now."""
    return _share.get()


def is_printed() -> bool:
    """Tell whether charts are images here, without Plotly's code."""
    return on_wall() and not is_presented() and not missing("paper")


def is_here(exhibit: Exhibit | Growth[Any]) -> bool:
    """Tell whether it stands here: on a wall, where nobody scrolls, only what is main."""
    return exhibit.is_main or not on_wall()


def below(draw: Callable[[Pane], object], pane: Pane) -> None:
    """Draw what stands below the main exhibits: not on a wall."""
    if not on_wall():
        draw(pane)


def outside_talks(draw: Callable[[Pane], object], pane: Pane) -> None:
    """Draw what a scene of a talk has words of its own for: elsewhere it stands on a wall, too."""
    if is_presented() or not on_wall():
        draw(pane)


def explain(words: str, *others: str) -> None:
    """Draw Markdown that a scene of a talk has words of its own for, and other that stands there,
    too.
    """
    words_here = others if on_wall() else (words, *others)
    if words_here:
        st.markdown(" ".join(words_here))


def fitting(content: Table | Tables) -> Table | Tables:
    """On a wall as many rows of a table as it has room for, and below it how many these are."""
    if not (isinstance(content, Table) and content.kind == "rows" and on_wall()):
        return content
    if len(content.rows) <= MOST_ROWS:
        return content
    few = f"The first {MOST_ROWS} of {len(content.rows)} rows."
    return replace(content, rows=content.rows[:MOST_ROWS], foot=f"{few} {content.foot}".rstrip())


# An exhibit on a screen: the one place that draws whatever pages show.


@dataclass
class Regions:
    """The region of a large heat map whose exact values are shown, and of which map, by its key."""

    regions: dict[str, tuple[object, Region]] = field(default_factory=dict)


def show(exhibit: Exhibit, key: str, **look: Any) -> None:
    """Draw an exhibit of a page, whatever its content is; on a wall only a main one.

    key: unique on the page; look: of a chart, beside Plotly's usual options.
    """
    if not is_here(exhibit):
        return
    with timed(key):
        _show(exhibit, key, look)


def _show(exhibit: Exhibit, key: str, look: dict[str, Any]) -> None:
    if exhibit.note:
        note(exhibit.note)
    content = exhibit.small or exhibit.content
    if isinstance(content, PictureAt):
        try:
            _picture(exhibit, content, content.key or key)
        except NothingLeft as reason:
            note(reason)
    elif isinstance(content, Chart):
        _chart(content, exhibit.says, key, look)
    elif isinstance(content, Words):
        show_words(content)
    else:
        show_table(fitting(content))


def body_of(exhibit: Exhibit, look: Theme) -> str:
    """A table, words, or bars as HTML: what needs neither a component nor Plotly."""
    content = exhibit.small or exhibit.content
    if isinstance(content, Chart):
        return bars_body(content, look, exhibit.says)
    if isinstance(content, Words):
        return words_body(content)
    assert isinstance(content, Table | Tables)
    return table_body(content, look)


def show_for_choice(
    exhibit: Exhibit, key: str, choose: Callable[[list[Sequence[Any]]], None]
) -> None:
    """Draw a chart whose points are chosen, by a click or a lasso.

    choose: told the further values of the points that were chosen.
    """
    content = exhibit.small or exhibit.content
    if not is_here(exhibit):
        return
    if is_printed() or not isinstance(content, Chart):
        show(exhibit, key)
        return

    def take() -> None:
        points = st.session_state[f"figure {key}"]["selection"]["points"]
        choose([point["customdata"] for point in points])

    look: Any = {"theme": None, "config": CONFIG, "alt": exhibit.says}
    modes = ("points", "box", "lasso")
    look |= {"on_select": guarded(take), "selection_mode": modes}
    st.plotly_chart(figure(content, current_theme()), key=f"figure {key}", **look)


def show_all(pane: Pane, exhibits: Exhibits) -> bool:
    """Exhibits below each other, each with its files; those of one study are watched once.

    Return True once all of them are whole.
    """
    here = [(name, exhibit) for name, exhibit in exhibits.items() if is_here(exhibit)]
    is_whole = True
    for _, group in groupby(here, lambda each: getattr(each[1], "study", None)):
        growths = {}
        for name, exhibit in group:
            if isinstance(exhibit, Growth):
                growths[name] = exhibit
            else:
                show_with_files(pane, exhibit, name)
        if growths:
            is_whole = _show_growths(pane, growths) and is_whole
    return is_whole


def _show_growths(pane: Pane, growths: Mapping[str, Growth[Any]]) -> bool:
    """Exhibits as far as their study is; their files once that is whole: True then.

    Raises what the study raises.
    """
    growth = next(iter(growths.values()))
    if growth.title and not is_written(pane, growth.title):
        return False

    def draw(value: Any) -> None:
        for name, each in growths.items():
            show(each.exhibit(value), name)

    work = grow(growth.study, draw)
    if work.is_whole and is_menu_open():
        for name, each in growths.items():
            files_of(pane, each.exhibit(work.result()), name)
    return work.is_whole


def show_declared(pane: Pane, declare: Callable[[Pane], Exhibits]) -> None:
    """Exhibits as a page declares them; a note says why there are none."""
    try:
        show_all(pane, declare(pane))
    except (Refusal, NothingLeft) as reason:
        note(reason)


def show_with_files(pane: Pane, exhibit: Exhibit, name: str, key: str | None = None) -> None:
    """An exhibit, whose files the page's menu has.

    name: of its files; key: unique on the page; the name when left out.
    """
    show(exhibit, key or name)
    files_of(pane, exhibit, name, key)


def files_of(pane: Pane, exhibit: Exhibit, name: str, key: str | None = None) -> None:
    """Offer an exhibit for a paper; a chart, a table or words also as a page, or as cells."""
    key, content, look = key or name, exhibit.small or exhibit.content, current_theme()
    offer_figures(pane, {name: exhibit}, f"paper {key}")
    if isinstance(content, Chart):
        offer_file(
            "Figure as HTML",
            lambda: figure_html(figure(content, look), exhibit.title),
            f"headscope-{name}.html",
            "This figure as a page of its own",
            exhibit.title,
            f"html {key}",
        )
    elif not isinstance(content, PictureAt):
        offer_file(
            "Table as CSV",
            lambda: figure_of(pane, exhibit).table("csv"),
            f"headscope-{name}.csv",
            "Its parts, one row each",
            exhibit.title,
            f"csv {key}",
        )


def show_table(content: Table | Tables) -> None:
    """A table that is no exhibit: it is drawn, and not offered for a paper."""
    st.html(table_body(content, _theme()))


def show_words(content: Words, outcome_of: str | None = None) -> None:
    """Words that stand somewhere else than the exhibits of a page.

    outcome_of: what made them, where they are read out when they come (see
    viz/components/address/told.js): another cause may have the same outcome.
    """
    st.html(words_body(content) if outcome_of is None else _read_out(content, outcome_of))


def _read_out(content: Words, outcome_of: str) -> str:
    text, cause = html.escape(content.brief or content.plain), html.escape(outcome_of)
    return f'<div data-told="{text}" data-of="{cause}">{words_body(content)}</div>'


def show_remark(text: str, is_read_out: bool) -> None:
    """A sentence where an outcome would stand; read out in its place, where it comes after one."""
    st.html(_remark(text, is_read_out))


def _remark(text: str, is_read_out: bool) -> str:
    attributes = f'data-told="{html.escape(text)}" data-of=""' if is_read_out else ""
    return f'<p class="remark" {attributes}>{escaped(text)}</p>'


def _theme() -> Theme:
    """Return the page's theme, also where a part of it is drawn again by itself."""
    drawn = session().of(Drawing).theme
    return theme(drawn) if drawn else current_theme()


def _picture(exhibit: Exhibit, content: PictureAt, key: str) -> None:
    """Its component, live: it tells what is touched, and follows what is typed."""
    pane: Pane = exhibit.pane
    on = {f"on_{name}": act for name, act in content.on.items()}
    if isinstance(content.picture, HeadMap):
        content, on["on_region"] = _zoomed(pane, content, key)
    data = data_of(pane, content, current_theme())
    caption = caption_of(pane.answer.request, title_of(pane, exhibit))
    mountable(content.picture.component)(data, key, caption, **on)
    if content.typed is not None:
        preview(key, content.typed, of=pane.of, **content.over)


def _zoomed(pane: Pane, content: PictureAt, key: str) -> tuple[PictureAt, Any]:
    """A heat map with exact values of the region that was asked for, and what asks for another."""
    regions, of = session().of(Regions).regions, (pane.answer.request, content.picture)
    subject, region = regions.get(key, (None, None))

    def zoom(region: Any) -> None:
        regions[key] = of, tuple(region)

    picture = replace(content.picture, region=region if subject == of else None)
    return replace(content, picture=picture), zoom


def _chart(chart: Chart, says: str, key: str, look: dict[str, Any]) -> None:
    """Draw a chart by Plotly, bars without it; on a wall as an image, as for a paper."""
    if is_printed():
        st.html(chart_image(chart, current_theme(), says, share_here()))
        return
    if are_bars(chart):
        st.html(bars_body(chart, _theme(), says))
        return
    config: Any = {"theme": None, "config": CONFIG | look, "alt": says}
    st.plotly_chart(figure(chart, current_theme()), key=f"figure {key}", **config)
