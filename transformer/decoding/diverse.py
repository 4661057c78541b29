"""Diverse beam search (Vijayakumar et al. 2018): groups of beams that differ from each other."""

from torch import Tensor

from transformer.decoding.beam import beam
from transformer.decoding.course import Course
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
    return beam(
        *(model, source, max_len, beam_size, length_penalty),
        groups=min(groups, beam_size),
        diversity=diversity,
        course=course,
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
        Option(
            *("beam_size", "Beam size", 6, 1, 16),
            explain="Hypotheses that are followed at once, in all groups together.",
            widest=(1, 4096),
        ),
        Option(
            *("groups", "Groups", 3, 1, 16), explain="The groups that avoid each other's words."
        ),
        Option(
            *("diversity", "Diversity", 0.5, 0.0, 5.0),
            explain="Nats that a word costs for each time that groups before it wrote it.",
            widest=(0.0, 1e4),
        ),
        Option(
            *("length_penalty", "Length penalty", 0.6, 0.0, 2.0),
            explain="Higher favours longer ones.",
            widest=(-100.0, 100.0),
        ),
    ),
    follows="beam_size",
    places=True,
)
