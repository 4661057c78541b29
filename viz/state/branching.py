"""Branches of a decoding as a person makes them: what the output begins with, has, and has not.

Each is tokens on the Screen, and a change of the address: Back undoes one."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer import Checkpoint
from transformer.causes.contrast import another_word
from transformer.decoding import decoding_methods
from transformer.decoding.constraints import constraints_of
from transformer.decoding.decode import check_constraints
from transformer.inputs import InputError
from transformer.refusal import quoted, visible
from transformer.token import Token
from transformer.words import words_in
from viz.labels import bare_label, word_text
from viz.run.request import Answer, Request
from viz.screen import Screen, all_choices, value_of
from viz.spelling import MOST_IDS, MOST_OF_PHRASES
from viz.state.focus import pinned_step
from viz.state.limits import check_text
from viz.state.page import Pane
from viz.state.state import change, mend, session

Ids = tuple[int, ...]


@dataclass
class Branching:
    """The last text that a person typed to branch, in a session."""

    n_made: int = 0
    """The number of branches that were typed: each has fields of its own, which begin empty."""
    refused: str = ""
    """The reason why the last one was not made; empty: it was."""
    of: Hashable = None
    """The choices that both belong to: they are said until another one is made."""
    pieces: str = ""
    """The words of it that the vocabulary lacks, with their pieces, in a sentence."""
    before: Ids = ()
    """The target that was shown when the last decision was made."""
    awaited: Hashable = None
    """The choices that this made, until what it changed is known; None: it is."""


def go_on_from(ids: Sequence[int]) -> None:
    """Let the output begin with these tokens; the step of the last of them is shown.

    Raises InputError for more than an address holds.
    """
    if len(ids) > MOST_IDS:
        raise InputError(
            f"A branch begins with up to {MOST_IDS} tokens, which an address holds; this one "
            f"has {len(ids):,}: branch at an earlier step."
        )
    change(prefix=tuple(map(int, ids)), step=max(0, len(ids) - 1))


def pin_hypothesis(pane: Pane, ids: Sequence[int], step: int | None = None) -> None:
    """Show the hypothesis of these tokens in every picture, at its last step or at this one.

    Without tokens: the one that won. Raises InputError for more than an address holds.
    """
    if len(ids) > MOST_IDS:
        raise InputError(f"An address holds up to {MOST_IDS} tokens of a hypothesis.")
    step = max(0, len(ids) - 1) if step is None else step
    is_won = tuple(ids) == tuple(token.id for token in pane.recording.target)
    if is_won and not pane.screen.branch:
        change(step=step)
        return
    change(branch=tuple(map(int, ids)), step=step)


def force(phrase: Sequence[int]) -> None:
    """Let the output have these tokens somewhere."""
    _add("force", phrase)


def forbid(phrase: Sequence[int]) -> None:
    """Let the output have these tokens nowhere."""
    _add("forbid", phrase)


def _add(name: str, phrase: Sequence[int]) -> None:
    phrases: tuple[Ids, ...] = getattr(session().screen, name)
    every = tuple(dict.fromkeys((*phrases, tuple(map(int, phrase)))))
    if sum(map(len, every)) > MOST_OF_PHRASES:
        raise InputError(
            f"All such phrases together have up to {MOST_OF_PHRASES} tokens, which an address "
            "holds: take one away first."
        )
    _decide(**{name: every})


def take_back(name: str, phrase: Ids = ()) -> None:
    """Take one decision back. name: of the field of the Screen; phrase: which one of several."""
    value = getattr(session().screen, name)
    left = tuple(it for it in value if it != phrase) if name in ("force", "forbid") else ()
    _decide(**{name: left})


def take_all_back() -> None:
    """Let the model decode by itself."""
    _decide(prefix=(), force=(), forbid=(), branch=())


def _decide(**choices: Any) -> None:
    """Change decisions; the step that is shown stays until it is known what that changed."""
    own, answer, screen = session().of(Branching), session().answer, session().screen
    own.before, step = (), screen.step
    if answer is not None and answer.recording.target:
        own.before = tuple(token.id for token in answer.recording.target)
        pinned = pinned_step(Pane(screen, answer.request, answer))
        step = step if pinned is None else pinned
    change(**choices, step=step)
    own.awaited = _choices_of(session().screen)


def _choices_of(screen: Screen) -> Hashable:
    """All that a decision leads to, and the step: who chose anything else has gone elsewhere."""
    about = all_choices()["step"].metadata["about"]
    return tuple(value_of(screen, name) for name in sorted(about | {"step"}))


def follow_decision(request: Request) -> None:
    """Show the step at which the last decision first changed what is written, once that is there.

    Where it changed nothing, the step that was shown stays. request: that of the page.
    """
    own, answer, screen = session().of(Branching), session().answer, session().screen
    if own.awaited is None or (answer is not None and answer.request != request):
        return
    awaited, own.awaited = own.awaited, None
    if answer is not None and awaited == _choices_of(screen):
        now = [token.id for token in answer.recording.target]
        pairs = enumerate(zip(own.before, now, strict=False))
        other = next((i for i, (a, b) in pairs if a != b), None)
        if other is not None:
            mend(replace(screen, step=other))


def begin_with(answer: Answer, text: str) -> None:
    """Let the output begin with a text, cut into tokens; an empty one leaves that to the model.

    As those below it notes into which pieces a word is cut that the vocabulary lacks. Raises
    InputError for what the model cannot write, or what contradicts what is decided already.
    """
    go_on_from(_cut(answer, "prefix", text))


def force_text(answer: Answer, text: str) -> None:
    """Let the output have a word or a phrase somewhere."""
    _add("force", _cut(answer, "force", text))


def forbid_text(answer: Answer, text: str) -> None:
    """Let the output have a word or a phrase nowhere."""
    _add("forbid", _cut(answer, "forbid", text))


def forbid_tokens(answer: Answer, ids: Ids) -> None:
    """The same for a word that is written."""
    _add("forbid", _checked(answer, "forbid", ids))


def write_word(answer: Answer, position: int, text: str, ids: Sequence[int] | None = None) -> None:
    """Write another word where a target has one; what is before it stays, the rest is decoded.

    position: of a token of that word. ids: the target; None: that of the answer.
    """
    check_text(answer.request.text, text)
    target = answer.recording.target
    if ids is not None:
        target = tuple(map(answer.checkpoint.tokenizer.token, ids))
    at = another_word(answer.checkpoint, target, words_in(target).at(position).number, text)
    _note_pieces(answer, at.other)
    go_on_from([token.id for token in (*at.before, *at.other)])


def _cut(answer: Answer, name: str, text: str) -> Ids:
    """The tokens of a text, checked beside all that is decided already."""
    check_text(answer.request.text, text)
    ids, checkpoint = _checked(answer, name, text), answer.checkpoint
    tokens = tuple(map(checkpoint.tokenizer.token, ids))
    if any(token.unknown for token in tokens):
        raise InputError(f"{checkpoint.name} has no pieces that write {quoted(text)}.")
    _note_pieces(answer, tokens)
    return ids


def _checked(answer: Answer, name: str, phrase: str | Ids) -> Ids:
    screen = session().screen
    decided: dict[str, Any] = {it: getattr(screen, it) for it in ("prefix", "force", "forbid")}
    decided[name] = phrase if name == "prefix" else (*decided[name], phrase)
    made = constraints_of(answer.checkpoint, len(answer.recording.source), **decided)
    if name == "force":
        check_constraints(decoding_methods()[answer.request.method], made)
    ids: Ids = made.prefix if name == "prefix" else getattr(made, name)[-1]
    return ids


def _note_pieces(answer: Answer, tokens: Sequence[Token]) -> None:
    """Note which words of these tokens are several pieces."""
    texts = [
        f"“{word.text}” as {' · '.join(map(bare_label, word.tokens))}"
        for word in words_in(tokens)
        if len(word.tokens) > 1
    ]
    name = answer.checkpoint.name
    sentence = f"Not in the vocabulary of {name}, and written in pieces: {', '.join(texts)}."
    session().of(Branching).pieces = sentence if texts else ""


# The decisions about a decoding, part by part, in words.

TITLES = {"prefix": "Begins with", "force": "Has", "forbid": "Never", "branch": "Hypothesis"}
"""Keys are the names of the fields of the Screen."""
MOST_READ = 48
"""Characters of a text that are read."""


def decisions(request: Request) -> list[tuple[str, Ids]]:
    """All that is decided, by the names of the fields; a branch, which is of the rest, last."""
    at = request.constraints
    phrases = [*(("force", ids) for ids in at.force), *(("forbid", ids) for ids in at.forbid)]
    every = [("prefix", at.prefix), *phrases, ("branch", request.branch)]
    return [(name, ids) for name, ids in every if ids]


def decided_texts(checkpoint: Checkpoint, request: Request) -> list[str]:
    """The same in words: "Begins with “Gestern”"."""
    return [decision_text(checkpoint, name, ids) for name, ids in decisions(request)]


def decision_text(checkpoint: Checkpoint, name: str, ids: Ids) -> str:
    """One of them in words; ids of another vocabulary, for which the page says so, as they are."""
    try:
        constraints_of(checkpoint, 1, ids)
    except InputError:
        text = ".".join(map(str, ids))
    else:
        tokens = tuple(map(checkpoint.tokenizer.token, ids))
        text = checkpoint.tokenizer.decode(ids).strip() or word_text(tokens)
    text = visible(text)
    text = text if len(text) <= MOST_READ else f"{text[: MOST_READ - 1].rstrip()}…"
    return f"{TITLES[name]} “{text}”"
