"""Diverse beam search (Vijayakumar et al. 2018): groups of beams that differ from each other."""

from dataclasses import replace

from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.frontier import BEAM_SIZE, LENGTH_PENALTY, search
from transformer.decoding.method import Method, Model, Option, Search


def diverse(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    beam_size: int = 6,
    groups: int = 3,
    diversity: float = 0.5,
    length_penalty: float = 0.6,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> at most beam_size hypotheses of all groups, best first.

    At each step the groups choose one after the other, and a token costs `diversity` nats more for
    each hypothesis of the groups before that has just written it (section 3, Hamming diversity).
    That counts for the choice alone: scores are those of `beam`.
    """
    n = min(groups, beam_size)
    sizes = [beam_size // n + (i < beam_size % n) for i in range(n)]
    return search(
        *(model, source, max_len, sizes, length_penalty), diversity=diversity, course=course
    )


METHOD = Method(
    name="diverse",
    title="Diverse beam search",
    run=diverse,
    explain=(
        "A beam search in groups: each avoids the words that the groups before it have just "
        "written, so that the texts found differ."
    ),
    formula=r"\log p(y \vert x) - \lambda \, n_w",
    source="Vijayakumar et al. 2018",
    options=(
        replace(
            BEAM_SIZE,
            default=6,
            explain="Hypotheses that are followed at once, in all groups together.",
        ),
        Option(
            *("groups", "Groups", 3, 1, 16), explain="The groups that avoid each other's words."
        ),
        Option(
            *("diversity", "Diversity", 0.5, 0.0, 5.0),
            explain="Nats that a word costs for each time that groups before it wrote it.",
            widest=(0.0, 1e4),
        ),
        LENGTH_PENALTY,
    ),
    follows="beam_size",
    places=True,
)
