"""The views that a page lists: those that declare it and apply to what was recorded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, replace
from itertools import product
from typing import Any

from transformer import Attention, Recording
from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.analysis.reading import AttentionMap, Reading, lenses, read, strongest_weight
from transformer.discover import discover
from transformer.edits import Edit
from viz.app_packages import st
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.edit_words import heads_off, off_in
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Actions, Exhibit, PictureAt
from viz.state.changing import add
from viz.state.focus import pin, pin_cell, pinned_cell, turn_by
from viz.state.page import Pane
from viz.ui.controls import choose_one, draw_control, readable, value_on_screen, why_not
from viz.ui.showing import columns, show_with_files
from viz.views.view import PLACES, Place, View


def views_of_page(place: Place, recording: Recording) -> dict[str, View]:
    """name -> view, for a page: in the order of what they need, then by name.

    Those that the page has beside its subject come last: the first one is what opens.
    """
    views: dict[str, View] = discover("viz.views", "VIEW")
    order = list(PLACES)
    fitting = (view for view in views.values() if view.page == place and view.applies_to(recording))

    def rank(view: View) -> tuple[bool, int]:
        return PLACES[view.needs] != place, order.index(view.needs)

    return {view.name: view for view in sorted(fitting, key=rank)}


# The large picture of one head, and the panel around a view.

# The large picture of one head: as arrows, as a heat map, or one of its cells from inside.

TITLES = {"arrows": "Arrows", "map": "Heat map", "inside": "Inside", "why": "Why"}


def choose_picture(pane: Pane, left_out: Sequence[str] = ()) -> str:
    """Let a picture of the chosen head be chosen; return its name.

    The card of a word, which is opened where it is, has its place here while it is shown.
    """
    name = pane.screen.picture
    left_out = [*left_out, *["why"] * (name != "why" or not pane.recording.target)]
    titles = {name: title for name, title in TITLES.items() if name not in left_out}
    return choose_one("Picture", "picture", titles, name, label_visibility="collapsed")


def large(name: str, pane: Pane) -> Exhibit:
    """The picture of this name, in the state that the Screen says; arrows where it is the card."""
    name, reading = "arrows" if name == "why" else name, readable(pane)
    content = {"arrows": _arrows, "map": _map, "inside": _inside}[name](pane, reading)
    why = why_not(pane)
    note = f"{why} Shown: the weights." if why else ""
    return Exhibit(TITLES[name], content, note=note, pane=pane)


def _arrows(pane: Pane, reading: Reading) -> PictureAt:
    selection, screen = pane.selection, pane.screen
    n_heads = selection.attention(pane.recording).n_heads
    heads: tuple[int, ...] | None = pane.chosen("heads")
    if heads:
        heads = tuple(head for head in heads if head < n_heads) or None
    view = HeadView(selection.kind, selection.layer, reading)
    over = {
        "head": selection.head,
        "heads": heads,
        "lines": screen.lines,
        "tool": screen.tool,
        "cuts": f"cut:{selection.kind}.{selection.layer}",
        "edits": screen.edits,
        "off": off_in(selection.kind, selection.layer, pane.answer.request.edits),
        "changes": f"edits{pane.suffix}",
    }

    def change(view: dict[str, Any]) -> None:
        overlaid = None if view["heads"] == [selection.head] else tuple(view["heads"])
        pin(pane, view["pins"], lines=view["lines"], **{f"heads{pane.suffix}": overlaid})

    def cut(lines: Sequence[Sequence[int]]) -> None:
        map = read(pane.recording, selection.kind, reading)
        add(*(each for head, row, column in lines for each in _cuts(pane, map, head, row, column)))

    on: Actions = {"view": change, "turn": _turn(pane, reading), "cut": cut}
    of_text = {"pins": screen.pins}
    return PictureAt(view, over, of_text, _typed(view), on, f"arrows{pane.suffix}")


def _map(pane: Pane, reading: Reading) -> PictureAt:
    selection, screen = pane.selection, pane.screen
    map = read(pane.recording, selection.kind, reading)
    cell = pane.chosen("cell") and pinned_cell(pane)
    row, column = (map.row_of(cell[0]), map.column_of(cell[1])) if cell else (None, None)
    over = {
        "path": screen.path,
        "own_scale": screen.own_scale,
        "asks": True,
        "is_off": astuple(selection) in heads_off(pane.answer.request.edits),
    }

    def open_cell(place: Sequence[int]) -> None:
        row, column = place
        if screen.tool == "arrows":
            add(*_cuts(pane, map, selection.head, row, column))
            return
        head = (map.attention, selection.layer, selection.head)
        cell = strongest_weight(*head, map.row_groups[row], map.column_groups[column])
        inside: dict[str, Any] = {} if pane.suffix else {"picture": "inside"}
        pin_cell(pane, *cell, **inside)

    cell_at = None if row is None or column is None else (row, column)
    plain = HeadMap(selection, reading)
    on: Actions = {"cell": open_cell, "turn": _turn(pane, reading)}
    of_text = {"cell": cell_at, "pins": screen.pins}
    return PictureAt(plain, over, of_text, _typed(plain), on, f"map{pane.suffix}")


def _typed(picture: HeadMap | HeadView) -> HeadMap | HeadView | None:
    """The same for what is typed, unless the model has to run once more for each of its words."""
    return None if lenses()[picture.reading.lens].of_output else picture


def _inside(pane: Pane, reading: Reading) -> PictureAt:
    cell = CellSteps(pane.selection, pinned_cell(pane), reading.rows, reading.words)
    on = {"cell": lambda cell: pin_cell(pane, *cell), "turn": lambda n: turn_by(pane, n)}
    typed = replace(cell, cell=None)
    return PictureAt(cell, typed=typed, on=on, key=f"inside{pane.suffix}")


def _cuts(pane: Pane, map: AttentionMap, head: int, row: int, column: int) -> Iterator[Edit]:
    """Cuts of every cell that belongs to this row and column: a word may be of several pieces."""
    kind, layer = pane.selection.kind, pane.selection.layer
    is_open = map.attention.allowed(layer, head)
    for query, key in product(map.row_groups[row], map.column_groups[column]):
        if is_open[query, key]:
            yield Edit("cut", kind, (layer, head, query, key))


def _turn(pane: Pane, reading: Reading) -> Callable[[int], None]:
    """Return the callback for a swipe across the picture."""
    per_head = lenses()[reading.lens].per_head
    return lambda n: turn_by(pane, n, per_head)


# The panel around a view: its controls, its figure, and what it says in words.


def panel(name: str, pane: Pane, **choices: Any) -> None:
    """A view with its controls and its explanation. choices: those that get no control."""
    view: View = discover("viz.views", "VIEW")[name]
    controls = {each.name: each for each in view.controls if each.name not in choices}
    beside = controls.pop(view.beside, None)
    with st.container():
        with st.container(horizontal=True, vertical_alignment="bottom", key=f"under {name}"):
            own = {name: draw_control(control, pane) for name, control in controls.items()}
        chosen = choices | own
        if beside is None:
            draw_figure(name, pane, **chosen)
        else:
            options = beside.options(pane.recording)
            for column, option in zip(columns(len(options)), options, strict=True):
                with column:
                    draw_figure(name, pane, **chosen | {beside.name: option})
    st.caption(view.explain)


def draw_figure(name: str, pane: Pane, recording: Recording | None = None, **choices: Any) -> None:
    """A view's figure, with its alt text and the buttons that save it.

    recording: where it is not the pane's.
    """
    exhibit = view_exhibit(name, pane, recording, **choices)
    show_with_files(pane, exhibit, name, f"{name} {choices}")


def view_exhibits(place: Place, pane: Pane) -> dict[str, Exhibit]:
    """The views that a page lists, with the choices of the Screen; the chosen one first."""
    views = views_of_page(place, pane.recording)
    order = sorted(views, key=lambda name: name != pane.screen.view)
    return {
        name: view_exhibit(
            name, pane, **{it.name: value_on_screen(it, pane) for it in views[name].controls}
        )
        for name in order
    }


def view_exhibit(
    name: str, pane: Pane, recording: Recording | None = None, **choices: Any
) -> Exhibit:
    """A view of the pane's recording, or of another one, with these choices."""
    view: View = discover("viz.views", "VIEW")[name]
    of = pane.recording if recording is None else recording
    content = view.content(of, **choices)
    if pane.reading.words and isinstance(content, Chart):
        content = content.in_words
    return Exhibit(view.title, content, view.describe(of, **choices))


def metric_texts(attention: Attention, layer: int, head: int) -> dict[str, str]:
    """Title -> value with its unit, for every metric that applies to this kind of attention."""
    values = measure(attention.only(head), layer)
    return {
        metric.title: metric.text(float(values[name]))
        for name, metric in metrics_of(attention).items()
    }
