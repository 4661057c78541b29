"""The whole text that a model wrote, with the probability of each word."""

from math import exp

from transformer import Recording
from transformer.analysis.output_change import word_log_probabilities
from transformer.analysis.tables.judged import writing_at
from transformer.analysis.tables.origins import together
from transformer.words import word_groups, words_of
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.words import Line, Span, Words
from viz.labels import number, percent


def written(recording: Recording) -> Exhibit:
    """The words of the target, each with the model's own probability of it."""
    target, each = recording.target, word_log_probabilities(recording)
    tokens = writing_at(recording, target)
    groups = [[tokens[i] for i in group] for group in word_groups(target)]
    spans = [
        Span(word, percent(exp(value)), exp(value), "probability", origin=together(group))
        for word, value, group in zip(words_of(target), each, groups, strict=True)
    ]
    total = sum(each)
    foot = [
        Span("Below each word: its probability, given all before it; in all a log-probability of"),
        Span(number(total), value=total, measure="log-probability, in nats"),
        Span("nats."),
    ]
    return Exhibit("Text with the probability of each word", Words([Line(spans)], foot))
