"""The worth of each head to a pinned word, for the grid: asked for where the grid shows it."""

from transformer.analysis.reading import lenses
from transformer.analysis.sweep import Sweep
from transformer.refusal import Refusal
from transformer.words import word_at
from viz.components.head_grid.head_grid import WORTH, Worth
from viz.components.kit.picture import NothingLeft
from viz.labels import word_text
from viz.run.work import at_hand
from viz.state.focus import pinned_target
from viz.state.note import note
from viz.state.page import Pane
from viz.ui.causes.studies import HeadsOff
from viz.ui.progress import finished_for, grow


def head_worth(pane: Pane, is_live: bool) -> Worth | None:
    """The numbers of the pinned word as far as they are at hand.

    None: no word is pinned, a lens shows no heads, or the model is changed: what a head is worth is
    of the model as it is.
    is_live: they are offered before they are known.
    """
    place = pinned_target(pane)
    if place is None or pane.answer.request.edits or not lenses()[pane.reading.lens].per_head:
        return None
    own = word_at(pane.recording.target, place)
    word = word_text(own.tokens)
    sweep = at_hand(HeadsOff(pane.answer.request)) if _is_asked(pane) else None
    if sweep is None:
        return Worth(word) if is_live else None
    costs = (-sweep.changes[:, list(own.positions)].sum(-1)).tolist()
    places = [(edit.place, *edit.numbers) for edit in sweep.edits]
    tried = dict(zip(places, costs, strict=True))
    numbers = []
    for kind, attention in pane.recording.attentions.items():
        heads = [(i, j) for i in range(attention.n_layers) for j in range(attention.n_heads)]
        numbers.append((kind, tuple(tried.get((kind, *head), float("nan")) for head in heads)))
    return Worth(word, tuple(numbers))


def watch_worth(pane: Pane) -> None:
    """Begin what the grid shows, and say how far it is."""
    if not _is_asked(pane) or pane.request != pane.answer.request:
        return
    try:
        grow(HeadsOff(pane.answer.request), lambda sweep: None)
    except (Refusal, NothingLeft) as reason:
        note(reason)


def finish_worth(pane: Pane) -> Sweep | None:
    """The same for who waits to the end: a figure, a wall."""
    try:
        return finished_for(HeadsOff(pane.answer.request)) if _is_asked(pane) else None
    except (Refusal, NothingLeft):
        return None


def _is_asked(pane: Pane) -> bool:
    is_chosen = WORTH in (pane.screen.show, pane.screen.sort)
    return is_chosen and not pane.answer.request.edits and pinned_target(pane) is not None
