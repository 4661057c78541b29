"""The notes of a checkpoint: what its folder adds to the model, and what takes no part in it; and
of an answer, where it was computed and how much it leaves out, where that is not as usual."""

import html

from transformer.decoding.decode import decoding_methods
from transformer.visible import visible
from viz.app_packages import st
from viz.fields.compare import CompareFields
from viz.labels import literal
from viz.run.cpu_instead import why_on_cpu
from viz.run.request import Answer, Request, about
from viz.screen import choose, link
from viz.state.checkpoints import pair_with
from viz.state.note import note
from viz.state.state import session

LONG, SHARE = 40, 0.6
"""Tokens of a source that is long, and the share of them that a translation has at least. Our
translators, which learned from single sentences, write 59 tokens for ten sentences of 125 and for
twenty of 249; for three of 39 they write 39."""


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


def say_place(request: Request, answer: Answer | None, prefix: str = "") -> None:
    """Say that the CPU computed it in place of the GPU, or this process in place of others."""
    of_answer = "" if answer is None else answer.instead
    for why in filter(None, (why_on_cpu(request.checkpoint, request.text), of_answer)):
        note(f"{prefix}{why}")


def say_length(answer: Answer | None, prefix: str = "") -> None:
    """Say that far less was written than read: a translation has then left out much."""
    if answer is None or answer.decoding is None or "cross" not in answer.recording.attentions:
        return
    written, read = len(answer.decoding.target), len(answer.decoding.source)
    by_itself = not decoding_methods()[answer.request.method].needs_target
    if by_itself and answer.decoding.is_ended and read >= LONG and written < SHARE * read:
        note(
            f"{prefix}{written} tokens were written for {read} that were read: a translation "
            "would leave out much. Enter one or two sentences at a time."
        )


def _compare(base: str, adapted: str) -> None:
    """A link to Compare with a base as A, and itself with its adapter as B."""
    screen = session().screen
    both = choose(screen, checkpoint=base, page="compare")
    both = choose(both, checkpoint_b=adapted, same_head=True)
    if screen.page != "compare" or screen.of(CompareFields).checkpoint_b != adapted:
        address = html.escape(link(both))
        st.html(f'<a data-state href="{address}">Compare base and adapted</a>', width="content")
