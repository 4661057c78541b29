"""Tasks to read a map: what is strong, and where it moves."""

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from transformer.analysis.metrics.metrics import measure
from transformer.analysis.reading import row_tokens
from transformer.edits import Edit
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.words import word_groups
from viz.labels import counted
from viz.lessons.subject import Subject
from viz.lessons.task import (
    Reason,
    Reply,
    Task,
    even,
    log_loss,
    percent_of,
    previous,
    result_of,
    shares,
)

# The task to name the word that a row looks at most.

STRONGEST = {
    "ask": "Which word does the row ‘{row}’ look at most?",
    "hint": "‘{word}’ gets {got} of the row. The word that gets most stands {side} it.",
    "before": "before",
    "after": "after",
    "explain": "‘{row}’ looks at {word} with {got} of its weight.",
    "itself": "itself",
    "word": "‘{word}’",
    "translated": (
        "‘{word}’ is a good guess: while ‘{row}’ is written, of {heads} of the last layer {n} "
        "{look} there most. But {head} {why}."
    ),
    "head": "head",
    "heads": "heads",
    "looks": "looks",
    "look": "look",
    "follows": "looks where they looked one word before",
    "elsewhere": "looks elsewhere",
    "own": (
        "A token need not look at itself: what it holds is carried past the attention anyway, by "
        "the residual connection."
    ),
    "previous": "On average {head} gives the token just before {mean}, and not in each row.",
}
"""Words of the task: pages without a server say it, too (viz/lessons/own.py)."""


def ask_strongest(subject: Subject) -> str:
    return STRONGEST["ask"].format(row=subject.row_word)


def truth_strongest(subject: Subject) -> int:
    return subject.strongest


def hint_strongest(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, int)
    side = STRONGEST["before" if subject.strongest < answer else "after"]
    got = percent_of(subject.weights[answer])
    word = subject.words[answer]
    return STRONGEST["hint"].format(word=word, got=got, side=side)


def explain_strongest(subject: Subject) -> str:
    most = subject.strongest
    got = percent_of(subject.weights[most])
    is_own = not subject.attention.is_cross and subject.place.query in subject.groups[most]
    word = STRONGEST["itself" if is_own else "word"].format(word=subject.words[most])
    return STRONGEST["explain"].format(row=subject.row_word, word=word, got=got)


def _at(subject: Subject, query: int) -> int | None:
    """The place in `words` of a token of the row's own text; None in cross-attention, or there."""
    if subject.attention.is_cross:
        return None
    return next((i for i, group in enumerate(subject.groups) if query in group), None)


def _aligned(subject: Subject, query: int) -> tuple[int, int]:
    """The place in `words` where the last layer's heads look most on average while they write the
    token after this one, and the number of those that do: of plain words, as it is no end.
    """
    attention, groups = subject.attention, subject.groups
    rows = attention.weights(attention.n_layers - 1)[:, query]  # [H, K]
    of_words = torch.stack([rows[:, list(group)].sum(-1) for group in groups], -1)  # [H, words]
    is_end = torch.tensor([any(attention.keys[i].special for i in group) for group in groups])
    place = int(of_words.mean(0).masked_fill(is_end, -1).argmax())
    return place, int((of_words.argmax(-1) == place).sum())


def translated(subject: Subject) -> int | None:
    """The word that the row's word translates, by most heads of the last layer."""
    return _aligned(subject, subject.place.query)[0] if subject.attention.is_cross else None


def says_translated(subject: Subject) -> str:
    query, attention = subject.place.query, subject.attention
    place, n = _aligned(subject, query)
    heads = counted(attention.n_heads, STRONGEST["head"], STRONGEST["heads"])
    words = word_groups(row_tokens(attention))
    at = next(i for i, group in enumerate(words) if query in group)
    before = [_aligned(subject, row)[0] for row in (words[at - 1] if at else ())]
    follows = subject.strongest in before
    return STRONGEST["translated"].format(
        word=subject.words[place],
        row=subject.row_word,
        heads=heads,
        n=n,
        look=STRONGEST["looks" if n == 1 else "look"],
        head=subject.head_name,
        why=STRONGEST["follows" if follows else "elsewhere"],
    )


def says_itself(subject: Subject) -> str:
    return STRONGEST["own"]


def says_before(subject: Subject) -> str:
    place = subject.place
    mean = percent_of(measure(subject.attention, place.layer)["previous"][place.head])
    return STRONGEST["previous"].format(head=subject.head_name, mean=mean)


STRONGEST_TASK = Task(
    "strongest",
    "word",
    ask_strongest,
    truth_strongest,
    hint_strongest,
    explain_strongest,
    reasons=(
        Reason(translated, says_translated),
        Reason(lambda it: _at(it, it.place.query), says_itself),
        Reason(lambda it: _at(it, it.place.query - 1), says_before),
    ),
)


# The task to spread a row's weight: points are put on the words, and scored in nats.

MOST = 24
"""Fields for points; of a longer row neighbours share one."""
SPREAD_HINT = (
    "‘{word}’, on which you put most, gets {got}. Your points cost {own} nats, and an even guess "
    "{even}. Spread them once more."
)


def ask_spread(subject: Subject) -> str:
    together = "" if len(_spans(subject)) == len(subject.words) else ", neighbours together"
    return (
        f"Spread 100 points over the words that the row ‘{subject.row_word}’ may look at{together}."
    )


def _spans(subject: Subject) -> list[slice]:
    """The words of each field, as few together as there can be."""
    n = len(subject.words)
    size = max(1, math.ceil(n / MOST))
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def _summed(parts: Sequence[float], subject: Subject) -> tuple[float, ...]:
    return tuple(math.fsum(parts[span]) for span in _spans(subject))


def options_spread(subject: Subject) -> tuple[str, ...]:
    words = [subject.words[span] for span in _spans(subject)]
    return tuple(each[0] if len(each) == 1 else f"{each[0]} … {each[-1]}" for each in words)


def truth_spread(subject: Subject) -> tuple[float, ...]:
    return _summed(subject.weights.tolist(), subject)


def hint_spread(subject: Subject, answer: Reply) -> str:
    assert isinstance(answer, tuple)
    most = max(range(len(answer)), key=answer.__getitem__)
    got = percent_of(truth_spread(subject)[most])
    word, weights = options_spread(subject)[most], truth_spread(subject)
    costs = log_loss(weights, shares(answer)), log_loss(weights, even(len(weights)))
    own, even_cost = (f"{cost:.2f}" for cost in costs)
    return SPREAD_HINT.format(word=word, got=got, own=own, even=even_cost)


def explain_spread(subject: Subject) -> str:
    weights = truth_spread(subject)
    most = max(range(len(weights)), key=weights.__getitem__)
    before = _summed(previous(subject), subject)
    word = options_spread(subject)[max(range(len(before)), key=before.__getitem__)]
    parts = (
        f"an even guess costs {log_loss(weights, even(len(weights))):.2f} nats",
        f"all points on ‘{word}’ (the place before its own) {log_loss(weights, before):.2f}",
        f"the weights themselves {log_loss(weights, [max(w, 1e-9) for w in weights]):.2f}",
    )
    got = percent_of(weights[most])
    first = options_spread(subject)[most]
    return f"‘{first}’ gets most, {got}. Here {', '.join(parts)}: less is better."


SPREAD_TASK = Task(
    "spread",
    "spread",
    ask_spread,
    truth_spread,
    hint_spread,
    explain_spread,
    options=options_spread,
)


# The task about a head whose words all move by as many positions.

BOUNDS = (0.05, 0.25)
"""Shares of the weight between which the options are."""


def ask_shifted(subject: Subject) -> str:
    return (
        f"All words move {subject.arguments[0]} positions on. How much of the weight of "
        f"{subject.head_name} lands on other words than before?"
    )


def options_shifted(subject: Subject) -> tuple[str, ...]:
    low, high = map(percent_of, BOUNDS)
    return (f"less than {low}", f"{low} to {high}", f"more than {high}")


def run(subject: Subject, before: Recording | None) -> Iterator[Recording]:
    """The model again, with all words moved."""
    by = subject.arguments[0]
    edits = [Edit("positions-shift", side, (), (by,)) for side in subject.recording.positions]
    with subject.turn():
        recording = record(
            subject.checkpoint, subject.text, subject.recording.target or None, edits
        )
    yield recording


def moved(subject: Subject) -> Tensor:
    """The share of each row's weight that is elsewhere [Q]."""
    place, recording = subject.place, result_of(subject, run)
    after: Tensor = recording.attentions[place.kind].weights(place.layer, place.head)
    before = subject.attention.weights(place.layer, place.head)
    return (after - before).abs().sum(-1) / 2


def truth_shifted(subject: Subject) -> int:
    return sum(float(moved(subject).mean()) >= bound for bound in BOUNDS)


def hint_shifted(subject: Subject, answer: Reply) -> str:
    got = percent_of(moved(subject)[subject.place.query])
    return f"In the row ‘{subject.row_word}’ it is {got}; the mean of all rows is asked."


def explain_shifted(subject: Subject) -> str:
    return f"{percent_of(moved(subject).mean())} of its weight lands elsewhere, mean over all rows."


SHIFTED_TASK = Task(
    "shifted",
    "choice",
    ask_shifted,
    truth_shifted,
    hint_shifted,
    explain_shifted,
    options=options_shifted,
    takes=("positions",),
    needs=("sinusoids", "room"),
    of_sentence=False,
    run=run,
    of_row=False,
    reasons=(
        Reason(
            lambda it: 0,
            lambda it: (
                "So it would be if the head knew distances only: all of them are as they were. But "
                "it has learned from texts that begin at position 0."
            ),
        ),
    ),
)


TASK = (
    STRONGEST_TASK,
    SPREAD_TASK,
    SHIFTED_TASK,
)
