"""The verdict on a written word in a sentence, and what the whole text gives to it."""

from transformer.causes import Evidence
from transformer.visible import visible
from viz.exhibits.words import Line, Span, Words
from viz.labels import number

NOT_RIGHT = "That it looks at what it needs does not make it right."
LOG_PROB = "log-probability, in nats"


def verdict_words(evidence: Evidence, word: int) -> Words:
    """word: its number among those that are written."""
    verdict = evidence.verdicts[word]
    title = verdict.kind.capitalize()
    sentence = Span(
        visible(f"{title}: {verdict.text}"), value=verdict.nats, measure="cost, in nats"
    )
    log_prob, foils = float(evidence.log_probs[word]), evidence.runner_ups[word]
    foot = [
        Span("Its log-probability:"),
        Span(number(log_prob), value=log_prob, measure=LOG_PROB),
        Span("nats; without the text:"),
        *_without(evidence, word),
        Span("nats. The runner-ups of its pieces:" if " + " in foils else "nats. The runner-up:"),
        Span(f"“{visible(foils)}”."),
    ]
    remark = [Span(NOT_RIGHT)] if verdict.kind == "agrees" else []
    return Words([Line([sentence])], foot + remark)


def _without(evidence: Evidence, word: int) -> list[Span]:
    """Say what is left where no word of the text is seen, and so what all of them give."""
    assert evidence.without_source is not None and evidence.source_gives is not None
    left, gives = float(evidence.without_source[word]), float(evidence.source_gives[word])
    return [
        Span(number(left), value=left, measure=f"{LOG_PROB}, without the text"),
        Span("nats, so that the text gives"),
        Span(number(gives), value=gives, measure="given by the text, in nats"),
    ]
