"""The task to name the word of the text that the mistaken word needs most."""

from viz.lessons.riddles import (
    answers,
    bare,
    evidence_of,
    mistakes_in,
    needed_words,
    not_made,
    words_read,
)
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    _, mistake = mistakes_in(subject)[0]
    return f"Without which word of the sentence would “{bare(mistake.word)}” lose most?"


def options(subject: Subject) -> tuple[str, ...]:
    names = words_read(subject)
    return tuple(names[i] for i in answers(names))


def truth(subject: Subject) -> int:
    return options(subject).index(needed_words(subject, mistakes_in(subject)[0][0])[0])


def accepts(subject: Subject, answer: int) -> bool:
    return options(subject)[answer] in needed_words(subject, mistakes_in(subject)[0][0])


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    (number, _), evidence = mistakes_in(subject)[0], evidence_of(subject)
    cost = float(evidence.hidden[number, answers(words_read(subject))[answer]])
    looks = evidence.verdicts[number].looks_at
    at = (
        ""
        if looks is None
        else f" It looks most at “{words_read(subject)[looks]}”; that is not all."
    )
    return (
        f"Hiding “{options(subject)[answer]}” costs it {cost:.2f} nats, and another word more.{at}"
    )


def explain(subject: Subject) -> str:
    number, mistake = mistakes_in(subject)[0]
    word, nats = needed_words(subject, number)[0], evidence_of(subject).verdicts[number].nats
    return (
        f"Hiding “{word}” costs “{bare(mistake.word)}” {nats:.2f} nats, more than any other word."
    )


def absent(subject: Subject) -> str:
    if why := not_made(subject):
        return why
    (number, mistake), evidence = mistakes_in(subject)[0], evidence_of(subject)
    is_held = evidence.verdicts[number].kind == "held by the prefix"
    if not is_held and set(needed_words(subject, number)[:1]) & set(options(subject)):
        return ""
    return f"No word of the sentence decides “{bare(mistake.word)}” in the model that is here."


TASK = Task(
    "needed_word",
    "word",
    ask,
    truth,
    hint,
    explain,
    options=options,
    needs=("writes",),
    accepts=accepts,
    absent=absent,
    of_writing=True,
    of_row=False,
)
