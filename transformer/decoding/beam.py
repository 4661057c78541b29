"""Beam search with a length penalty (Wu et al. 2016, section 7, as AIAYN section 6.1 uses it)."""

from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.coverage import COVERAGE, FEWEST_LOST
from transformer.decoding.frontier import BEAM_SIZE, LENGTH_PENALTY, search
from transformer.decoding.method import FLAGS, Method, Model, Option, Search
from transformer.decoding.steps import OnToken


def beam(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    beam_size: int = 4,
    length_penalty: float = 0.6,
    repeats: int = 0,
    early_stopping: int = 0,
    plain_length: int = 0,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> at most beam_size hypotheses, best first.

    A hypothesis scores log p / ((5 + length) / 6) ** length_penalty; plain_length 1: log p /
    length ** length_penalty. early_stopping: see `Rule.stops`; beam_size 1 is greedy. repeats: see
    `barred`; nothing is barred where the source itself repeats something more often. Raises
    ValueError for a beam_size or max_len below 1.
    """
    return search(
        *(model, source, max_len, (beam_size,), length_penalty),
        repeats=repeats,
        early_stopping=early_stopping,
        plain_length=plain_length,
        on_token=on_token,
        course=course,
    )


METHOD = Method(
    name="beam",
    title="Beam search",
    run=beam,
    explain=(
        "The best few beginnings are continued at once, and of the finished texts the one of the "
        "best score wins: its log-probability, divided by a power of its length."
    ),
    formula=r"\frac{\log p(y \vert x)}{((5 + \vert y \vert) / 6)^\alpha}",
    source="Wu et al. 2016, section 7",
    options=(
        BEAM_SIZE,
        LENGTH_PENALTY,
        Option(
            *("repeats", "Repetitions", 0, 0, 9),
            explain="How often the same may stand in succession; 0: as often as it likes.",
            off=0,
        ),
        Option(
            *("early_stopping", "Stops", 0, 0, 2),
            spellings=(*FLAGS, ("never", 2)),
            explain=(
                "Where the beam is full of ended texts: 0 if no open one scores better now, "
                "1 at once, 2 only if no open one could ever score better."
            ),
            off=0,
        ),
        Option(
            *("plain_length", "Plain length", 0, 0, 1),
            spellings=FLAGS,
            explain="1: divided by a power of the length itself, as Hugging Face does.",
            off=0,
            formula=r"\frac{\log p(y \vert x)}{\vert y \vert^\alpha}",
            source="Wolf et al. 2020, the library of Hugging Face",
        ),
        COVERAGE,
        FEWEST_LOST,
    ),
    first_for=("source",),
    streams=True,
    follows="beam_size",
    places=True,
)
