"""All heads of A and B by how much they changed, above the two pictures."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

from transformer.refusal import Refusal
from transformer.two_models.head_changes import Place
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.export import rows_csv
from viz.figures.heads import changed_heads
from viz.figures.heads.changed_heads import is_still, row_columns
from viz.labels import kind_title, literal
from viz.pages.compare.both import Changes, HeadsOfBoth
from viz.pages.compare.derived import ByMethod, Changed
from viz.run.growth import Growth
from viz.screen import link, put
from viz.state.note import note
from viz.state.page import Pane
from viz.ui.columns import columns
from viz.ui.progress import whole
from viz.ui.saving import download, for_a_paper
from viz.ui.showing import show
from viz.ui.words import help_of

BESIDE = 14
"""Heads in all maps that leave room for words on their right."""
N_LARGEST = 4
"""Heads in words: with them both pictures are still in sight."""


def heads_of_both(panes: dict[str, Pane]) -> HeadsOfBoth | None:
    """The study of both runs; None where they are one, or have no words in common."""
    a, b = panes["A"], panes["B"]
    is_one = a.answer is b.answer or isinstance(b.of, ByMethod)
    if is_one or (isinstance(b.of, Changed) and b.answer.request.follows is None):
        return None
    return HeadsOfBoth(a.answer.request, b.answer.request)


def exhibits(panes: dict[str, Pane]) -> dict[str, Growth[Changes]]:
    """Declare both: the map of all heads, and the heads that changed most."""
    study = heads_of_both(panes)
    if study is None:
        return {}
    return {
        "changed-heads": Growth("Heads", study, partial(_maps, panes), is_main=False),
        "largest-changes": Growth("Heads", study, partial(_largest, panes), is_main=False),
    }


def draw_heads(panes: dict[str, Pane]) -> None:
    """Draw both side by side, once both models have read the text."""
    growths = exhibits(panes)
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
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        says = literal(shapes["changed-heads"].says)
        st.markdown(f"**Heads that changed** · {says}", help=_help(), width="content")
        download(
            "Heads as CSV",
            lambda: rows_csv(_rows(panes, changes)),
            "headscope-changed-heads.csv",
            "One row per head, the one that changed most first",
        )
        for_a_paper(panes["A"], shapes, "paper changed heads")
    if max(len(kind.total) for kind in changes.kinds) > changed_heads.MOST_LAYERS:
        del shapes["changed-heads"]
    is_wide = sum(kind.total.size(1) for kind in changes.kinds) > BESIDE
    beside: Sequence[AbstractContextManager[None]]
    beside = [nullcontext()] * 2 if is_wide else columns([5, 7], gap="medium")
    for place, (name, exhibit) in zip(beside, shapes.items(), strict=False):
        with place:
            show(exhibit, name)


def _help() -> str:
    return help_of("head_change", "jensen_shannon")


def _maps(panes: dict[str, Pane], changes: Changes) -> Exhibit:
    pane = panes["A"]
    chosen = pane.selection.kind, (pane.selection.layer, pane.selection.head)
    attentions = pane.recording.attentions
    content = changed_heads.maps(
        changes.kinds, attentions.__getitem__, partial(_link, panes), chosen
    )
    says = changed_heads.describe(changes.ranked, partial(_name, panes), changes.has_own)
    return Exhibit("Heads that changed", content, says, is_main=False, pane=pane)


def _largest(panes: dict[str, Pane], changes: Changes) -> Exhibit:
    pane, ranked = panes["A"], changes.ranked[:N_LARGEST]
    rows = [changes.rows.get((kind, *place)) for _, kind, place in ranked]
    attentions = pane.recording.attentions
    content = changed_heads.largest(
        ranked,
        changes.kinds,
        rows,
        attentions.__getitem__,
        panes["B"].recording.attentions,
        partial(_link, panes),
    )
    says = changed_heads.describe(changes.ranked, partial(_name, panes), changes.has_own)
    return Exhibit("Heads that changed most", content, says, is_main=False, pane=pane)


def _link(panes: dict[str, Pane], kind: str, place: Place, other: Place | None) -> str:
    """The address of a head of A beside one of B."""
    layer, head = other or place
    b = panes["B"].recording.attentions.get(kind)
    screen = replace(panes["A"].screen, kind=kind, layer=place[0], head=place[1])
    if b is not None and layer < b.n_layers and head < b.n_heads:
        screen = put(screen, kind_b=kind, layer_b=layer, head_b=head)
    if other is not None:
        screen = put(screen, same_head=False)
    return link(screen)


def _name(panes: dict[str, Pane], kind: str, place: Place) -> str:
    number = panes["A"].recording.attentions[kind].number(place[0])
    return f"{kind_title(kind)} L{number} H{place[1]}"


def _rows(panes: dict[str, Pane], changes: Changes) -> list[dict[str, object]]:
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
        layer = panes["B"].recording.attentions[name].number(other[0])
        nearest = {"nearest": f"L{layer} H{other[1]}", "to_nearest": distance}
        where = {"kind": name, "layer": place[0], "head": place[1], "change": value}
        row = changes.rows.get((name, *place))
        if row is not None and not is_still(row):
            nearest |= row_columns(row, panes["A"].recording.attentions[name])
        rows.append({**where, **numbers, **nearest})
    return rows
