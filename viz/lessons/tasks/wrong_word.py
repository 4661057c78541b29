"""The task to name a written word that is wrong: a riddle says which, the evidence why."""

from viz.lessons.riddles import answers, bare, evidence_of, mistakes_in, not_made, written_words
from viz.lessons.subject import Subject
from viz.lessons.task import Reply, Task, percent_of


def ask(subject: Subject) -> str:
    return "Which word of the translation is wrong?"


def options(subject: Subject) -> tuple[str, ...]:
    names = written_words(subject)
    return tuple(names[i] for i in answers(names))


def truth(subject: Subject) -> int:
    return answers(written_words(subject)).index(mistakes_in(subject)[0][0])


def accepts(subject: Subject, answer: int) -> bool:
    return answers(written_words(subject))[answer] in [number for number, _ in mistakes_in(subject)]


def hint(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    number = answers(written_words(subject))[answer]
    return f"{evidence_of(subject).verdicts[number].text} Another word is worse."


def explain(subject: Subject) -> str:
    number, mistake = mistakes_in(subject)[0]
    should = f" where “{mistake.right}” should" if mistake.right else ", and nothing should"
    got = percent_of(evidence_of(subject).log_probs[number].exp())
    return f"“{bare(mistake.word)}” stands{should}; the model gave it {got}."


TASK = Task(
    "wrong_word",
    "word",
    ask,
    truth,
    hint,
    explain,
    options=options,
    needs=("writes",),
    accepts=accepts,
    absent=not_made,
    of_writing=True,
    of_row=False,
)
