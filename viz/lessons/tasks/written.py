"""Tasks on what a model wrote: what it was unsure of, left out, needed, or got wrong."""

from collections.abc import Sequence
from functools import partial

from viz.lessons.riddles import (
    answers,
    asked_word,
    bare,
    decided_by,
    evidence_of,
    lost_words,
    mistakes_in,
    needed_words,
    not_made,
    words_read,
    written_words,
)
from viz.lessons.subject import Subject, named, sureness
from viz.lessons.task import Reason, Reply, Task, percent_of

# The task to name the word that the model was least sure of when it wrote.

LEAST_SURE = {
    "ask": "Which word was the model least sure of when it wrote?",
    "hint": "It gave ‘{word}’ {got}, and was less sure of {others}.",
    "one": "one other",
    "several": "{n} others",
    "explain": "‘{word}’ had {got}; the mean of all tokens is {mean}.",
}
"""Words of the task, as those below: pages without a server say it, too (viz/lessons/own.py)."""


def ask_least_sure(subject: Subject) -> str:
    return LEAST_SURE["ask"]


def options_least_sure(subject: Subject) -> tuple[str, ...]:
    return named(subject.recording.target)


def truth_least_sure(subject: Subject) -> int:
    return int(sureness(subject.recording).argmin())


def hint_least_sure(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    each = sureness(subject.recording)
    n, word = int((each < each[answer]).sum()), options_least_sure(subject)[answer]
    others = LEAST_SURE["one" if n == 1 else "several"].format(n=n)
    return LEAST_SURE["hint"].format(word=word, got=percent_of(each[answer]), others=others)


def explain_least_sure(subject: Subject) -> str:
    least = truth_least_sure(subject)
    got, mean = (
        percent_of(sureness(subject.recording)[least]),
        percent_of(sureness(subject.recording).mean()),
    )
    word = options_least_sure(subject)[least]
    return LEAST_SURE["explain"].format(word=word, got=got, mean=mean)


def opens(subject: Subject) -> dict[str, object]:
    return {"step": truth_least_sure(subject)}


LEAST_SURE_TASK = Task(
    "least_sure",
    "word",
    ask_least_sure,
    truth_least_sure,
    hint_least_sure,
    explain_least_sure,
    options=options_least_sure,
    needs=("writes",),
    of_writing=True,
    of_row=False,
    opens=opens,
)


# The task to name a word of the text that the translation leaves out.

_OF_EVIDENCE = partial(Task, needs=("writes",), of_writing=True, of_evidence=True, of_row=False)
LITTLE = 0.15
"""Nats below which no written word misses a word of the text, as many an article."""


def ask_left_out(subject: Subject) -> str:
    return "Which word of the sentence is lost in the translation?"


def options_read(subject: Subject) -> tuple[str, ...]:
    return _named_answers(words_read(subject))


def _named_answers(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(names[i] for i in answers(names))


def truth_left_out(subject: Subject) -> int:
    return answers(words_read(subject)).index(lost_words(subject)[0])


def accepts_left_out(subject: Subject, answer: int) -> bool:
    return answers(words_read(subject))[answer] in lost_words(subject)


def _worth(subject: Subject, number: int) -> tuple[float, str]:
    """The worth of a word to the written word that needs it most, and that word."""
    evidence = evidence_of(subject)
    costs = evidence.hidden[:, number]
    return max(0.0, float(costs.max())), evidence.target_words[int(costs.argmax())]


def hint_left_out(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    number, name = answers(words_read(subject))[answer], options_read(subject)[answer]
    cost, word = _worth(subject, number)
    if cost < LITTLE:
        return f"“{name}” costs no word {LITTLE} nats either, but nothing is missing without it."
    return f"“{name}” is not lost: hidden, it would cost “{word}” {cost:.2f} nats."


def explain_left_out(subject: Subject) -> str:
    words = [f"“{words_read(subject)[i]}” {_worth(subject, i)[0]:.2f}" for i in lost_words(subject)]
    return f"Hidden, {' and '.join(words)} nats at most: no written word needs more than that."


def absent_left_out(subject: Subject) -> str:
    if lost_words(subject):
        return ""
    words = " ".join(subject.riddle.left_out)
    return f"The model that is here needs “{words}” for what it writes: it leaves out nothing."


LEFT_OUT_TASK = _OF_EVIDENCE(
    "left_out",
    "word",
    ask_left_out,
    truth_left_out,
    hint_left_out,
    explain_left_out,
    options=options_read,
    accepts=accepts_left_out,
    absent=absent_left_out,
)


# The task to name the word of the text that the mistaken word needs most.

NEEDED = {
    "ask": "Without which word of the sentence would “{word}” lose most?",
    "looked_at": "A good guess: “{word}” looks at it most. But to look is not to need.",
    "hint": "Hiding “{word}” costs it {cost} nats, and another word more.{at}",
    "at": " It looks most at “{word}”.",
    "explain": "Hiding “{word}” costs “{of}” {nats} nats, more than any other word.",
    "none": "No word of the sentence decides any word that is written.",
    "not_this": "No word of the sentence decides “{word}” in the model that is here.",
}


def ask_needed_word(subject: Subject) -> str:
    word = bare(written_words(subject)[asked_word(subject)])
    return NEEDED["ask"].format(word=word)


def truth_needed_word(subject: Subject) -> int:
    return options_read(subject).index(needed_words(subject, asked_word(subject))[0])


def accepts_needed_word(subject: Subject, answer: int) -> bool:
    return options_read(subject)[answer] in needed_words(subject, asked_word(subject))


def _looked_at(subject: Subject) -> int | None:
    """The option that the word looks at most; None: it is none of them."""
    looks = evidence_of(subject).verdicts[asked_word(subject)].looks_at
    numbers = answers(words_read(subject))
    return numbers.index(looks) if looks in numbers else None


def says_looked_at(subject: Subject) -> str:
    word = bare(written_words(subject)[asked_word(subject)])
    return NEEDED["looked_at"].format(word=word)


def hint_needed_word(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    number = answers(words_read(subject))[answer]
    cost = float(evidence_of(subject).hidden[asked_word(subject), number])
    looks = _looked_at(subject)
    words = options_read(subject)
    at = "" if looks in (None, answer) else NEEDED["at"].format(word=words[looks or 0])
    return NEEDED["hint"].format(word=words[answer], cost=f"{cost:.2f}", at=at)


def explain_needed_word(subject: Subject) -> str:
    number = asked_word(subject)
    word, nats = needed_words(subject, number)[0], evidence_of(subject).verdicts[number].nats
    of = bare(written_words(subject)[number])
    return NEEDED["explain"].format(word=word, of=of, nats=f"{nats:.2f}")


def absent_needed_word(subject: Subject) -> str:
    if why := not_made(subject):
        return why
    if (number := asked_word(subject)) < 0:
        return NEEDED["none"]
    if decided_by(subject, number):
        return ""
    word = bare(written_words(subject)[number])
    return NEEDED["not_this"].format(word=word)


NEEDED_WORD_TASK = _OF_EVIDENCE(
    "needed_word",
    "word",
    ask_needed_word,
    truth_needed_word,
    hint_needed_word,
    explain_needed_word,
    options=options_read,
    accepts=accepts_needed_word,
    absent=absent_needed_word,
    reasons=(Reason(_looked_at, says_looked_at),),
)


# The task to name the word of the text that could be hidden at the least cost.

SPARED = {
    "ask": "Which word of the sentence could the model do without most easily?",
    "hint": "Hidden, “{name}” would cost “{word}” {cost} nats, and another word less.",
    "lost": "Without a trace: {words}.",
    "none_lost": "None is lost.",
    "explain": "Hidden, “{name}” costs no written word more than {cost} nats. {lost}",
    "none": "This sentence has no word that could be hidden.",
}


def ask_spared(subject: Subject) -> str:
    return SPARED["ask"]


def truth_spared(subject: Subject) -> int:
    costs = [_worth(subject, number)[0] for number in answers(words_read(subject))]
    return costs.index(min(costs))


def hint_spared(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    cost, word = _worth(subject, answers(words_read(subject))[answer])
    name = options_read(subject)[answer]
    return SPARED["hint"].format(name=name, word=word, cost=f"{cost:.2f}")


def explain_spared(subject: Subject) -> str:
    truth = truth_spared(subject)
    cost, _ = _worth(subject, answers(words_read(subject))[truth])
    words = [words_read(subject)[i] for i in evidence_of(subject).lost_words]
    lost = SPARED["lost" if words else "none_lost"].format(words=", ".join(words))
    name = options_read(subject)[truth]
    return SPARED["explain"].format(name=name, cost=f"{cost:.2f}", lost=lost)


def absent_spared(subject: Subject) -> str:
    return "" if options_read(subject) else SPARED["none"]


SPARED_TASK = _OF_EVIDENCE(
    "spared",
    "word",
    ask_spared,
    truth_spared,
    hint_spared,
    explain_spared,
    options=options_read,
    absent=absent_spared,
)


# The task to name a written word that is wrong: a riddle says which, the evidence why.


def ask_wrong_word(subject: Subject) -> str:
    return "Which word of the translation is wrong?"


def options_wrong_word(subject: Subject) -> tuple[str, ...]:
    return _named_answers(written_words(subject))


def truth_wrong_word(subject: Subject) -> int:
    return answers(written_words(subject)).index(mistakes_in(subject)[0][0])


def accepts_wrong_word(subject: Subject, answer: int) -> bool:
    return answers(written_words(subject))[answer] in [number for number, _ in mistakes_in(subject)]


def hint_wrong_word(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    number = answers(written_words(subject))[answer]
    return f"{evidence_of(subject).verdicts[number].text} Another word is worse."


def explain_wrong_word(subject: Subject) -> str:
    number, mistake = mistakes_in(subject)[0]
    should = f" where “{mistake.right}” should" if mistake.right else ", and nothing should"
    got = percent_of(evidence_of(subject).log_probs[number].exp())
    return f"“{bare(mistake.word)}” stands{should}; the model gave it {got}."


def _least_sure(subject: Subject) -> int:
    """The option that the model gave the least probability."""
    log_probs = evidence_of(subject).log_probs[answers(written_words(subject))]
    return int(log_probs.argmin())


def says_least_sure(subject: Subject) -> str:
    return "It was less sure of this word than of any other, but to be unsure is not to be wrong."


WRONG_WORD_TASK = _OF_EVIDENCE(
    "wrong_word",
    "word",
    ask_wrong_word,
    truth_wrong_word,
    hint_wrong_word,
    explain_wrong_word,
    options=options_wrong_word,
    accepts=accepts_wrong_word,
    absent=not_made,
    reasons=(Reason(_least_sure, says_least_sure),),
)


TASK = (
    LEAST_SURE_TASK,
    LEFT_OUT_TASK,
    NEEDED_WORD_TASK,
    SPARED_TASK,
    WRONG_WORD_TASK,
)
