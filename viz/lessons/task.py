"""A task, as it declares itself, and the grading of its answers."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, SupportsFloat
from unicodedata import numeric

from torch import Tensor

from viz.labels import number, percent
from viz.lessons.subject import Subject

Form = Literal["word", "spread", "number", "choice"]
"""The form of an answer: one word of the row; 100 points on its words; a number; one of a few."""
Reply = int | float | tuple[float, ...]
"""An answer, or the truth: which option, a number, or a number for each option."""
FLOOR = 0.01
"""The share of the points that all options have in common: no guess is infinitely wrong."""
REPEATED, REPEATED_BARE = ": you answered ‘{answer}’", ": you answered {answer}"
NEAR, TIMES = 0.02, 1.01
"""A number is right within this share of it, or within so many units of its last digit."""
DISTANCES = {
    "sign": "Only its sign is wrong.",
    "large": "It is too large{far}.",
    "small": "It is too small{far}.",
    "tenfold": ", more than ten times",
    "twice": ", more than twice",
    "tenth": ", by less than a tenth",
}
"""Sentences about a wrong number, and the ends of some of them."""
LEAST_SHARE, MOST_SHARE = "under 0.1 %", "over 99.9 %"
NO_NUMBER = "“{text}” is not a number: write it as 0.5, 1/2 or -3."


def of_the_row(subject: Subject) -> tuple[str, ...]:
    """The words that the row may look at."""
    return subject.words


def nothing(subject: Subject) -> tuple[tuple[str, str], ...]:
    """No numbers to work with."""
    return ()


def as_it_is(subject: Subject) -> Mapping[str, object]:
    """The screen that the scene names."""
    return {}


def something(subject: Subject) -> str:
    """There is always something to ask about."""
    return ""


def result_of(subject: Subject, run: Callable[[Subject, Any], Iterator[Any]]) -> Any:
    """Return the last value of a task's run; run it now where nobody waited for it."""
    if subject.result is not None:
        return subject.result
    *_, result = run(subject, None)
    return result


@dataclass(frozen=True)
class Reason:
    """A wrong answer that is likely, and why it is not the right one: data beside a task."""

    answer: Callable[[Subject], Reply | None]
    """The answer; None: nobody has cause to give it here."""
    says: Callable[[Subject], str]


@dataclass(frozen=True)
class Task:
    """A kind of question. Every text of it is plain, and is escaped where it is shown.

    The truth is computed when somebody answers, and is in nothing that is shown before.
    """

    name: str
    form: Form
    ask: Callable[[Subject], str]
    truth: Callable[[Subject], Reply]
    hint: Callable[[Subject, Reply], str]
    """After a first answer that is wrong: a sentence with numbers of what is on screen."""
    explain: Callable[[Subject], str]
    """The truth in a sentence, with its number."""
    material: Callable[[Subject], tuple[tuple[str, str], ...]] = nothing
    """Numbers to work with: pairs of a name and a value."""
    options: Callable[[Subject], tuple[str, ...]] = of_the_row
    decimals: int = 0
    """The digits of a number, where its truth is told."""
    unit: str = ""
    takes: tuple[str, ...] = ()
    """The meanings of the whole numbers behind its name."""
    needs: tuple[str, ...] = ()
    """Names of viz/lessons/exercise.py."""
    of_sentence: bool = True
    """True: the truth follows the sentence; else the model, or what the scene says."""
    of_row: bool = True
    """True: it asks for weights of its row, and what else shows these waits until it is over."""
    of_tokens: bool = False
    """True: it counts tokens, whatever words they make, and so what its scene opens shows them."""
    run: Callable[[Subject, Any], Iterator[Any]] | None = None
    """Yield growing values for the truth, from those of an earlier run, where a model runs for it.

    It runs once somebody has answered.
    """
    opens: Callable[[Subject], Mapping[str, object]] = as_it_is
    """Fields of the screen that its scene opens once it is over: it shows what was asked."""
    accepts: Callable[[Subject, int], bool] | None = None
    """Tell whether an answer is one of several that are right; the truth is the first of them."""
    absent: Callable[[Subject], str] = something
    """Say why a riddle is not asked, where the model makes no such mistake; empty: it is."""
    of_writing: bool = False
    """True: it asks what the model wrote, and not at all where chance chose the words."""
    of_evidence: bool = False
    """True: it asks what written words need, and so waits for the evidence of all of them."""
    reasons: tuple[Reason, ...] = ()
    """Answers that a first guess is likely to be, where they are not right."""

    def tolerance(self, truth: float) -> float:
        """Return how far a number may be off: two per cent, or the last digit; of a count, none."""
        return 0.5 if isinstance(truth, int) else max(NEAR * abs(truth), TIMES * 10**-self.decimals)

    def _meant(self, number: float) -> tuple[float, ...]:
        """A share of 0.25 is 25 %, too, where per cent are asked."""
        return (number, 100 * number) if self.unit == "%" and 0 < number < 1 else (number,)

    def reason(self, subject: Subject, reply: Reply) -> str:
        """Say why a wrong answer is likely and not right; empty where it is not expected."""
        for each in self.reasons:
            likely = each.answer(subject)
            if likely is not None and self._is_near(reply, likely):
                return each.says(subject)
        return ""

    def _is_near(self, reply: Reply, other: Reply) -> bool:
        """Tell whether both are one answer, as far as the digits on the screen tell numbers."""
        if self.form != "number" or isinstance(reply, tuple) or isinstance(other, tuple):
            return reply == other
        return any(abs(each - other) <= self.tolerance(other) for each in self._meant(reply))

    def distance(self, subject: Subject, reply: Reply) -> str:
        """Say in which direction a wrong number is off, and roughly how far; of others nothing."""
        truth = self.truth(subject)
        if self.form != "number" or isinstance(reply, tuple) or isinstance(truth, tuple):
            return ""
        return distance(self._meant(reply)[-1], truth, self.tolerance(truth))

    def repeat(self, subject: Subject, reply: Reply) -> str:
        """The end of a sentence that says a wrong answer; of spread points, which a table shows,
        nothing.
        """
        if isinstance(reply, tuple):
            return ""
        is_one_of = self.form != "number"
        answer = self.options(subject)[int(reply)] if is_one_of else number(reply, 12, "g")
        return (REPEATED if self.form == "word" else REPEATED_BARE).format(answer=answer)

    def is_right(self, subject: Subject, reply: Reply) -> bool:
        """Spread points have no wrong: they are right where they beat an even guess."""
        if self.accepts is not None:
            assert isinstance(reply, int)
            return self.accepts(subject, reply)
        truth = self.truth(subject)
        if isinstance(truth, tuple):
            assert isinstance(reply, tuple)
            return log_loss(truth, shares(reply)) < log_loss(truth, even(len(truth)))
        return self._is_near(reply, truth)


def distance(answer: float, truth: float, tolerance: float = 0.0) -> str:
    """Say on which side a number is of the right one, and roughly how far, without that one.

    >>> distance(-5, 5), distance(4, 5), distance(60, 5)
    ('Only its sign is wrong.', 'It is too small.', 'It is too large, more than ten times.')
    """
    if truth and abs(answer + truth) <= tolerance:
        return DISTANCES["sign"]
    side = DISTANCES["large" if answer > truth else "small"]
    low, high = sorted((answer, truth))
    far = {"tenfold": high > 10 * low, "twice": high > 2 * low, "tenth": high < 1.1 * low}
    name = next((name for name, is_so in far.items() if is_so), "") if low > 0 else ""
    return side.format(far=DISTANCES.get(name, ""))


def digits_of(value: SupportsFloat, decimals: int = 2) -> float:
    """A number as far as its digits on the screen say it: what somebody computes with.

    >>> digits_of(-5.0518), digits_of(0.5604, 3)
    (-5.05, 0.56)
    """
    return float(f"{float(value):.{decimals}f}")


def even(n: int) -> tuple[float, ...]:
    """The same for each."""
    return (1 / n,) * n


def previous(subject: Subject) -> tuple[float, ...]:
    """The guess that a row looks at the word before its own, or at the first one."""
    groups, before = subject.groups, subject.place.query - 1
    at = next((i for i, group in enumerate(groups) if before in group), 0)
    return shares([float(i == at) for i in range(len(groups))])


def shares(points: Sequence[float]) -> tuple[float, ...]:
    """Points as shares that add up to 1, none of them 0."""
    n, total = len(points), sum(points)
    if total <= 0:
        return even(n)
    return tuple((1 - FLOOR) * each / total + FLOOR / n for each in points)


def log_loss(weights: Sequence[float], guessed: Sequence[float]) -> float:
    """-sum_j A_j ln p_j, in nats; its least, the entropy of the weights, is where both are equal.

    weights: A, adding up to 1; guessed: p, above 0.
    """
    return sum(-a * math.log(p) for a, p in zip(weights, guessed, strict=True) if a > 0) + 0.0


def percent_of(weight: float | Tensor) -> str:
    """A weight as people say it: "71 %"; what would be 0 or 100 by rounding has a digit more, or
    is said to be less or more.
    """
    share = 100 * float(weight)
    if 0 < share < 0.05 or 99.95 <= share < 100:
        return LEAST_SHARE if share < 1 else MOST_SHARE
    is_near = 0 < share < 0.5 or 99.5 <= share < 100
    return percent(float(weight), 1 if is_near else 0)


# A number as people write it.

_PLAIN = re.compile(r"-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?")
_PARTED = re.compile(r"-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?")
_RATIO = re.compile(r"(-?\d{1,12})/(\d{1,12})")
LONGEST = 40
"""Characters."""


def read_number(text: str, unit: str = "") -> float | None:
    """ "0.5", "0,5", "½", "1/2", "5e-1", "−0.5" or "1,234", as pages write thousands; the unit may
    follow. None: nothing stands there. Raises ValueError, in a sentence.
    """
    digits = "".join(text.split())[: LONGEST + 1]
    plain = digits.replace("−", "-").removesuffix("".join(unit.split())).lower()
    if not plain:
        return None
    if len(plain) == 1 and (value := numeric(plain, None)) is not None:
        return float(value)
    if _PARTED.fullmatch(plain):
        plain = plain.replace(",", "")
    elif plain.count(",") == 1 and "." not in plain:
        plain = plain.replace(",", ".")
    if _PLAIN.fullmatch(plain) and len(plain) <= LONGEST:
        return float(plain)
    ratio = _RATIO.fullmatch(plain)
    if ratio is None or not int(ratio[2]):
        raise ValueError(NO_NUMBER.format(text=text.strip()[:LONGEST]))
    return float(Fraction(int(ratio[1]), int(ratio[2])))
