"""Riddles on a live model: their words, and the evidence that their answers are graded by."""

from collections.abc import Sequence

from transformer.causes import Evidence, evidence
from viz.lessons.riddle import Mistake, numbered
from viz.lessons.subject import Subject


def evidence_of(subject: Subject) -> Evidence:
    """The evidence of each word; computed now where no page has waited for it."""
    if subject.result is not None:
        result: Evidence = subject.result
        return result
    return evidence(subject.checkpoint, subject.text, subject.recording.target)


def answers(names: Sequence[str]) -> list[int]:
    """The numbers of words that can be chosen: no signs, and no special token."""
    plain = [(i, bare(name)) for i, name in enumerate(names)]
    return [i for i, word in plain if any(map(str.isalnum, word)) and not word.startswith("</")]


def bare(name: str) -> str:
    """A word without its number."""
    return name.split(" #")[0]


def written_words(subject: Subject) -> tuple[str, ...]:
    """The names of the words that are written."""
    return numbered(evidence_of(subject).target_words)


def words_read(subject: Subject) -> tuple[str, ...]:
    """The names of the words that are read."""
    return numbered(evidence_of(subject).source_words)


def mistakes_in(subject: Subject) -> list[tuple[int, Mistake]]:
    """The mistakes that the model makes here, each with the number of its word."""
    names = written_words(subject)
    return [(names.index(it.word), it) for it in subject.riddle.mistakes if it.word in names]


def not_made(subject: Subject) -> str:
    """Say that none of the mistakes is made; empty where one is."""
    if mistakes_in(subject) or not subject.riddle.mistakes:
        return ""
    words = " or ".join(f"“{each.word}”" for each in subject.riddle.mistakes)
    return f"The model that is here does not write {words}: this mistake is not made any more."


def needed_words(subject: Subject, number: int) -> list[str]:
    """The names of the words that a written word needs, the most expensive first."""
    verdict = evidence_of(subject).verdicts[number]
    names = written_words(subject) if verdict.kind == "held by the prefix" else words_read(subject)
    return [] if verdict.needs is None else [names[i] for i in (verdict.needs, *verdict.also)]


def decided_by(subject: Subject, number: int) -> list[str]:
    """The words of the text that decide a written word, and can be chosen; [] where none does."""
    if evidence_of(subject).verdicts[number].kind == "held by the prefix":
        return []
    names = words_read(subject)
    plain = {names[i] for i in answers(names)}
    return [word for word in needed_words(subject, number)[:1] if word in plain]


def asked_word(subject: Subject) -> int:
    """The number of the written word that is asked about: a riddle's mistake; else, of those that a
    word of the text decides, the one that the model was least sure of. -1: there is none.
    """
    if mistakes := mistakes_in(subject):
        return mistakes[0][0]
    log_probs = evidence_of(subject).log_probs.tolist()
    decided = [i for i in answers(written_words(subject)) if decided_by(subject, i)]
    return min(decided, key=log_probs.__getitem__, default=-1)


def lost_words(subject: Subject) -> list[int]:
    """The numbers of the words that the riddle calls left out, and that left no trace."""
    names, lost = words_read(subject), evidence_of(subject).lost_words
    numbers = (names.index(word) for word in subject.riddle.left_out if word in names)
    return [i for i in numbers if i in lost]
