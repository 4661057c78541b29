"""The task to name a word of the text that the translation leaves out."""

from transformer.causes.omissions import MOST
from viz.lessons.riddles import answers, evidence_of, lost_words, words_read
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task


def ask(subject: Subject) -> str:
    return "Which word of the sentence is lost in the translation?"


def options(subject: Subject) -> tuple[str, ...]:
    names = words_read(subject)
    return tuple(names[i] for i in answers(names))


def truth(subject: Subject) -> int:
    return answers(words_read(subject)).index(lost_words(subject)[0])


def accepts(subject: Subject, answer: int) -> bool:
    return answers(words_read(subject))[answer] in lost_words(subject)


def _worth(subject: Subject, number: int) -> tuple[float, str]:
    """The worth of a word to the written word that needs it most, and that word."""
    evidence = evidence_of(subject)
    costs = evidence.hidden[:, number]
    return max(0.0, float(costs.max())), evidence.target_words[int(costs.argmax())]


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    number, name = answers(words_read(subject))[answer], options(subject)[answer]
    cost, word = _worth(subject, number)
    if number in evidence_of(subject).omissions:
        return f"“{name}” costs no word {MOST} nats either, but nothing is missing without it."
    return f"“{name}” is not lost: hidden, it would cost “{word}” {cost:.2f} nats."


def explain(subject: Subject) -> str:
    words = [f"“{words_read(subject)[i]}” {_worth(subject, i)[0]:.2f}" for i in lost_words(subject)]
    return f"Hidden, {' and '.join(words)} nats at most: no written word needs more than that."


def absent(subject: Subject) -> str:
    if lost_words(subject):
        return ""
    words = " ".join(subject.riddle.left_out)
    return f"The model that is here needs “{words}” for what it writes: it leaves out nothing."


TASK = Task(
    "left_out",
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
