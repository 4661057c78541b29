"""The second row of every page: the tokens, what is chosen for the page, and the recording's
check.
"""

from math import isfinite
from typing import Any

import streamlit as st

from transformer import InputError
from transformer.analysis.lost import may_lose
from transformer.hugging_face.chat import chatting
from transformer.recording import Checked, Recording
from transformer.recording.hooks import plain_difference
from viz.causes.card import signs
from viz.causes.needs import is_quick
from viz.components.token_rows.token_rows import TITLES, Awaited, TokenRows, token_rows
from viz.labels import counted, kind_name, kind_title, literal, number, percent
from viz.map_words import capitalised
from viz.run.previews import payload_of
from viz.run.request import Answer
from viz.run.settings import is_public
from viz.state.focus import pin_token, pinned_tokens
from viz.state.live_preview import preview, preview_address
from viz.state.page import Page, Pane
from viz.state.requests import first_example, is_first
from viz.state.state import change, current_theme, fail
from viz.talks.stage import on_stage
from viz.ui.header import WIDTHS

# The check of a recording: a badge that opens its numbers, and a list of what it lacks.

ENDLESS = "stopped at {tokens}, without an end"


def badge(answer: Answer) -> None:
    """The badge; above the pictures, in red, what is wrong with the recording."""
    checked = answer.recording.checked
    if checked.is_right is False:
        fail(wrong(checked))
    name, icon = _name(checked)
    key = "proved" if checked.is_right else "doubted"
    box = st.container(key=key).popover(
        literal(name),
        icon=icon,
        type="tertiary",
        key="checked",
        on_change="rerun",
    )
    if not box.open:  # its contents are no burden while nobody looks at them
        return
    with box:
        lines = [*numbers(checked), *answer.recording.notes, _plain(answer)]
        st.markdown("\n".join(f"* {literal(line)}" for line in lines))


def missing(recording: Recording) -> list[str]:
    """Name what ran and is in no picture, in a line; nothing where all was understood."""
    if not recording.unseen:
        return []
    return [literal(f"Not in these pictures: {'; '.join(map(str, recording.unseen))}")]


def numbering(recording: Recording) -> list[str]:
    """Name the layers that a kind has, where there are others in between, as in a hybrid."""
    return [
        literal(f"{kind_title(kind)}: {_numbered(attention.numbers)} of the model")
        for kind, attention in recording.attentions.items()
        if attention.numbers != tuple(range(len(attention.numbers)))
    ]


def _numbered(numbers: tuple[int, ...]) -> str:
    return f"layer{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def wrong(checked: Checked) -> str:
    """Warn that a recording cannot be trusted."""
    if checked.contradictions:
        return (
            "This recording is wrong: the pass itself contradicts it in "
            f"{'; '.join(map(_named, checked.contradictions))}. Do not rely on these pictures."
        )
    by = "where it gave no number"
    if checked.error is not None and isfinite(checked.error):
        by = f"by {percent(checked.error, 2)} of the largest value"
    return (
        "This recording is wrong: the recorded weights and values give something else than the "
        f"model did, {by}. Do not rely on these pictures."
    )


def numbers(checked: Checked) -> list[str]:
    """List what was compared, in sentences."""
    lines = []
    if checked.error is not None:
        n, n_projected = checked.n_checked, checked.n_projected
        of_all = "all" if n == checked.n_layers else f"{n} of"
        compared = f"{of_all} {counted(checked.n_layers, 'layer', 'layers')}"
        after = "after W_O" if n == n_projected else f"{n_projected} of them after W_O"
        lines.append(
            "The recorded weights times the recorded values are what the model gave, up to "
            f"{_error(checked)} of the largest value ({compared}, {after})."
        )
    lines += [f"Not checkable: {_named(why)}." for why in checked.unknown]
    lines += [f"By names, order and masks only: {_named(why)}." for why in checked.unproven]
    lines += [f"The model itself gave no number: {_named(it)}." for it in checked.no_numbers]
    least, largest = checked.row_sums
    is_one = max(abs(1 - least), abs(largest - 1)) < 1e-4
    ends = [number(end, 4, "g") for end in checked.row_sums]
    sums = "sum to 1" if is_one else f"sum to {' up to '.join(ends)}"
    masked = "up to " * bool(checked.masked) + number(checked.masked, 4, "g")
    names = [f"{capitalised(_named(why))}." for why in checked.names]
    return [*lines, f"Rows {sums}.", f"Masked cells hold {masked}.", *names]


def _error(checked: Checked) -> str:
    """The largest error of a recording that was compared, with a true minus in its power of ten."""
    return str(checked).replace("-", "−")


def _name(checked: Checked) -> tuple[str, str]:
    if checked.contradictions:
        return "wrong", ":material/error:"
    if checked.is_right is False:
        return f"wrong by {_error(checked)}", ":material/error:"
    if checked.error is None:
        return "not checkable", ":material/help:"
    if checked.is_right is None:
        return "checked in part", ":material/help:"  # no wider: the tour stands beside it
    return "numbers checked", ":material/check:"  # how well stands inside, for whoever asks


def _named(why: str) -> str:
    """A clause with the kinds under the names of the screen."""
    for kind in ("encoder_self", "decoder_self", "cross"):
        why = why.replace(f" of {kind},", f" of {kind_name(kind)},")
    return why


def _plain(answer: Answer) -> str:
    try:
        difference = plain_difference(answer.checkpoint, answer.recording)
    except InputError as error:
        return str(error)
    if difference == 0:
        return "A pass that nobody records gives the same logits."
    most = number(difference, 1, "e")
    return f"A pass that nobody records gives logits that differ by up to {most}."


# The second row of every page: the tokens, and what is chosen for the page below.

TINT = "log_prob"
"""The tint of written words where none is chosen."""


def token_row(page: Page, pane: Pane, previews: bool = True) -> Pane:
    """Draw the row for this page; all of it for the tokens where nothing is chosen beside them.
    Return the pane for what follows.

    previews: whether the tokens follow a text that is being typed; those of a checkpoint that
    stands in for the chosen one wait until it is entered.
    """
    if page.choices is None or on_stage():
        return _tokens(page, pane, previews)
    tokens, choices = st.columns(WIDTHS)
    with tokens:
        pane = _tokens(page, pane, previews)
    with choices:
        page.choices(pane)
    return pane


def _tokens(page: Page, pane: Pane, previews: bool) -> Pane:
    answer = pane.answer
    rows = TokenRows(TITLES[answer.checkpoint.family.reads], pane.reading.words)
    address = preview_address()
    own = signs(pane)
    look: dict[str, Any] = {"pinned": pinned_tokens(pane), "signs": own}
    judges = page.has_card and not on_stage() and may_lose(pane.checkpoint, pane.recording)
    look["awaited"] = _awaited(answer, judges) if own is None else ""
    # Nothing is lost of what a checkpoint opens with: the line would be empty room there.
    look["judges"] = judges and answer.request.text != first_example(answer.request.checkpoint)
    every: dict[str, Any] = {"address": address, "tint": _tint(pane)}
    every["alignment"] = pane.screen.alignment
    data = rows.data(payload_of(answer, rows), current_theme(), **every, **look)
    token_rows(
        data,
        "tokens",
        on_pin=lambda news: pin_token(pane, news["side"], news["position"], news["key"]),
        on_tint=lambda tint: change(tint=None if tint == TINT else tint),
        on_alignment=lambda is_on: change(alignment=is_on),
    )
    if previews:
        preview("tokens", rows, leads=False, judges=judges, **every)
    if on_stage():
        return pane
    badge(answer)
    layers = [*numbering(answer.recording), *missing(answer.recording)]
    if remarks := [*_languages(answer), *_twice(answer), *_end(answer), *layers]:
        st.caption(" · ".join(remarks))
    return page.below_tokens(pane)


def _awaited(answer: Answer, judges: bool) -> Awaited:
    """Return what the browser asks for, though nobody points at a word.

    judges: whether the page says of this translation what left no trace. On a public server each
    visitor pays for what they ask for, so only of what all see first it is said unasked.
    """
    if on_stage() or not answer.recording.target or not is_quick(answer):
        return ""
    if is_first(answer.request):
        return "marks"
    return "lost" if judges and not is_public() else ""


def _tint(pane: Pane) -> str:
    """The measure by which written words are tinted; a wall has none unasked."""
    return pane.screen.tint or ("off" if on_stage() else TINT)


def _languages(answer: Answer) -> list[str]:
    """Said of a model that is told them."""
    source, target = answer.request.languages
    return [literal(f"{source or '?'} → {target or '?'}")] if source or target else []


def _twice(answer: Answer) -> list[str]:
    """Special tokens that are typed and added too."""
    return [literal(each) for each in chatting.remarks(answer.checkpoint, answer.request.text)]


def _end(answer: Answer) -> list[str]:
    """Said of a translation that found no end; a generator's text seldom has one."""
    decoding = answer.decoding
    if decoding is not None and decoding.ended_by:
        n = counted(len(decoding.target), "token", "tokens")
        return [literal(f"stopped after {n}: {decoding.ended_by.rstrip('.')}")]
    if decoding is None or decoding.is_ended or answer.checkpoint.family.continues:
        return []
    if answer.request.branch:  # it goes as far as somebody pinned it
        return []
    return [ENDLESS.format(tokens=counted(len(decoding.target), "token", "tokens"))]
