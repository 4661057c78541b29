"""Sentences below the header about what is shown."""

import html
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from transformer.corpus.usual_certainty import mean_log_prob, usual_certainty
from transformer.decoding.decode import decoding_methods
from transformer.files.foreign_text import clean
from transformer.fingerprint import DIGITS
from transformer.inspection.undertrained import training_of
from transformer.refusal import visible
from viz.app_packages import st
from viz.labels import counted, literal, number
from viz.page_fields import CompareFields
from viz.run.line import why_on_cpu
from viz.run.request import Answer, Request, about
from viz.screen import Screen, choose, link
from viz.state.checkpoints import can_open, pair_with, title
from viz.state.fingerprints import beside, has_mark, known_fingerprint, others_here
from viz.state.state import note, session

# The notes on an answer: where it was computed, what it could not read, and what it leaves out.

GUESS = (
    "A guess: the model gave its tokens a probability of {share} on average, and of {usually} or "
    "more in each of {n} held-out sentences (geometric means)."
)
SHORT = (
    "{written} tokens were written for {read} that were read: a translation would leave out much. "
    "Enter one or two sentences at a time."
)
LONG, SHARE = 40, 0.6
"""Tokens of a source that is long, and the share of them that a translation has at least. Our
translators, which learned from single sentences, write 59 tokens for ten sentences of 125 and for
twenty of 249; for three of 39 they write 39."""

MOST = 5
"""Pieces and characters that a note names."""


def say_of_answer(request: Request, answer: Answer | None, prefix: str = "") -> None:
    """Show the notes on an answer: where it was computed, what it could not read, or leaves out.

    answer: the one to `request`, or the one that stays where there is none.
    """
    # Say that the CPU computed it in place of the GPU, or this process in place of others.
    of_answer = "" if answer is None else answer.instead
    for why in filter(None, (why_on_cpu(request.checkpoint, request.text), of_answer)):
        note(f"{prefix}{why}")
    if answer is not None:
        if not say_unlearned(answer, prefix):
            say_unsure(answer, prefix)
        say_length(answer, prefix)


def say_unlearned(answer: Answer, prefix: str = "") -> bool:
    """Say what was typed that the model never learned: under-trained tokens, unknown words.

    False: there is none.
    """
    kinds, decoding = answer.recording.attentions.values(), answer.decoding
    alone = next((it.queries for it in kinds), ())
    tokens = alone if decoding is None else decoding.source
    trained = training_of(answer.checkpoint.model, answer.checkpoint.tokenizer)
    lacking = [] if trained is None else trained.lacking(tokens)
    if lacking:
        some = ", ".join(f"“{it}”" for it in lacking[:MOST])
        more = f" and {len(lacking) - MOST} more" if len(lacking) > MOST else ""
        note(
            f"{prefix}This model's training hardly met {some}{more}: what it makes of that is a "
            "guess. The vocabulary on Inspect has all such pieces."
        )
    unknown = Counter(token.piece for token in tokens if token.unknown)
    for name, n in unknown.items():
        lacked = counted(n, "word or sign is", "words or signs are")
        note(
            f"{prefix}{lacked} not in the vocabulary: the model reads {name} there, whatever "
            "stands in the text."
        )
    return bool(lacking or unknown)


def say_unsure(answer: Answer, prefix: str = "") -> None:
    """Say that the model is less sure of what it wrote than of every held-out sentence.

    It is about what the model wrote by itself: what was decided for it, or changed in it, has
    numbers of its own.
    """
    request, decoding = answer.request, answer.decoding
    if decoding is None or request.edits or request.unconstrained != request:
        return
    usual = beside(usual_certainty, request.checkpoint, request.version)
    if usual is None or not usual.exceeds(decoding, request.method):
        return
    if not has_mark(request.checkpoint, usual.fingerprint):  # it was trained anew
        return
    of, least = mean_log_prob(decoding) or 0.0, usual.least[request.method]
    share, usually = (f"{number(100 * math.exp(it), 0)} %" for it in (of, least))
    note(prefix + GUESS.format(share=share, usually=usually, n=usual.n_sentences))


def say_length(answer: Answer, prefix: str = "") -> None:
    """Say that far less was written than read: a translation has then left out much."""
    if answer.decoding is None or "cross" not in answer.recording.attentions:
        return
    written, read = len(answer.decoding.target), len(answer.decoding.source)
    by_itself = not decoding_methods()[answer.request.method].needs_target
    if by_itself and answer.decoding.is_ended and read >= LONG and written < SHARE * read:
        note(prefix + SHORT.format(written=written, read=read))


# The notes of a checkpoint: what its folder adds to the model, and what takes no part in it.


def say_notes(checkpoint: str, prefix: str = "") -> None:
    """Show the notes on what its folder adds to the model, and on what takes no part in it."""
    description, pair = about(checkpoint), pair_with(checkpoint)
    if description is None or not description.about.notes:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        notes = " ".join(map(visible, description.about.notes))
        st.caption(literal(f"{prefix}{notes}"), width="content")
        if pair is not None:  # a note says that there is an adapter
            _compare(*pair)


def _compare(base: str, adapted: str) -> None:
    """A link to Compare with a base as A, and itself with its adapter as B."""
    screen = session().screen
    both = choose(screen, checkpoint=base, page="compare")
    both = choose(both, checkpoint_b=adapted, same_head=True)
    if screen.page != "compare" or screen.of(CompareFields).checkpoint_b != adapted:
        address = html.escape(link(both))
        st.html(f'<a data-state href="{address}">Compare base and adapted</a>', width="content")


# The checkpoint that a figure was made with, by its address; a warning where it is another.


def made_with(screen: Screen) -> Screen:
    """The screen, which is no figure's where the checkpoint that it names is not here."""
    return screen if screen.checkpoint is not None else replace(screen, made_with=None)


def of_figure(screen: Screen) -> str:
    """Name the checkpoint that the figure of an address was made with."""
    name = clean(Path(screen.checkpoint or "").name or "a checkpoint without a name")
    begins = clean(screen.made_with or "")
    return f"The figure was made with {name}, whose SHA-256 begins with {begins}."


def other_path(screen: Screen) -> str:
    """Say what opens a link to weights that are nowhere here; empty where it names none."""
    if screen.weights is None:
        return ""
    begins = clean(screen.weights)
    own = "open yours in the sidebar (»), then this link again"
    way = own if can_open() else "whoever runs this server may add it, or open it at home"
    return (
        f" None of the checkpoints here has its weights, whose SHA-256 begins with {begins}: {way}."
    )


def other_weights(screen: Screen, names: Sequence[str]) -> str | None:
    """Say why the numbers may not be those of the figure or the link; None where they are."""
    checkpoint = screen.checkpoint
    if checkpoint is None or checkpoint not in names:
        return None
    if screen.made_with is None:
        return _others_than_linked(screen)
    if has_mark(checkpoint, screen.made_with):
        return None
    name, here = title(checkpoint), known_fingerprint(checkpoint)[:DIGITS] or "unknown"
    return (
        f"This figure was made with another {name}: its SHA-256 begins with "
        f"{clean(screen.made_with)}, that of the {name} here with {here}. Numbers may differ."
    )


def _others_than_linked(screen: Screen) -> str | None:
    """Say so where the address that was opened names other weights of a checkpoint.

    The Screen's own are those of what is shown: a link that is copied now leads to these.
    """
    link = session().arrival
    if link is None:
        return None
    own, linked = (_named(each) for each in (screen, link))
    for (checkpoint, _), (name, begins) in zip(own, linked, strict=True):
        if checkpoint is None or name != checkpoint or begins is None:
            continue
        if here := others_here(checkpoint, begins):
            known_as = title(checkpoint)
            return (
                f"This link was made with another {known_as}: its SHA-256 begins with "
                f"{clean(begins)}, that of the {known_as} here with {here}. Numbers may differ."
            )
    return None


def _named(screen: Screen) -> tuple[tuple[str | None, str | None], ...]:
    """The checkpoints and the starts of their fingerprints."""
    own = screen.of(CompareFields)
    return (screen.checkpoint, screen.weights), (own.checkpoint_b, own.weights_b)
