"""Head metrics: attention weights [H, Q, K] -> one number per head [H]. Each is declared in
METRIC.
"""

from collections.abc import Mapping
from functools import partial

import torch
from torch import Tensor

from transformer.analysis.metrics.metric import (
    LEAST_OF_ONE,
    Metric,
    mass_at_offset,
    mean_over_queries,
    on_added,
)
from transformer.discover import discover
from transformer.recording import Attention

# The one-to-one measure of cross-attention: mean_i sum_j A_ij B_ij, B_ij = A_ij / sum_i A_ij.
#
# A_ij is how far query i chooses key j, B_ij how far key j chooses query i; their product is high
# where both directions agree, as word alignments are made of two directed ones: hard ones by
# their intersection (Och and Ney 2003), soft ones by their product (Liang, Taskar and Klein
# 2006). No alignment made by people is needed. Over the heads of each shipped translator the rank
# correlation with the alignment error rate is -0.88 to -0.96 on three gold sets (a head is read
# by the rows of the words that it writes or has read, whichever aligns better).


def agreement(weights: Tensor, n_words: Tensor | None = None) -> Tensor:
    """[H, Q, K] -> [H], from 1 / Q, where all queries share one key, to 1: each has its own.

    n_words: [H], the keys that a query may be paired with; None: all.
    """
    received = weights.sum(1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)
    agreed = weights * (weights / received)
    values = agreed.sum(-1) - (0 if n_words is None else on_added(agreed, n_words))
    return mean_over_queries(values, weights)


ALIGNMENT_METRIC = Metric(
    name="alignment",
    title="Alignment",
    unit="share",
    compute=agreement,
    explain=(
        "How far a head pairs words one to one: each row looks at one word, and at no word look "
        "several rows. A row may be paired with the word that it writes, or with the one that it "
        "has just read. The number is the weight times the share of the key's total that this "
        "query gives, mean over queries. The number is the same for both (AWO and AWI in "
        "Kobayashi et al. 2020), so heads of either sort come first; the page Heads tells them "
        "apart (“Aligns the word it writes”, “Aligns the word it has read”). A head that only "
        "follows the order of words is one-to-one, too."
    ),
    formula=r"\frac{1}{Q} \sum_i \sum_j A_{ij} \frac{A_{ij}}{\sum_{i'} A_{i'j}}",
    source="both directions agree: Liang et al. 2006",
    cross=True,
    of_words=True,
    is_role=True,
)


# Sharpness: how sure of one key a head is.
#
# Voita et al. (2019, section 4) call it confidence, and so do addresses; beside the probabilities
# of a decoder that word reads as one of these.


def confidence(weights: Tensor) -> Tensor:
    """mean_i( max_j A_ij ): [H, Q, K] -> [H], between 1/K and 1.

    The end token counts like any other, as query and as key. Voita et al. leave it out, over a
    corpus; here the picture beside the number shows it, so the number does too.
    """
    return mean_over_queries(weights.amax(-1), weights)


CONFIDENCE_METRIC = Metric(
    name="confidence",
    title="Sharpness",
    unit="share",
    compute=confidence,
    explain=(
        "The largest weight of a query, mean over queries: 100 % is one key per query. The end "
        "token counts as a key and as a query, which the paper leaves out."
    ),
    formula=r"\frac{1}{Q} \sum_i \max_j A_{ij}",
    source="confidence in Voita et al. 2019, section 4",
)


# Mean distance: how far a head looks (Vig & Belinkov 2019).


def distance(weights: Tensor, n_words: Tensor | None = None) -> Tensor:
    """sum_ij A_ij |i - j| / sum_ij A_ij, in positions: [H, Q, K] -> [H].

    Rows sum to 1, so this is the mean over queries of sum_j A_ij |i - j|. In cross-attention i
    counts target tokens and j source tokens: 0 then means "keeps the order", not "stays put".
    n_words: [H], the keys that have a place; None: all. What is on others counts on neither side.
    """
    queries, keys = (torch.arange(n).to(weights) for n in weights.shape[1:])
    apart = (queries[:, None] - keys).abs_()  # [Q, K]; in whole numbers it takes 5 times as long
    products = weights * apart
    if n_words is None:
        return mean_over_queries(products.sum(-1), weights)
    placed, total = (each.sum(-1) - on_added(each, n_words) for each in (weights, products))
    return total.sum(-1) / placed.sum(-1)  # 0 / 0 is NaN: all of it is on others


DISTANCE_METRIC = Metric(
    name="distance",
    title="Mean distance",
    unit="positions",
    compute=distance,
    explain=(
        "How many positions lie between query and key, weighted by attention; across two "
        "sequences, between their places in each."
    ),
    formula=r"\frac{1}{Q} \sum_i \sum_j A_{ij} \vert i - j \vert",
    source="Vig & Belinkov 2019",
    of_words=True,
    least_change=0.5,
)


# Entropy: how widely a head looks (Clark et al. 2019, section 3).


def entropy(weights: Tensor) -> Tensor:
    """mean_i( -sum_j A_ij log2 A_ij ), with 0 log 0 = 0, in bits: [H, Q, K] -> [H].

    0 bits: one key per query. log2(K) bits: all keys alike. No smoothing, unlike Clark et al.
    """
    # torch.special.entr takes 4 times as long on a CPU. Below `tiny` a weight adds less than 1e-35.
    logarithms = weights.clamp_min(torch.finfo(weights.dtype).tiny).log2()
    bits = (weights * logarithms).sum(-1).abs()  # [H, Q]; no term is above 0, and none gives -0.0
    return mean_over_queries(bits, weights)


ENTROPY_METRIC = Metric(
    name="entropy",
    title="Entropy",
    unit="bits",
    compute=entropy,
    explain=(
        "How widely the head looks: 0 bits is a single key, 1 bit as if two keys shared the "
        "weight. Mean over queries."
    ),
    formula=r"-\frac{1}{Q} \sum_i \sum_j A_{ij} \log_2 A_{ij}",
    source="Clark et al. 2019, section 3",
    least_change=0.25,
)


# First-token mass: how much a head parks on the first key (Xiao et al. 2023).


def first(weights: Tensor) -> Tensor:
    """mean_i( A_i0 ), over every query, the first included: [H, Q, K] -> [H]."""
    return mean_over_queries(weights[:, :, 0], weights)


FIRST_METRIC = Metric(
    name="first",
    title="On first token",
    unit="share",
    compute=first,
    explain=(
        "Weight on the first key, mean over queries: heads with nothing to say often rest there "
        "(an attention sink)."
    ),
    formula=r"\frac{1}{Q} \sum_i A_{i0}",
    source="Xiao et al. 2023",
    is_role=True,
    least=LEAST_OF_ONE,
)


# Next token mass, mean_i A_i,i+1: how much a head looks at the token after.
#
# Clark et al. 2019, section 3. A causal head gives 0: the mask hides the next token.

NEXT_METRIC = Metric(
    name="next",
    title="On next token",
    unit="share",
    compute=partial(mass_at_offset, offset=1),
    explain=(
        "Weight on the token after, mean over queries: the last token has none and is left out."
    ),
    formula=r"\frac{1}{Q - 1} \sum_i A_{i,i+1}",
    source="Clark et al. 2019, section 3",
    same_sequence=True,
    needs_lengths=True,
    of_words=True,
    is_role=True,
)


# Previous token mass, mean_i A_i,i-1: how much a head looks back by one.
#
# Clark et al. 2019, section 3.

PREVIOUS_METRIC = Metric(
    name="previous",
    title="On previous token",
    unit="share",
    compute=partial(mass_at_offset, offset=-1),
    explain=(
        "Weight on the token before, mean over queries: the first token has none and is left out."
    ),
    formula=r"\frac{1}{Q - 1} \sum_i A_{i,i-1}",
    source="Clark et al. 2019, section 3",
    same_sequence=True,
    is_role=True,
)


# Same token mass, mean_i A_ii: how much a head looks at the token itself.
#
# Clark et al. 2019, section 3.

SAME_METRIC = Metric(
    name="same",
    title="On same token",
    unit="share",
    compute=partial(mass_at_offset, offset=0),
    explain=("Weight on the token itself, mean over queries: each query has one."),
    formula=r"\frac{1}{Q} \sum_i A_{ii}",
    source="Clark et al. 2019, section 3",
    same_sequence=True,
    is_role=True,
)


# Weight on keys that are none of the text's: a learned sink, one more in the denominator.


def sink(weights: Tensor, n_words: Tensor | None = None) -> Tensor:
    """mean_i( sum_j A_ij ), over the keys j behind the n words of each head: [H, Q, K] -> [H]."""
    shares = weights[..., 0] * 0 if n_words is None else on_added(weights, n_words)
    return mean_over_queries(shares, weights)


SINK_METRIC = Metric(
    name="sink",
    title="Sink share",
    unit="share",
    compute=sink,
    explain=(
        "Weight on keys that the model itself adds behind the tokens, mean over queries: what no "
        "token gets. A sink takes part in the softmax and has no value (a learned logit, or one "
        "more in the denominator); others are the bias key and the zero key of "
        "nn.MultiheadAttention."
    ),
    formula=r"\frac{1}{Q} \sum_i \sum_{j > n} A_{ij}",
    source="Miller 2023; OpenAI 2025",
    of_words=True,
    of_added=True,
)


# measure(): every metric that says something about an attention.


def metrics_of(attention: Attention) -> dict[str, Metric]:
    """name -> metric: those that say something about attention of this kind over these tokens."""
    return metrics_for(attention.is_same, attention.is_cross, attention.n_added)


def metrics_for(is_same: bool, is_cross: bool, n_added: int = 0) -> dict[str, Metric]:
    """The same, by what is to be known: whether queries and keys are the same tokens, whether
    the keys are of another sequence, and how many keys a model adds behind those."""
    result: dict[str, Metric] = discover("transformer.analysis.metrics", "METRIC")
    return {
        name: metric.beside(n_added)
        for name, metric in result.items()
        if (is_same or not metric.same_sequence)
        and (is_cross or not metric.cross)
        and (n_added or not metric.of_added)
    }


def measure(attention: Attention, layer: int) -> dict[str, Tensor]:
    """name -> one number per head [H], for the metrics that apply to this attention.

    For one head only: `measure(attention.only(head), layer)`.
    """
    weights = attention.weights(layer)
    return {name: metric.compute(weights) for name, metric in metrics_of(attention).items()}


def computed(metrics: Mapping[str, Metric], weights: Tensor) -> Tensor:
    """[M, H]: each metric, in this order, of weights [H, Q, K]; heads may be of several layers."""
    return torch.stack([metric.compute(weights) for metric in metrics.values()])


METRIC = (
    ALIGNMENT_METRIC,
    CONFIDENCE_METRIC,
    DISTANCE_METRIC,
    ENTROPY_METRIC,
    FIRST_METRIC,
    NEXT_METRIC,
    PREVIOUS_METRIC,
    SAME_METRIC,
    SINK_METRIC,
)
