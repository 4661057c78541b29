"""Edits of arrows, rows and words: what a query may see, and how strongly."""

import math

import torch
from torch import Tensor

from transformer.edits.edit import Edit, EditKind, Value

# An arrow cut: a query no longer sees a key.


def cut(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """-inf for the key in the query's scores [1, K]."""
    scores[:, edit.key] = -torch.inf
    return scores


CUT_EDIT = EditKind(
    name="cut",
    title="Cut an arrow",
    of="cell",
    explain="The query no longer sees this key in this head; its other keys share the weight.",
    formula=r"s_{ij} = -\infty",
    source="attention knockout: Geva et al. 2023",
    scores=cut,
)


# An arrow made stronger or weaker.


def scaled(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """log alpha is added to the key's score in [1, K]."""
    scores[:, edit.key] += math.log(edit.values[0])
    return scores


ARROW_SCALE_EDIT = EditKind(
    name="arrow-scale",
    title="Weaken or strengthen an arrow",
    of="cell",
    explain="The weight of this key is multiplied by a factor, and the row sums to 1 again.",
    formula=r"s_{ij} = q_i \cdot k_j + \log \alpha",
    source="log alpha on the score is the same: Zhang et al. 2023, section 3",
    values=(Value("Factor", 0.5, 1e-6, 1e6, slider=4),),
    zero="cut",
    scores=scaled,
)


# A word of the source that the decoder may not read.

CUT_WORD_EDIT = EditKind(
    name="cut-word",
    title="Cut a word off from the decoder",
    of="read word",
    explain=(
        "Cross-attention sees no piece of the word, in any layer or head; the encoder does, and "
        "may have carried what it says to other words."
    ),
    formula=r"s_{ij} = -\infty \quad (j \in G)",
    source="attention knockout: Geva et al. 2023",
    closes={"cross": ("cross",)},
)


# A word of the text hidden: nobody looks at it.

HIDE_EDIT = EditKind(
    name="hide",
    title="Hide a word",
    of="read word",
    explain=(
        "Nothing looks at any piece of the word, in any layer or head, as if padding stood there; "
        "the other words keep their positions. What mixes words in another way than by attention, "
        "as convolution or a mean within somebody else's model, still has it."
    ),
    formula=r"s_{ij} = -\infty \quad (j \in G)",
    closes={"source": ("encoder_self", "cross"), "text": ("encoder_self", "decoder_self", "cross")},
)


# A row of weights that a person writes down.


def forced(edit: Edit, scores: Tensor, first: int) -> Tensor:
    """The logarithm of the weights in the place of the scores [1, K]; keys without one get 0."""
    weights = scores.new_zeros(scores.shape)
    row = scores.new_tensor(edit.values)[: scores.size(1)]
    weights[0, : len(row)] = row
    return weights.log()


ROW_FORCE_EDIT = EditKind(
    name="row-force",
    title="Force a row",
    of="row",
    explain="The query's weights are these numbers, divided by their sum; masked keys stay at 0.",
    formula=r"A_i = a / \sum_j a_j",
    further=Value("Weight", 1, 0, 1e6),
    scores=forced,
)


# Biases of distance taken from the scores: ALiBi's slopes, T5's relative bias.


def off(edit: Edit, bias: Tensor) -> Tensor:
    """0 in the place of the bias [Q, K]."""
    return bias.new_zeros(bias.shape)


BIAS_OFF_EDIT = EditKind(
    name="bias-off",
    title="No relative bias",
    of="kind",
    explain=(
        "What the model adds to its scores for the distance of query and key is left out, in all "
        "layers and heads; masks stay."
    ),
    formula=r"s_{ij} = q_i \cdot k_j",
    source="Press et al. 2022",
    bias=off,
)


EDIT = (
    CUT_EDIT,
    ARROW_SCALE_EDIT,
    CUT_WORD_EDIT,
    HIDE_EDIT,
    ROW_FORCE_EDIT,
    BIAS_OFF_EDIT,
)
