"""Edits of the model as a person makes them: made, taken back, made again, dropped."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from transformer.edits import Edit, EditError, edit_kinds, of_any_text, parse
from transformer.edits.edit import NUMBERS
from transformer.token import Token
from viz.app_packages import st
from viz.edit_words import heads_off as heads_off_by
from viz.edit_words import named_tokens
from viz.labels import counted
from viz.run.request import Answer
from viz.screen import Screen
from viz.state.state import change, mend, note, session

MOST_STEPS = 100
"""Changes of the edits that can be taken back."""


@dataclass
class Changes:
    """The changes of the edits in a session."""

    before: list[tuple[str, ...]] = field(default_factory=list)
    """The edits that were in force before each of the last changes, the newest last."""
    undone: list[tuple[str, ...]] = field(default_factory=list)
    """The edits in force before each of the last was taken back."""
    dropped: list[str] = field(default_factory=list)
    """The reasons why edits were dropped; the run that follows says them."""
    drawn: Screen | None = None
    """The screen of the last run; None: of none, or a link led away from it."""
    read: "Read | None" = None
    """The last text that was whole, as the edits name it; None as above."""
    gone: tuple[Screen, str] | None = None
    """The sentence on edits that went, and the screen that it stands on."""
    held: tuple[str, ...] = ()
    """The edits that stayed in force when another sentence was entered."""


@dataclass(frozen=True)
class Read:
    """The tokens that edits name in a text."""

    of: tuple[object, ...]
    """The sentence, and the edits that are chosen and in force: of others nothing is compared."""
    tokens: dict[str, tuple[Token | None, ...]]
    """Edit -> the tokens that it names."""


def changes() -> Changes:
    """The changes of this session."""
    return session().of(Changes)


def edit(edits: Iterable[str]) -> None:
    """Have these edits in force, and no others; it can be taken back."""
    own, old, now = changes(), session().screen.edits, tuple(dict.fromkeys(edits))
    if now != old:
        own.before, own.undone = [*own.before[-MOST_STEPS:], old], []
        change(edits=now)


def add(*edits: Edit) -> None:
    """Put edits in force, beside the others."""
    edit([*session().screen.edits, *map(str, edits)])


def remove(*spelled: str) -> None:
    """Take edits out of force."""
    edit(each for each in session().screen.edits if each not in spelled)


def exchange(old: str, new: Edit | None) -> None:
    """Another edit in the place of one; None: none."""
    now = session().screen.edits
    edit(str(new) if each == old else each for each in now if each != old or new is not None)


def switch_off(heads: Iterable[tuple[str, int, int]]) -> None:
    """These heads, by kind, layer and head, are off, and no others.

    A busy server hears of several clicks at once: each head is a change that is taken back alone.
    """
    wanted = [str(Edit("head-off", kind, (layer, head))) for kind, layer, head in heads]
    now = session().screen.edits
    edit(each for each in now if each in wanted or not each.startswith("head-off:"))
    for each in wanted:
        edit([*session().screen.edits, each])


def are_held(edits: tuple[str, ...]) -> bool:
    """Tell whether just these were in force already when the sentence was entered."""
    return bool(edits) and changes().held == edits


def heads_off(edits: Iterable[str] | None = None) -> list[tuple[str, int, int]]:
    """Kind, layer and head of those that are off, in the order in which they were switched.

    edits: those of the session where they are left out.
    """
    return heads_off_by(session().screen.edits if edits is None else edits)


def edited_heads(edits: Iterable[str]) -> list[tuple[str, int, int]]:
    """Kind, layer and head of those that are changed in another way."""
    parsed = (parse(each) for each in edits)
    kinds = edit_kinds()
    heads = (it for it in parsed if it.name != "head-off" and "head" in NUMBERS[kinds[it.name].of])
    return list(dict.fromkeys(it.at_head for it in heads))


def undo() -> None:
    """Take the last change of the edits back."""
    own = changes()
    if own.before:
        own.undone.append(session().screen.edits)
        change(edits=own.before.pop())


def redo() -> None:
    """Make it again."""
    own = changes()
    if own.undone:
        own.before.append(session().screen.edits)
        change(edits=own.undone.pop())


def note_edits(before: Screen) -> None:
    """A link, Back or Forward led here from this screen: what that did to the edits is a change
    like any other, or one that was taken back.
    """
    own, screen = changes(), session().screen
    own.drawn = own.read = None
    now = screen.edits
    if before.checkpoint != screen.checkpoint:
        forget_changes()
    elif now == before.edits:
        return
    elif own.before and own.before[-1] == now:
        own.before.pop()
        own.undone.append(before.edits)
    elif own.undone and own.undone[-1] == now:
        own.undone.pop()
        own.before.append(before.edits)
    else:
        own.before, own.undone = [*own.before[-MOST_STEPS:], before.edits], []


def forget_changes() -> None:
    """Another checkpoint: there is nothing to take back."""
    own = changes()
    own.before, own.undone = [], []


def without_edit(error: EditError, edits: tuple[str, ...]) -> None:
    """Begin the run again without the edit that cannot be made, and say so."""
    named = [each for each in edits if str(error).startswith(each)]
    wrong = max(named or edits[-1:], key=len)  # that of head 1 begins as that of head 10
    changes().dropped.append(str(error))
    left = tuple(each for each in edits if each != wrong)
    mend(replace(session().screen, edits=left))
    st.rerun()


def say_dropped() -> None:
    """Say why edits are not in force any more."""
    own, screen = changes(), session().screen
    if own.dropped:
        note(f"{' '.join(own.dropped)} It was dropped.")
        own.dropped = []
    before, own.drawn = own.drawn, screen
    if before is not None and before.checkpoint == screen.checkpoint:
        if _went(before, screen):
            _let_go(before.edits, "With the sentence before went")
        if before.text != screen.text:
            own.held = screen.edits
    if own.gone is not None and own.gone[0] != screen:
        own.gone = None
    if own.gone is not None:
        note(own.gone[1])


def _went(before: Screen, now: Screen) -> bool:
    """Tell whether edits went with their sentence."""
    is_same = (before.text, before.pair) == (now.text, now.pair)
    return not is_same and before.edits != now.edits == of_any_text(before.edits)


def _let_go(before: tuple[str, ...], why: str) -> None:
    """These edits were in force before some of them went, as is said from now on."""
    own, screen = changes(), session().screen
    own.before, own.undone = [*own.before[-MOST_STEPS:], before], []
    n = counted(len(before) - len(screen.edits), "change", "changes")
    own.gone = screen, f"{why} {n} of its words. Undo takes that back."


def stay_with_words(answer: Answer) -> None:
    """Begin the run again without the edits of words that are not at their places any more.

    Another way of decoding the same sentence may write another text, in which an edit would be of
    whatever word has its number. A link means what it says, and another edit may change its words.
    """
    own, state = changes(), session()
    edits, of = state.screen.edits, (answer.request.text, answer.request.pair)
    if answer.request.branch:  # the search goes on as it did; this is what is looked at
        return
    free, recording = set(of_any_text(edits)), answer.recording
    tokens = {each: named_tokens(parse(each), recording) for each in edits if each not in free}
    before = own.read
    own.read = Read((answer.request.checkpoint, *of, edits, answer.request.edits), tokens)
    if before is None or before.of != own.read.of or before.tokens == tokens:
        return
    left = tuple(each for each in edits if before.tokens.get(each) == tokens.get(each))
    mend(replace(state.screen, edits=left))
    _let_go(edits, "With the text before went")
    st.rerun()
