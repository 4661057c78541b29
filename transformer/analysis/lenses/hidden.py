"""The cost of hiding: what each written word loses where nobody sees a word of the source."""

import torch
from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.recording import Recording
from transformer.words import word_groups


def hidden(recording: Recording, kind: str, layer: int) -> Tensor:
    """[1, Q, K] in nats, positive where it is missed; all pieces of two words show what they cost.

    Rows that write nothing show 0.
    """
    assert recording.hidden is not None
    attention, costs = recording.attentions[kind], recording.hidden.float()
    rows, columns = word_groups(recording.target), word_groups(recording.source)
    values = torch.zeros(1, len(attention.queries), len(attention.keys))
    first = len(attention.queries) - len(recording.target)
    for row, queries in enumerate(rows):
        for column, keys in enumerate(columns):
            cells = (torch.tensor(queries)[:, None] + first, torch.tensor(keys))
            values[0][cells] = costs[row, column]
    return values * attention.allowed(layer).any(0)


def _why_not(recording: Recording, kind: str) -> str | None:
    if kind != "cross" or not recording.target:
        return "The cost of hiding is of the words of a source: cross-attention shows it."
    if recording.hidden is None:
        return (
            "The cost of hiding is not known here: every word of the source has to be hidden in "
            "turn. Explore does that, and evidence() in Python."
        )
    return None


LENS = Lens(
    name="hidden",
    title="Cost of hiding",
    formula=r"C_{ti} = \ln p(y_t) - \ln p(y_t \mid \text{source without } i)",
    explain=(
        "What a written word loses of its log-probability where no part of the model sees a word "
        "of the source, in nats: positive where it is needed. It is of the whole model, residual, "
        "normalisation and feed-forward included, so that every layer and head shows the same. "
        "Hiding closes the word's key in every mask, as padding does; later words keep their "
        "positions. Pieces show what their words cost."
    ),
    source="after Li et al. 2016, section 3",
    scale="signed",
    compute=hidden,
    per_head=False,
    of_output=True,
    merge="max",
    why_not=_why_not,
)
