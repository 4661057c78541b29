"""The button that changes what is written: its heads are searched while nobody waits for them."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from transformer.causes.change import Carriers, ChangeSearch, SmallestChange, searching_change
from transformer.corpus.carriers import shipped_carriers
from transformer.decoding.decode import decoding_methods
from transformer.edits import edits_of
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.refusal import visible
from viz.components.change_offer.change_offer import PARTS, SAYS, TITLE, Button, change_offer
from viz.components.kit.browser import digest, pack
from viz.components.kit.picture import NothingLeft
from viz.edit_words import edit_text
from viz.run.line import IDLE, Runner
from viz.run.previews import Offer
from viz.run.request import Answer, Request, answer
from viz.run.settings import is_public
from viz.run.work import Study, at_hand
from viz.state.changing import edit
from viz.state.fingerprints import beside, has_mark
from viz.state.focus import turn_to_head
from viz.state.limits import may_seek
from viz.state.live_preview import preview_offer
from viz.state.page import Pane
from viz.state.requests import is_first
from viz.state.state import current_theme

# The study of the fewest heads without which a sentence is written otherwise.


@dataclass(frozen=True)
class FindChange(Study[ChangeSearch]):
    """The search for the smallest change of what is written, by the decoding of a request."""

    rank: ClassVar[int] = IDLE

    request: Request

    def run(self, before: ChangeSearch | None, runner: Runner) -> Iterator[ChangeSearch]:
        """Raises NothingLeft for a model whose heads are not searched."""
        request, plain = self.request, answer(self.request, runner)
        if plain.decoding is None:
            raise NothingLeft("Nothing is written.")
        steps = runner.steps(plain.checkpoint.model)
        options = dict(request.options) | request.decided
        carriers = carriers_of(request.checkpoint, request.version)
        at = plain.checkpoint, request.text, plain.decoding, request.method, options, carriers
        try:
            yield from steps.of(searching_change(*at, steps.give_way))
        except InputError as error:
            raise NothingLeft(str(error)) from error


def carriers_of(checkpoint: str, version: int) -> Carriers | None:
    """The heads that are known to carry the negation of a checkpoint; None where none are."""
    shipped = beside(shipped_carriers, checkpoint, version)
    if shipped is None or not has_mark(checkpoint, shipped.fingerprint):  # it was trained anew
        return None
    return shipped.carriers


# The button: asked for by a browser that is at rest, or there at once where it is known.


def offer_change(pane: Pane) -> None:
    """Draw the button, or keep its place; nothing where no head of the model could be searched."""
    last = pane.answer
    if not _can_change(last):
        return
    study, of = FindChange(last.request), digest(repr(last.request).encode())
    is_plain = pane.request == last.request and not last.request.edits
    search = at_hand(study) if is_plain else None
    is_free = not is_public() or is_first(last.request)  # else it is counted
    is_sought = is_plain and search is None and (is_free or may_seek(study))
    if is_sought:
        preview_offer(Offer(study, partial(_packed, last, of)))
    button = None if search is None else button_of(last.recording, of, search)
    change_offer(of, current_theme(), button, is_sought, partial(_take, pane))


def _take(pane: Pane, spelled: Any) -> None:
    """Switch them off; and where another kind of attention is open, turn to where that is seen."""
    edits = edits_of(spelled)
    edit(map(str, edits))
    places = [each.at_head for each in edits]
    if places and pane.selection.kind not in {kind for kind, *_ in places}:
        turn_to_head(pane, *places[-1])


def _can_change(last: Answer) -> bool:
    """Tell whether it is a text that a model of ours writes by itself, through cross-attention, and
    not by chance: there each change of the model is another draw.
    """
    request, method = last.request, decoding_methods().get(last.request.method)
    if method is None or method.needs_target or request.branch or request.follows is not None:
        return False
    is_ours = not last.checkpoint.family.is_watched and "cross" in last.recording.attentions
    return is_ours and all(option.name != "seed" for option in method.options)


def _packed(last: Answer, of: str, search: ChangeSearch) -> bytes | None:
    button = button_of(last.recording, of, search)
    return None if button is None else pack(button)


def button_of(recording: Recording, of: str, search: ChangeSearch) -> Button | None:
    """The button of a search that has found something. of: names the answer that is changed."""
    change = search.change
    if change is None:
        return None
    heads = ", ".join(edit_text(each, recording) for each in change.heads)
    return {
        "of": of,
        "parts": [*map(visible, parts_of(change))],
        "title": visible(TITLE.format(heads=heads, text=change.text)),
        "edits": [*map(str, change.heads)],
    }


def parts_of(change: SmallestChange) -> tuple[str, ...]:
    """Say what a click does: words, and by turns with them words of the text, to be quoted."""
    of, is_one = change.difference, len(change.heads) == 1
    name = "known" if change.is_known else "number" if of.kind == "number" else "lost"
    places = {
        "heads": SAYS["heads"][not is_one].format(n=len(change.heads)),
        "carry": SAYS["carry"][not is_one],
        "are": SAYS["are"][" " in of.gone],
        "gone": of.gone,
        "came": of.came,
    }
    return tuple(part.format_map(places) for part in PARTS[name])
