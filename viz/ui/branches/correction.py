"""The output that the model writes by itself, the one that was decided, and what that costs."""

from contextlib import suppress
from math import exp

from transformer.analysis.output_change import (
    differing,
    log_probabilities,
    word_log_probabilities,
)
from transformer.analysis.tables.judged import writing_at
from transformer.analysis.tables.origins import together
from transformer.recording import Recording
from transformer.refusal import Refusal
from transformer.words import word_groups, words_of
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.words import Line, Role, Span, Words
from viz.labels import number, percent
from viz.run.request import Answer, answer
from viz.state.page import Pane

BEFORE, NOW = "before", "now"


def correction_exhibit(pane: Pane) -> dict[str, Exhibit]:
    """The output before a correction and now, by the name of the figure; nothing without one."""
    with suppress(Refusal):
        request = pane.answer.request
        if pane.answer.decoding is not None and request != request.unconstrained:
            words = correction(answer(request.unconstrained), pane.answer)
            title = "Output before the correction and now"
            return {"correction": Exhibit(title, words, is_main=False)}
    return {}


def cost(before: Recording, now: Recording, n: int | None = None) -> float:
    """The cost of a correction, in nats: the log-probability of the target before less that of now.

    Both are of a forced pass, so that what was forced has its true price; negative where the
    search had missed a more probable text. n: of so many tokens of the target before.
    """
    return float(log_probabilities(before)[:n].sum() - log_probabilities(now).sum())


def correction(before: Answer, now: Answer) -> Words:
    """Compare two answers to one text, the second with something decided."""
    a, b = before.recording, now.recording
    old, new = words_of(a.target), words_of(b.target)
    lines = [
        _line(a, BEFORE, differing(old, new), "gone"),
        _line(b, NOW, differing(new, old), "new"),
    ]
    is_branch, has_end = bool(now.request.branch), now.decoding is None or now.decoding.is_ended
    n = len(b.target) if is_branch and not has_end else None  # a part is as probable as a part
    nats = cost(a, b, n)
    begins, ends = _price(nats, is_branch)
    foot = [
        Span("Below each word: its probability, given all before it."),
        Span(begins),
        Span(number(abs(nats)), value=nats, measure="cost, in nats"),
        Span(f"{ends}{_remark(before, now, n)}"),
    ]
    return Words(lines, foot)


def _price(nats: float, is_branch: bool) -> tuple[str, str]:
    """The words before and behind the cost."""
    if is_branch:
        return "This hypothesis is", f"nats {'less' if nats > -0.005 else 'more'} probable"
    return f"This correction {'costs' if nats > -0.005 else 'gains'}", "nats"


def _remark(before: Answer, now: Answer, n: int | None) -> str:
    if n is not None:
        start = "first token" if n == 1 else f"first {n:d} tokens"
        return f" than the {start} of the output before."
    if before.recording.target == now.recording.target:
        return ": the same is written."
    if now.decoding is not None and not now.decoding.is_ended:
        return " so far: the text has no end."
    a, b = (float(log_probabilities(it.recording).sum()) for it in (before, now))
    return f": the text has {number(b)}, before it had {number(a)}."


def _line(recording: Recording, title: str, is_other: list[bool], role: Role) -> Line:
    target, each = recording.target, word_log_probabilities(recording)
    tokens, groups = writing_at(recording, target), word_groups(target)
    spans = [
        Span(
            word,
            percent(exp(value)),
            exp(value),
            "probability",
            role if other else "",
            origin=together([tokens[i] for i in group]),
        )
        for word, value, group, other in zip(words_of(target), each, groups, is_other, strict=True)
    ]
    return Line(spans, title)
