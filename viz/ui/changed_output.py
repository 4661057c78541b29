"""The output of each sort of model without the edits and with them, as words."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import exp

from transformer.analysis.scored import (
    WordChange,
    differing,
    exchanged,
    filled_changes,
    output_read,
    scores_in,
    word_changes,
    word_log_probabilities,
)
from transformer.analysis.tables import Columns, judged_groups, writing_of_words
from transformer.recording import Recording
from transformer.recording.vector import TextVector, angle, cosine
from transformer.refusal import Refusal
from viz.exhibits.exhibit import Exhibit, Line, Role, Span, Words
from viz.exhibits.table import Change
from viz.labels import number, percent, signed
from viz.run.request import Answer, answer
from viz.state.page import Pane
from viz.views.outputs import MOST, ranked

CHANGE = "change of log-probability, in nats"
WITHOUT, WITH = "without the edits", "with them"
SAME_WORDS = "The same words are written."
OF_PICTURES = (
    "Both are what the model writes by itself; the pictures show the hypothesis that is chosen, as "
    "the model reads it with the edits."
)
"""Said where a branch is judged under edits: the two are other texts."""


def output_exhibit(pane: Pane) -> dict[str, Exhibit]:
    """The output without the edits in force and with them, by the name of the figure; nothing
    where there is none, of which the page says why.
    """
    with suppress(Refusal):
        if words := output_of(pane):
            title = "Output without the edits and with them"
            return {"output": Exhibit(title, words, is_main=False)}
    return {}


def output_of(pane: Pane) -> Words | None:
    """The same as words, whether the pane's own answer is edited or not. Raises Refusal."""
    judged = pane.answer.request
    request = judged.of_search  # a branch is judged: nothing is written of it
    edits = request.edits or pane.screen.edits
    if not edits or judged != pane.request:  # it is still written, or cannot be read
        return None
    plain, edited = (answer(replace(request, edits=each)) for each in ((), edits))
    words = changed_output(plain, edited)
    if words is None or not (judged.branch and judged.edits):
        return words
    return replace(words, foot=[*words.foot, Span(OF_PICTURES)])


def changed_output(before: Answer, after: Answer) -> Words | None:
    """Compare two answers to one text, the second with edits; None where nothing is compared.

    Raises Refusal.
    """
    a, b = before.recording, after.recording
    if a.classification and b.classification:
        most = ranked(b.classification)[:MOST]
        # These classes with their probabilities, without the edits and with them.
        which = sorted(most)
        lines = []
        for title, result in ((WITHOUT, a.classification), (WITH, b.classification)):
            probs = [(result.classes[i], float(result.probs[i])) for i in which]
            spans = [Span(name, number(prob, 3), prob, "probability") for name, prob in probs]
            lines.append(Line(spans, title))
        return Words(lines, [Span("Below each class: its probability.")])
    if a.numbers and b.numbers:
        return _number_lines(a.numbers, b.numbers)
    if before.decoding is not None and after.decoding is not None:
        # The target without the edits, read by the model that has them, and its own.
        forced = answer(after.request.made_to_read(before.request))
        changes = word_changes(before.recording, forced.recording)
        words = [word.text for word in after.recording.target_words]
        return _word_lines(changes, words, SAME_WORDS, writing_of_words(before.recording))
    if a.vector is not None and b.vector is not None:
        return _turned(a.vector, b.vector)
    return _filled(before, after) if a.require_logits().dim() == 2 else None


def unchanged_output(of: Answer) -> Words | None:
    """The same of one answer beside itself, which no further run of the model is needed for."""
    recording = of.recording
    if of.decoding is None or recording.classification or recording.numbers:
        with suppress(Refusal):
            return changed_output(of, of)
        return None
    changes = word_changes(recording, recording)
    return _word_lines(changes, [it.word for it in changes], SAME_WORDS, [{} for _ in changes])


def _filled(before: Answer, after: Answer) -> Words:
    """The tokens that a masked model fills in or sees, and those it finds likeliest then."""
    output = output_read(before.checkpoint, before.request.text, before.recording)
    changes = filled_changes(output, before.recording, after.recording)
    best = scores_in(after.recording, output)[1].tolist()
    words = output.texts_of([after.checkpoint.tokenizer.token(id) for id in best])
    origins = judged_groups(output, before.recording)
    return _word_lines(changes, words, "The same words are the most probable ones.", origins)


def _word_lines(
    changes: Sequence[WordChange], new: Sequence[str], same: str, origins: Sequence[Columns]
) -> Words:
    """The words without the edits with their changes, and those with them.

    same: said where both are the same; origins: the tokens of each word without the edits.
    """
    old, total = [each.word for each in changes], sum(each.gain for each in changes)
    was = [
        Span(each.word, signed(each.gain), each.gain, CHANGE, role, origin)
        for each, role, origin in zip(changes, roles_of(old, new, "gone"), origins, strict=True)
    ]
    written = [Span(word, role=it) for word, it in zip(new, roles_of(new, old, "new"), strict=True)]
    remark = f"in all. {same}" if new == old else "in all."
    foot = [
        Span("Below each word: the change of its log-probability, in nats;"),
        Span(signed(total), value=total, measure=CHANGE),
        Span(remark),
    ]
    which = " · ".join(_exchange(*map(" ".join, each)) for each in exchanged(old, new))
    brief = f"{f'{which}; ' if which else ''}{CHANGE}: {signed(total)} {remark}"
    return Words([Line(was, WITHOUT), Line(written, WITH)], foot, brief)


def _exchange(old: str, new: str) -> str:
    """Words and what came in their place, as they are heard."""
    gone, came = Change(old, new).parts
    return f"{gone} → {came}" if gone and came else came or f"− {gone}"


def roles_of(words: Sequence[str], others: Sequence[str], role: Role) -> list[Role]:
    """Mark with a role what the others lack."""
    return [role if is_other else "" for is_other in differing(words, others)]


def probable_words(recording: Recording, roles: Sequence[Role] = ()) -> list[Span]:
    """The words of the target, each with its probability, given all before it."""
    words, probs = recording.target_words, map(exp, word_log_probabilities(recording))
    roles = roles or [""] * len(words)
    each = zip(words, probs, roles, writing_of_words(recording), strict=True)
    return [
        Span(word.text, percent(prob), prob, "probability", role, origin)
        for word, prob, role, origin in each
    ]


def _number_lines(before: Mapping[str, float], after: Mapping[str, float]) -> Words:
    """The numbers that are put on a text, without the edits and with them, and their changes."""
    change = {name: after[name] - before[name] for name in before}
    lines = [
        Line([Span(name, signed(value), value, "number") for name, value in each.items()], title)
        for title, each in ((WITHOUT, before), (WITH, after), ("change", change))
    ]
    return Words(lines, [Span("Below each name: its number, as it leaves the model.")])


def _turned(before: TextVector, after: TextVector) -> Words:
    """Say how far a text's vector turns."""
    degrees, cos = angle(before.values, after.values), cosine(before.values, after.values)
    spans = [
        Span(f"The text's vector ({after.pooling.title}) turns by"),
        Span(f"{number(degrees)}°", value=degrees, measure="angle in degrees"),
        Span("with the edits: its cosine with the one without them is"),
        Span(number(cos, 4), value=cos, measure="cosine"),
    ]
    return Words([Line(spans)])
