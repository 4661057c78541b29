"""Tasks on what a model wrote: what it was unsure of, left out, needed, or got wrong."""

from viz.lessons.riddles import (
    answers,
    bare,
    evidence_of,
    lost_words,
    mistakes_in,
    needed_words,
    not_made,
    words_read,
    written_words,
)
from viz.lessons.subject import Subject, named, sureness
from viz.lessons.task import Reply, Task, percent_of

# The task to name the word that the model was least sure of when it wrote.


def ask_least_sure(subject: Subject) -> str:
    return "Which word was the model least sure of when it wrote?"


def options_least_sure(subject: Subject) -> tuple[str, ...]:
    return named(subject.recording.target)


def truth_least_sure(subject: Subject) -> int:
    return int(sureness(subject.recording).argmin())


def hint_least_sure(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    got = percent_of(sureness(subject.recording)[answer])
    word = options_least_sure(subject)[answer]
    return f"It gave ‘{word}’ {got}. Where could it have chosen another word?"


def explain_least_sure(subject: Subject) -> str:
    least = truth_least_sure(subject)
    got, mean = (
        percent_of(sureness(subject.recording)[least]),
        percent_of(sureness(subject.recording).mean()),
    )
    return f"‘{options_least_sure(subject)[least]}’ had {got}; the mean of all tokens is {mean}."


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


def ask_left_out(subject: Subject) -> str:
    return "Which word of the sentence is lost in the translation?"


def options_left_out(subject: Subject) -> tuple[str, ...]:
    names = words_read(subject)
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
    number, name = answers(words_read(subject))[answer], options_left_out(subject)[answer]
    cost, word = _worth(subject, number)
    if number in evidence_of(subject).lost_words:
        return f"“{name}” left no trace either, but nothing is missing without it."
    return f"“{name}” is not lost: hidden, it would cost “{word}” {cost:.2f} nats."


def explain_left_out(subject: Subject) -> str:
    words = [f"“{words_read(subject)[i]}” {_worth(subject, i)[0]:.2f}" for i in lost_words(subject)]
    return f"Hidden, {' and '.join(words)} nats at most: no written word needs more than that."


def absent_left_out(subject: Subject) -> str:
    if lost_words(subject):
        return ""
    words = " ".join(subject.riddle.left_out)
    return f"The model that is here needs “{words}” for what it writes: it leaves out nothing."


LEFT_OUT_TASK = Task(
    "left_out",
    "word",
    ask_left_out,
    truth_left_out,
    hint_left_out,
    explain_left_out,
    options=options_left_out,
    needs=("writes",),
    accepts=accepts_left_out,
    absent=absent_left_out,
    of_writing=True,
    of_row=False,
)


# The task to name the word of the text that the mistaken word needs most.


def ask_needed_word(subject: Subject) -> str:
    _, mistake = mistakes_in(subject)[0]
    return f"Without which word of the sentence would “{bare(mistake.word)}” lose most?"


def options_needed_word(subject: Subject) -> tuple[str, ...]:
    names = words_read(subject)
    return tuple(names[i] for i in answers(names))


def truth_needed_word(subject: Subject) -> int:
    return options_needed_word(subject).index(needed_words(subject, mistakes_in(subject)[0][0])[0])


def accepts_needed_word(subject: Subject, answer: int) -> bool:
    return options_needed_word(subject)[answer] in needed_words(subject, mistakes_in(subject)[0][0])


def hint_needed_word(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    (number, _), evidence = mistakes_in(subject)[0], evidence_of(subject)
    cost = float(evidence.hidden[number, answers(words_read(subject))[answer]])
    looks = evidence.verdicts[number].looks_at
    at = (
        ""
        if looks is None
        else f" It looks most at “{words_read(subject)[looks]}”; that is not all."
    )
    word = options_needed_word(subject)[answer]
    return f"Hiding “{word}” costs it {cost:.2f} nats, and another word more.{at}"


def explain_needed_word(subject: Subject) -> str:
    number, mistake = mistakes_in(subject)[0]
    word, nats = needed_words(subject, number)[0], evidence_of(subject).verdicts[number].nats
    return (
        f"Hiding “{word}” costs “{bare(mistake.word)}” {nats:.2f} nats, more than any other word."
    )


def absent_needed_word(subject: Subject) -> str:
    if why := not_made(subject):
        return why
    (number, mistake), evidence = mistakes_in(subject)[0], evidence_of(subject)
    is_held = evidence.verdicts[number].kind == "held by the prefix"
    if not is_held and set(needed_words(subject, number)[:1]) & set(options_needed_word(subject)):
        return ""
    return f"No word of the sentence decides “{bare(mistake.word)}” in the model that is here."


NEEDED_WORD_TASK = Task(
    "needed_word",
    "word",
    ask_needed_word,
    truth_needed_word,
    hint_needed_word,
    explain_needed_word,
    options=options_needed_word,
    needs=("writes",),
    accepts=accepts_needed_word,
    absent=absent_needed_word,
    of_writing=True,
    of_row=False,
)


# The task to name a written word that is wrong: a riddle says which, the evidence why.


def ask_wrong_word(subject: Subject) -> str:
    return "Which word of the translation is wrong?"


def options_wrong_word(subject: Subject) -> tuple[str, ...]:
    names = written_words(subject)
    return tuple(names[i] for i in answers(names))


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


WRONG_WORD_TASK = Task(
    "wrong_word",
    "word",
    ask_wrong_word,
    truth_wrong_word,
    hint_wrong_word,
    explain_wrong_word,
    options=options_wrong_word,
    needs=("writes",),
    accepts=accepts_wrong_word,
    absent=not_made,
    of_writing=True,
    of_row=False,
)


TASK = (
    LEAST_SURE_TASK,
    LEFT_OUT_TASK,
    NEEDED_WORD_TASK,
    WRONG_WORD_TASK,
)
