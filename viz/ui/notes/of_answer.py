"""The notes on an answer: where it was computed, what it could not read, and what it leaves out."""

from collections import Counter

from transformer.decoding.decode import decoding_methods
from transformer.inspection.undertrained import training_of
from viz.labels import counted
from viz.run.cpu_instead import why_on_cpu
from viz.run.request import Answer, Request
from viz.state.note import note

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
    say_place(request, answer, prefix)
    if answer is not None:
        say_unlearned(answer, prefix)
        say_length(answer, prefix)


def say_place(request: Request, answer: Answer | None, prefix: str = "") -> None:
    """Say that the CPU computed it in place of the GPU, or this process in place of others."""
    of_answer = "" if answer is None else answer.instead
    for why in filter(None, (why_on_cpu(request.checkpoint, request.text), of_answer)):
        note(f"{prefix}{why}")


def say_unlearned(answer: Answer, prefix: str = "") -> None:
    """Say what was typed that the model never learned: under-trained tokens, unknown words."""
    kinds, decoding = answer.recording.attentions.values(), answer.decoding
    alone = next((it.queries for it in kinds), ())
    tokens = alone if decoding is None else decoding.source
    trained = training_of(answer.checkpoint.model, answer.checkpoint.tokenizer)
    if trained is not None and (lacking := trained.lacking(tokens)):
        some = ", ".join(f"“{it}”" for it in lacking[:MOST])
        more = f" and {len(lacking) - MOST} more" if len(lacking) > MOST else ""
        note(
            f"{prefix}This model's training hardly met {some}{more}: what it makes of that is a "
            "guess. The vocabulary on Inspect has all such pieces."
        )
    for name, n in Counter(token.piece for token in tokens if token.unknown).items():
        lacked = counted(n, "word or sign is", "words or signs are")
        note(
            f"{prefix}{lacked} not in the vocabulary: the model reads {name} there, whatever "
            "stands in the text."
        )


def say_length(answer: Answer, prefix: str = "") -> None:
    """Say that far less was written than read: a translation has then left out much."""
    if answer.decoding is None or "cross" not in answer.recording.attentions:
        return
    written, read = len(answer.decoding.target), len(answer.decoding.source)
    by_itself = not decoding_methods()[answer.request.method].needs_target
    if by_itself and answer.decoding.is_ended and read >= LONG and written < SHARE * read:
        note(
            f"{prefix}{written} tokens were written for {read} that were read: a translation "
            "would leave out much. Enter one or two sentences at a time."
        )
