"""All heads of A and B by how much they changed, and what else differs between the two."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial

from transformer.inspection.tensor_statistics import Change, changes
from transformer.inspection.tensor_statistics import Changes as ParameterChanges
from transformer.refusal import Refusal, visible
from transformer.two_models.head_changes import (
    KindChanges,
    Place,
    Row,
    head_changes,
    largest_row,
    read_by_both,
)
from viz.app_packages import pd, st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.figures.heads import changed_heads
from viz.figures.heads.changed_heads import is_still, row_columns
from viz.labels import kind_title, literal
from viz.pages.compare.second import Both, ByMethod
from viz.run.cache import keep
from viz.run.line import Runner
from viz.run.request import Request, answer, open_checkpoint
from viz.run.work import Growth, Study
from viz.screen import link, put
from viz.state.changing import heads_off, switch_off
from viz.state.page import Pane
from viz.state.state import note
from viz.ui.controls import choose_one, help_of
from viz.ui.experiment import TOOLS, is_used, list_edits, offer_edit, show_output
from viz.ui.parts import Part
from viz.ui.progress import whole
from viz.ui.save_menu import offer_figures, offer_file
from viz.ui.showing import columns, show, show_remark

# All heads of two runs of one text: how much each of them changed, as a study.

MOST_ROWS = 24
"""Heads whose row is looked for that changed most."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The heads of A and what became of them in B."""

    kinds: tuple[KindChanges, ...]
    rows: Mapping[tuple[str, int, int], Row] = field(default_factory=dict)
    """Place of a head -> its row that changed most, for the heads that changed most."""

    @property
    def has_own(self) -> bool:
        """Tell whether it is known what heads changed by themselves."""
        return any(kind.own is not None for kind in self.kinds)

    @property
    def ranked(self) -> list[tuple[float, str, Place]]:
        """All heads, the one that changed most first: by itself, where that is known."""
        heads = [
            (float(of[layer, head]), kind.kind, (layer, head))
            for kind in self.kinds
            for of in [kind.total if kind.own is None else kind.own]
            for layer, head in of.isfinite().nonzero().tolist()
        ]
        return sorted(heads, key=lambda each: (-each[0], *each[1:]))


@dataclass(frozen=True)
class HeadsOfBoth(Study[Changes]):
    """Two runs over one text: of two checkpoints, or of one with edits."""

    first: Request
    second: Request

    def run(self, before: Changes | None, runner: Runner) -> Iterator[Changes]:
        a, b = answer(self.first, runner), answer(self.second, runner)
        first, second = a.recording, b.recording
        if a.checkpoint is b.checkpoint or self.first.chat is not None:
            kinds = tuple(head_changes(first, second))
        else:
            text = "" if a.decoding is None else a.decoding.text
            with runner.turn(a.checkpoint.model):
                target = first.target if a.decoding is not None else ()
                both = read_by_both(a.checkpoint, b.checkpoint, self.first.text, target, text)
            first, second, kinds = both.first, both.second, both.kinds
        changes, rows = Changes(kinds), {}
        for _, kind, place in changes.ranked[:MOST_ROWS]:
            pair = first.attentions[kind], second.attentions[kind]
            if (row := largest_row(*pair, place)) is not None:
                rows[kind, *place] = row
        yield Changes(kinds, rows)


# All heads of A and B by how much they changed, above the two pictures.

TITLE = "Heads that changed"
BESIDE = 14
"""Heads in all maps that leave room for words on their right."""
N_LARGEST = 4
"""Heads in words: with them both pictures are still in sight."""


def _all_heads(pane: Pane) -> dict[str, Growth[Changes]]:
    """The map of all heads, and those that changed most; none of one run, or of other words."""
    both = Both.of(pane)
    writes_itself = both.is_edited and both.b.answer.request.follows is None
    if not both.are_two or isinstance(both.b.of, ByMethod) or writes_itself:
        return {}
    study = HeadsOfBoth(both.a.answer.request, both.b.answer.request)
    grown = {"changed-heads": partial(_maps, both), "largest-changes": partial(_largest, both)}
    return {name: Growth("Heads", study, it, is_main=False) for name, it in grown.items()}


def _draw_heads(pane: Pane) -> None:
    """Draw both side by side, once both models have read the text."""
    both, growths = Both.of(pane), _all_heads(pane)
    if not growths:
        return
    try:
        changes = whole(growths["changed-heads"].study, st.empty())
    except Refusal as reason:
        note(reason)
        return
    if changes is None or not changes.kinds:  # none in common: nothing is beside each other
        return
    shapes = {name: growth.exhibit(changes) for name, growth in growths.items()}
    says = literal(shapes["changed-heads"].says)
    st.markdown(f"**{TITLE}** · {says}", help=help_of("head_change", "jensen_shannon"))
    offer_figures(both.a, shapes)
    offer_file(
        "Heads as CSV",
        lambda: rows_csv(_rows(both, changes)),
        "headscope-changed-heads.csv",
        "One row per head, the one that changed most first",
        shapes["changed-heads"].title,
    )
    if max(len(kind.total) for kind in changes.kinds) > changed_heads.MOST_LAYERS:
        del shapes["changed-heads"]
    is_wide = sum(kind.total.size(1) for kind in changes.kinds) > BESIDE
    beside: Sequence[AbstractContextManager[None]]
    beside = [nullcontext()] * 2 if is_wide else columns([5, 7], gap="medium")
    for place, (name, exhibit) in zip(beside, shapes.items(), strict=False):
        with place:
            show(exhibit, name)


def _maps(both: Both, changes: Changes) -> Exhibit:
    pane = both.a
    chosen = pane.selection.kind, (pane.selection.layer, pane.selection.head)
    attentions = pane.recording.attentions
    content = changed_heads.maps(
        changes.kinds, attentions.__getitem__, partial(_link, both), chosen
    )
    says = changed_heads.describe(changes.ranked, partial(_name, both), changes.has_own)
    return Exhibit(TITLE, content, says, is_main=False, pane=pane)


def _largest(both: Both, changes: Changes) -> Exhibit:
    pane, ranked = both.a, changes.ranked[:N_LARGEST]
    rows = [changes.rows.get((kind, *place)) for _, kind, place in ranked]
    attentions = pane.recording.attentions
    content = changed_heads.largest(
        ranked,
        changes.kinds,
        rows,
        attentions.__getitem__,
        both.b.recording.attentions,
        partial(_link, both),
    )
    says = changed_heads.describe(changes.ranked, partial(_name, both), changes.has_own)
    return Exhibit(f"{TITLE} most", content, says, is_main=False, pane=pane)


def _link(both: Both, kind: str, place: Place, other: Place | None) -> str:
    """The address of a head of A beside one of B."""
    layer, head = other or place
    b = both.b.recording.attentions.get(kind)
    screen = replace(both.a.screen, kind=kind, layer=place[0], head=place[1])
    if b is not None and layer < b.n_layers and head < b.n_heads:
        screen = put(screen, kind_b=kind, layer_b=layer, head_b=head)
    if other is not None:
        screen = put(screen, same_head=False)
    return link(screen)


def _name(both: Both, kind: str, place: Place) -> str:
    number = both.a.recording.attentions[kind].number(place[0])
    return f"{kind_title(kind)} L{number} H{place[1]}"


def _rows(both: Both, changes: Changes) -> list[dict[str, object]]:
    kinds = {kind.kind: kind for kind in changes.kinds}
    rows: list[dict[str, object]] = []
    for value, name, place in changes.ranked:
        kind = kinds[name]
        other, distance = kind.counterpart(*place)
        numbers = {
            each: None if of is None else float(of[place])
            for each in ("own", "total", "relative", "cosine")
            for of in [getattr(kind, each)]
        }
        layer = both.b.recording.attentions[name].number(other[0])
        nearest = {"nearest": f"L{layer} H{other[1]}", "to_nearest": distance}
        where = {"kind": name, "layer": place[0], "head": place[1], "change": value}
        row = changes.rows.get((name, *place))
        if row is not None and not is_still(row):
            nearest |= row_columns(row, both.a.recording.attentions[name])
        rows.append({**where, **numbers, **nearest})
    return rows


ALL_HEADS = Part(TITLE, _all_heads, draw=_draw_heads)


# The changes of B, where B is A with edits, and the output of the model with them.

SWITCH = "Switch {name} {to}"
NOTHING = "Nothing is changed: switch the head of B off here, or experiment on Explore."


def changed(first: Pane, other: Pane) -> None:
    """Draw the strip. first: A, the model unchanged; other: B."""
    edits = first.screen.edits
    with st.container(key="experiment", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            titles = {tool: title for tool, title in TOOLS.items() if tool != "heads"}
            tool = first.screen.tool
            choose_one("A click on B", "tool", titles, tool, label_visibility="collapsed")
            _switch(other)
            list_edits(other)
            offer_edit(other)
        if not edits:
            show_remark(NOTHING, is_used(first.screen))
            return
        show_output(first)


def edited(other: Pane) -> str:
    """Return the end of B's heading."""
    n = len(other.screen.edits)
    is_off = " (off)" if _head(other) in heads_off() else ""
    return f"{is_off} with {n} edit{'s' * (n != 1)}"


def _head(other: Pane) -> tuple[str, int, int]:
    return other.selection.kind, other.selection.layer, other.selection.head


def _switch(other: Pane) -> None:
    """The head of B that is shown, off or on again."""
    head, off = _head(other), heads_off()
    is_off = head in off
    name = f"{kind_title(head[0])} {other.selection.name(other.recording)}"
    wanted = [each for each in off if each != head] if is_off else [*off, head]
    st.button(
        literal(SWITCH.format(name=name, to="on" if is_off else "off")),
        key="switch head of B",
        on_click=switch_off,
        args=(wanted,),
    )


# The parameters of two checkpoints that differ most, as a table and a file.

SHOWN_FIRST = 12
"""Rows that are seen without scrolling."""
NAMED = 5
NO_PARAMETERS = (
    "These checkpoints have no parameter of the same name and shape: their models differ."
)
EXPLAIN = (
    "Relative change: ‖B − A‖ / ‖A‖ of a tensor, Frobenius norms; cosine: of the angle between "
    "both as vectors."
)


def parameter_changes(a: Request, b: Request) -> None:
    """The table for the checkpoints of two requests."""
    changes = _changes(a, b)
    with st.container(key="parameters"):
        st.markdown("**Parameters that changed most**, from A to B")
        if not changes.both:
            note(NO_PARAMETERS)
            return
        rows = [_row(change) for change in changes.both]
        st.dataframe(
            pd.DataFrame(rows),
            hide_index=True,
            height=35 * (min(len(rows), SHOWN_FIRST) + 1) + 3,
            column_config={
                "Relative change": st.column_config.NumberColumn(format="%.4f"),
                "Distance": st.column_config.NumberColumn(format="%.4f"),
                "Cosine": st.column_config.NumberColumn(format="%.4f"),
            },
        )
    st.caption(literal(f"{EXPLAIN}{_others(changes)}"))
    offer_file(
        "Changes as CSV",
        lambda: rows_csv([vars(change) for change in changes.both]),
        "headscope-changes.csv",
        "Every tensor that both checkpoints have",
        "Parameters that changed most",
    )


def _row(change: Change) -> dict[str, object]:
    return {
        "Tensor": visible(change.name),
        "Shape": " × ".join(map(str, change.shape)),
        "Relative change": change.relative if math.isfinite(change.relative) else None,
        "Distance": change.distance,
        "Cosine": change.cosine if math.isfinite(change.cosine) else None,
    }


def _others(changes: ParameterChanges) -> str:
    text = ""
    for names, where in (
        (changes.other_shapes, "In B with another shape"),
        (changes.only_first, "Only in A"),
        (changes.only_second, "Only in B"),
    ):
        if names:
            more = ", …" if len(names) > NAMED else ""
            text += f" {where}: {', '.join(names[:NAMED])}{more}."
    return text


@keep(16, "Comparing parameters")
def _changes(a: Request, b: Request) -> ParameterChanges:
    return changes(open_checkpoint(a).model, open_checkpoint(b).model)
