"""The notes on an answer: where it was computed, what it could not read, and what it leaves out."""

import math
from collections import Counter

from transformer.checkpoint import CheckpointError, shipped_path
from transformer.corpus.usual_certainty import UsualCertainty, mean_log_prob, usual_certainty
from transformer.decoding.decode import decoding_methods
from transformer.inspection.undertrained import training_of
from viz.labels import counted, number
from viz.run.cpu_instead import why_on_cpu
from viz.run.keep import keep
from viz.run.request import Answer, Request
from viz.state.fingerprints import has_mark
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
        if not say_unlearned(answer, prefix):
            say_unsure(answer, prefix)
        say_length(answer, prefix)


def say_place(request: Request, answer: Answer | None, prefix: str = "") -> None:
    """Say that the CPU computed it in place of the GPU, or this process in place of others."""
    of_answer = "" if answer is None else answer.instead
    for why in filter(None, (why_on_cpu(request.checkpoint, request.text), of_answer)):
        note(f"{prefix}{why}")


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
    usual = _usual(request.checkpoint, request.version)
    if usual is None or not usual.exceeds(decoding, request.method):
        return
    if not has_mark(request.checkpoint, usual.fingerprint):  # it was trained anew
        return
    of, least = mean_log_prob(decoding) or 0.0, usual.least[request.method]
    share, usually = (f"{number(100 * math.exp(it), 0)} %" for it in (of, least))
    note(
        f"{prefix}A guess: the model gave its tokens a probability of {share} on average, and of "
        f"{usually} or more in each of {usual.n_sentences} held-out sentences (geometric means)."
    )


@keep(16)
def _usual(checkpoint: str, version: int) -> UsualCertainty | None:
    """Read what is kept beside its files of this version."""
    try:
        return usual_certainty(shipped_path(checkpoint))
    except CheckpointError:  # a damaged file beside the weights takes nothing from the answer
        return None


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
