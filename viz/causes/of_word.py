"""Further studies of a written token that is pinned, each behind a button below its card."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from transformer.causes.arrows import Arrows
from transformer.causes.ladder import Rung
from transformer.edits import Edit
from transformer.inputs import InputError, source_ids
from transformer.words import characters
from viz.app_packages import st
from viz.causes import tables
from viz.causes.right_word_tables import Parts, chart, describe, parts_table
from viz.causes.studies import Climb, Climbed, CutArrows, EachArrow, LogitParts
from viz.causes.tables import describe_rungs_table, rungs_table
from viz.exhibits.exhibit import Exhibit
from viz.labels import bare_label, literal, word_text
from viz.run.work import Growth, finish
from viz.screen import FIRST_PAGE, choose, link
from viz.spelling import MOST_EDITS
from viz.state.focus import pinned_read
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.showing import show_declared

UNCHANGED = "This is of the model as it is: take the edits back first."
EXACT = "The strongest arrows, cut exactly"
Growths = dict[str, Growth[Any]]


@dataclass(frozen=True)
class Cause:
    """A study of one token: its button, and its exhibits once it is asked for."""

    title: str
    help: str
    exhibits: Callable[[Pane, int], Growths]
    """(pane, place of the token in the target) -> by name."""
    why_not: Callable[[Pane], str | None]
    """The reason why this model has none; None: it has."""
    is_offered: Callable[[Pane], bool] = lambda pane: True
    """False: nobody would ask for it of this model."""


def of_word_exhibits(pane: Pane, place: int | None) -> Growths:
    """The exhibits of the study that is open; none where no word is pinned."""
    cause = CAUSES.get(pane.screen.cause or "")
    if place is None or cause is None or cause.why_not(pane):
        return {}
    return cause.exhibits(pane, place)


def of_word(pane: Pane, place: int | None) -> None:
    """Draw what opens each of them, and the one that is open. place: None: no word is pinned."""
    if place is None or pane.request != pane.answer.request:
        return
    with st.container(horizontal=True):
        for name, cause in CAUSES.items():
            if not cause.is_offered(pane):
                continue
            why, is_open = cause.why_not(pane), pane.screen.cause == name
            st.button(
                literal(cause.title),
                on_click=change,
                kwargs={"cause": None if is_open else name},
                help=literal(why or cause.help),
                disabled=why is not None,
                icon=f":material/{'expand_less' if is_open else 'expand_more'}:",
                key=f"cause {name}",
            )
    if growths := of_word_exhibits(pane, place):
        # Say which piece a study is of, where the word, which the card is of, has several.
        own = pane.recording.target_words.at(place).tokens
        if len(own) > 1:
            word, piece = word_text(own), bare_label(pane.recording.target[place])
            st.caption(
                f"“{literal(word)}” has {len(own):d} pieces. The card is of all of them, what "
                f"follows only of “{literal(piece)}”."
            )
        show_declared(pane, lambda _: growths)


def _arrows(pane: Pane, place: int) -> Growths:
    study, recording = EachArrow(pane.answer.request, place), pane.recording

    def costs(arrows: Arrows) -> Exhibit:
        kinds, kind = [kind for kind, _ in arrows.costs], pane.selection.kind
        kind = kind if kind in kinds else kinds[-1]  # cross-attention, where there is any
        content = tables.chart(arrows, recording, kind)
        says = tables.describe_arrow_costs(arrows, recording)
        return Exhibit("Each arrow cut", content, says, is_main=False)

    def strongest(arrows: Arrows) -> Exhibit:
        content = tables.strongest_table(arrows, recording, partial(_cut_address, pane))
        return Exhibit("Strongest arrows", content, content.name, is_main=False)

    grown = {"arrows": costs, "strongest": strongest}
    return {name: Growth("Each arrow cut", study, it, is_main=False) for name, it in grown.items()}


def _exact(pane: Pane, place: int) -> Growths:
    forecast = EachArrow(pane.answer.request, place)

    def strongest(exact: dict[str, float]) -> Exhibit:
        address = partial(_cut_address, pane)
        content = tables.strongest_table(finish(forecast), pane.recording, address, exact)
        return Exhibit(EXACT, content, content.name, is_main=False)

    return {"exact": Growth(EXACT, CutArrows(forecast), strongest, is_main=False)}


def _cut_address(pane: Pane, edit: Edit) -> str:
    """The address with this arrow cut, beside the edits that are in force."""
    screen = choose(pane.screen, page=FIRST_PAGE, edits=(*pane.screen.edits, str(edit)))
    return link(replace(screen, kind=edit.place, layer=edit.layer, head=edit.head))


def _parts(pane: Pane, place: int) -> Growths:
    study, title = LogitParts(pane.answer.request, place), "Direct logit attribution"
    n_heads = next(iter(pane.recording.attentions.values())).n_heads

    def bars(parts: Parts) -> Exhibit:
        content, says = chart(parts), describe(parts)
        return Exhibit(title, content, says, is_main=False)

    def every(parts: Parts) -> Exhibit:
        content = parts_table(parts, n_heads)
        return Exhibit(title, content, content.foot, is_main=False)

    grown = {"parts": bars, "every-part": every}
    return {name: Growth(title, study, it, is_main=False) for name, it in grown.items()}


def _no_arrows(pane: Pane) -> str | None:
    if pane.checkpoint.family.is_watched and pane.answer.request.edits:
        return UNCHANGED
    return None


def _no_exact(pane: Pane) -> str | None:
    if not pane.checkpoint.family.is_watched:
        return "In this model every arrow is cut exactly: choose Each arrow cut."
    return _no_arrows(pane)


def _no_parts(pane: Pane) -> str | None:
    if pane.answer.request.edits:
        return UNCHANGED
    return _not_ours(pane)


def _ladder(pane: Pane, place: int) -> Growths:
    recording, read = pane.recording, pinned_read(pane)
    word = None if read is None else recording.source_words.at(read).number

    def rungs(value: Climbed) -> Exhibit:
        address = partial(_address, pane, value.rungs)
        content = rungs_table(value.rungs, recording, address)
        says = describe_rungs_table(value.rungs, recording)
        return Exhibit("What each cut changes", content, says, is_main=False)

    study = Climb(pane.answer.request, place, word)
    return {"ladder": Growth("What each cut changes", study, rungs, is_main=False)}


def _address(pane: Pane, rungs: Sequence[Rung], rung: Rung) -> str:
    """Return the address where a rung is kept: its edits, or the text without its word."""
    if not rung.edits:
        key = rungs[0].edits[0].key
        text = _without(pane, pane.recording.source_words.at(key).positions)
        return "" if text is None else link(choose(pane.screen, text=text))
    edits = (*pane.screen.edits, *map(str, rung.edits))
    screen = choose(pane.screen, page=FIRST_PAGE, edits=edits, cause=None)
    return link(screen) if len(edits) <= MOST_EDITS else ""


def _without(pane: Pane, pieces: Sequence[int]) -> str | None:
    """The text without these pieces; None: no text is read as what is left of the tokens."""
    left = [token for i, token in enumerate(pane.recording.source) if i not in pieces]
    spelled = "".join(characters([token for token in left if not token.special]))
    text = spelled.replace("▁", " ").strip()
    try:
        is_same = source_ids(pane.checkpoint, text) == [token.id for token in left]
    except InputError:
        return None
    return text if is_same else None


def _has_all(pane: Pane) -> str | None:
    return None


def _not_ours(pane: Pane) -> str | None:
    if pane.checkpoint.family.is_watched:
        return "This is computed in models that are built here; this one runs as its own code says."
    return None


CAUSES = {
    "ladder": Cause(
        "What each cut changes",
        "From the strongest arrow to the word that is needed, or that is pinned in the source, up "
        "to the word hidden and deleted: what each cut costs.",
        _ladder,
        _has_all,
    ),
    "arrows": Cause(
        "Each arrow cut",
        "Every arrow of the row that writes this word is cut, each by itself: exactly in models "
        "that are built here, in others by forecast.",
        _arrows,
        _no_arrows,
    ),
    "exact": Cause(
        EXACT,
        "The arrows that the forecast puts first, each cut in a run of the whole model.",
        _exact,
        _no_exact,
        is_offered=lambda pane: pane.checkpoint.family.is_watched,
    ),
    "parts": Cause(
        "Direct logit attribution",
        "What each head and feed-forward layer of the decoder adds to this word's logit directly.",
        _parts,
        _no_parts,
    ),
}
"""Name, as the address has it -> study."""
