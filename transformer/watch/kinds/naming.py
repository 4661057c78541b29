"""Names of rows and columns: the tokens of the positions that they are made of, or numbers."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from torch import Tensor

from transformer.recording.check import FOLLOWED, IDS, NUMBERS
from transformer.token import Token
from transformer.watch.capture.homes import MIXED, NONE, PATCHES, STEP, place_of, text_in, text_of
from transformer.watch.kinds.kind import UNNAMED, Kind

# Names of rows and columns.
#
# Where a pass was followed number by number, a row is named after the position that it is of,
# whatever brought it there; a row of none, or of several, is named after no token. Where it was
# not, as in a family whose library is known, names are those of the ids in their order.


class Named(NamedTuple):
    """The names of one axis, and how they were got."""

    tokens: tuple[Token, ...] | None
    """None: they are not known, so numbers stand in their place."""
    by: str
    """One of `transformer.recording.check.WAYS`."""
    why: str = ""
    """The reason why words are not known, where sizes would have them: a clause."""
    lost: str = ""
    """The same where nobody would expect them."""
    is_moved: bool = False
    """True: they are in another order than the text, or one of them is there twice."""


WHY = {
    MIXED: "each is made of several positions",
    NONE: "they are made of no position of the text",
}
HIDDEN = "the pass does not show which positions they are made of"
ANOTHER = "they are made of a text whose tokens are not given"


def texts_of(kinds: Iterable[Kind]) -> dict[str, int]:
    """Side -> the number of its text among the inputs, where the pass was followed."""
    kinds = [kind for kind in kinds if kind.calls[0].homes is not None and not kind.reading]
    has_two = any(kind.role in ("cross", "encoder_self") for kind in kinds)
    sides: dict[str, int] = {}
    for role, axis, side in (
        ("encoder_self", 0, "source"),
        ("cross", 1, "source"),
        ("decoder_self", 0, "target" if has_two else "source"),
        ("cross", 0, "target"),
        (None, 0, "source"),
        (None, 1, "source"),
    ):
        alike = [kind.calls[0].homes for kind in kinds if kind.role == role]
        labels = [homes[axis] for homes in alike if homes is not None]
        texts = [text for text in map(text_in, labels) if text is not None]
        if role is None and side in sides and has_two and texts and texts[0] not in sides.values():
            side = (
                "target"  # latents that read the source ask for a text that reads itself with them
            )
        if texts and side not in sides:
            sides[side] = next((text for text in texts if text < PATCHES), texts[0])
    return sides


def named(
    labels: Tensor | None,
    slots: Sequence[Token] | None,
    tokens: Sequence[Token],
    text: tuple[int, int] | None,
    *,
    is_given: bool = True,
) -> Named:
    """Name one axis.

    labels: of its rows; None: not followed. slots: for each row the number of a token, or one that
    is no word; None: sizes do not tell. tokens: of its side. text: the number and the length of
    the input that the side's tokens are of; None: not known. is_given: whether somebody gave these
    tokens, so that there is something to be wrong about.
    """
    if labels is None:
        return Named(None, NUMBERS) if slots is None else Named(_filled(slots, tokens), IDS)
    places, texts = zip(*((place_of(it), text_of(it)) for it in labels.tolist()), strict=True)
    if slots is not None and set(places) == {STEP}:
        return Named(_filled(slots, tokens), FOLLOWED)
    if min(places) <= MIXED or max(places) < 0:
        is_word = is_given and slots is not None and any(slot.id >= 0 for slot in slots)
        why = WHY.get(min(places), HIDDEN)
        return Named(None, NUMBERS, why if is_word else "", why)
    # 1. Words in their order, with some that were read earlier, or that the model puts there.
    n_more = None if text is None else len(tokens) - text[1]
    has_others = len(set(texts)) > 1
    if slots is not None:
        ids = [slot.id for slot in slots]
        shifts = {(it, id - at) for it, id, at in zip(texts, ids, places, strict=True) if at >= 0}
        is_in_order = len(shifts) == len(set(texts) - {-1})
        is_whole = has_others and len(ids) == len(tokens)
        if is_in_order and (is_whole or (text is not None and shifts == {(text[0], n_more)})):
            return Named(_filled(slots, tokens), FOLLOWED)
    if text is None or n_more is None or text[0] not in texts:
        return Named(None, NUMBERS, ANOTHER if is_given and slots is not None else "")
    # 2. Words in another order, or beside what is none.
    if n_more < 0 or (n_more > 0 and has_others):
        return Named(None, NUMBERS, HIDDEN if is_given else "")
    others = slots or (UNNAMED,) * len(places)
    own = [place if it == text[0] else NONE for it, place in zip(texts, places, strict=True)]
    moved = [
        tokens[place + n_more] if place >= 0 else slot if slot.id < 0 else UNNAMED
        for place, slot in zip(own, others, strict=True)
    ]
    words = [place for place in own if place >= 0]
    return Named(tuple(moved), FOLLOWED, is_moved=any(a >= b for a, b in pairwise(words)))


def _filled(slots: Sequence[Token], tokens: Sequence[Token]) -> tuple[Token, ...]:
    return tuple(tokens[slot.id] if slot.id >= 0 else slot for slot in slots)


# What layers contradict: names are those of the first.

OTHERS = "whose rows or columns are other positions than those of the first layer"
LOST = "of whose rows or columns the pass does not show which positions they are"


def doubts(kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List what contradicts the first layer's names, and what leaves them open, in clauses."""
    first = kind.calls[0].homes
    if first is None:
        return (), ()
    wrong: Counter[str] = Counter()
    for call in kind.calls[1:]:
        for own, of_first in zip(call.homes or (), first, strict=False):
            differs = (own != of_first) if own.shape == of_first.shape else own.new_ones(1).bool()
            if bool(differs.any()):
                is_lost = own.shape == of_first.shape and bool((own[differs] < 0).all())
                wrong[LOST if is_lost else OTHERS] += 1
                break
    clauses = {why: f"{n} layer{'s' * (n > 1)} of it, {why}" for why, n in wrong.items()}
    return (
        tuple(it for why, it in clauses.items() if why == OTHERS),
        tuple(it for why, it in clauses.items() if why == LOST),
    )


def why_none(names: Mapping[str, Sequence[Named]]) -> str:
    """Give the reason why no axis at all is named after tokens; empty where one is, or says why."""
    every = [each for axes in names.values() for each in axes]
    if any(each.tokens is not None or each.why for each in every):
        return ""
    return next((each.lost for each in every if each.lost), "")


def notes_on_names(
    names: Mapping[str, Sequence[Named]], *, has_tokens: bool = True
) -> tuple[str, ...]:
    """Say where rows or columns are in another order than the text, or stand for no tokens.

    has_tokens: whether somebody gave tokens.
    """
    result = []
    if has_tokens and (lost := why_none(names)):
        result.append(f"No row or column is named after a token: {lost}.")
    for kind, axes in names.items():
        if any(each.is_moved for each in axes):
            result.append(
                f"{kind}: the model puts its positions into another order before attention; rows "
                "and columns are named after the tokens that they are made of."
            )
        whys = {what: each.why for what, each in zip(("rows", "columns"), axes, strict=True)}
        if whys["rows"] == whys["columns"] != "":
            result.append(f"{kind}: its rows and columns are numbered, for {whys['rows']}.")
            continue
        result += (f"{kind}: its {it} are numbered, for {why}." for it, why in whys.items() if why)
    return tuple(result)
