"""The cost of a preview, counted in multiplications and cells: never by a clock."""

from weakref import WeakKeyDictionary

from torch import nn

from viz.run.request import Answer, Request

MOST_WORK = 2**34
"""Multiplications: some two seconds of one core; 5 M weights and four beams of 800 tokens."""
MOST_CELLS = 2**22
"""Cells of all heads of a kind: 144 heads of 170 tokens."""
SHORT = 32
"""Characters below which a text says little about how many tokens a longer one has."""


def is_small(answer: Answer, request: Request) -> bool:
    """Tell whether a request that differs little from the answer's may be previewed."""
    longer = max(1.0, len(request.text) / max(SHORT, len(answer.request.text)))
    cells = max((kind.n_cells for kind in answer.recording.attentions.values()), default=0)
    return work_of(answer) * longer <= MOST_WORK and cells * longer**2 <= MOST_CELLS


def work_of(answer: Answer) -> int:
    """Multiplications that an answer took, about: each weight once for every token that passed.

    Tokens pass once when the text is recorded, and those that were written once more for each
    hypothesis that was followed.
    """
    n_weights = _n_weights(answer.checkpoint.model)
    n_read, n_written = len(answer.recording.source), len(answer.recording.target)
    n_followed = (
        0 if answer.decoding is None else int(dict(answer.request.options).get("beam_size", 1))
    )
    return n_weights * (n_read + n_written * (1 + n_followed))


_counted: WeakKeyDictionary[nn.Module, int] = WeakKeyDictionary()


def _n_weights(model: nn.Module) -> int:
    """Count once: each run of a page asks."""
    n = _counted.get(model)
    if n is None:
        n = _counted[model] = sum(weight.numel() for weight in model.parameters())
    return n
