"""An exhibit on a screen: the one place that draws whatever pages show."""

from dataclasses import dataclass, field, replace
from typing import Any

from viz.components.head_map.head_map import HeadMap, Region
from viz.components.kit.picture import NothingLeft
from viz.components.kit.sync import mountable
from viz.exhibits.exhibit import Exhibit, PictureAt
from viz.exhibits.table import Table, Tables
from viz.state.live_preview import preview
from viz.state.note import note
from viz.state.opened import caption_of
from viz.state.page import Pane
from viz.state.state import current_theme, session
from viz.ui.panel import plot, show_table
from viz.ui.printing import data_of, title_of


@dataclass
class Regions:
    """The region of a large heat map whose exact values are shown, and of which map, by its key."""

    shown: dict[str, tuple[object, Region]] = field(default_factory=dict)


def show(pane: Pane, exhibit: Exhibit, key: str) -> None:
    """Draw an exhibit of a page, whatever its content is.

    key: unique on the page; of a picture, also that by which the browser knows it.
    """
    content = exhibit.small or exhibit.content
    if isinstance(content, PictureAt):
        try:
            _picture(exhibit.pane or pane, exhibit, content, key)
        except NothingLeft as reason:
            note(reason)
    elif isinstance(content, Table | Tables):
        show_table(content)
    else:
        plot(exhibit, key)


def _picture(pane: Pane, exhibit: Exhibit, content: PictureAt, key: str) -> None:
    """Its component, live: it tells what is touched, and follows what is typed."""
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
    regions, of = session().of(Regions).shown, (pane.answer.request, content.picture)
    asked, region = regions.get(key, (None, None))

    def zoom(region: Any) -> None:
        regions[key] = of, tuple(region)

    picture = replace(content.picture, region=region if asked == of else None)
    return replace(content, picture=picture), zoom
