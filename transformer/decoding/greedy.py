"""Decoding token by token: the most probable one, or one drawn at random."""

import torch
from torch import Tensor

from transformer.decoding.course import Course
from transformer.decoding.method import Method, Model, Option, Search
from transformer.decoding.steps import Choose, OnToken, left_to_right

# Greedy decoding: at each step the most probable token.


def greedy(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> one hypothesis; its score is its log-probability."""
    most_probable = [lambda row: int(row.argmax())]
    return left_to_right(model, source, most_probable, "greedy", max_len, on_token, course)


GREEDY_METHOD = Method(
    name="greedy",
    title="Greedy",
    run=greedy,
    explain="At each step the most probable token is written, and none is ever taken back.",
    formula=r"y_t = \mathrm{argmax}_w \, p(w \vert y_1 \dots y_{t-1}, x)",
    streams=True,
)


# Sampling: each token drawn at random from the model's distribution, reshaped and cut.
#
# Temperature divides the logits; top-k keeps the k most probable tokens (Fan et al. 2018); top-p
# the smallest set that reaches probability p (nucleus sampling, Holtzman et al. 2020); min-p
# those at least so many times as probable as the best (Nguyen et al. 2024). In this order.


def sample(
    model: Model,
    source: Tensor,
    max_len: int | None = None,
    temperature: float = 0.8,
    top_k: int = 0,
    top_p: float = 0.95,
    min_p: float = 0.0,
    seed: int = 0,
    samples: int = 1,
    on_token: OnToken | None = None,
    course: Course | None = None,
) -> Search:
    """source: [1, S] -> as many hypotheses as `samples`, in the order of their seeds.

    The n-th is what seed + n draws by itself, on the same device. top_k 0 and min_p 0 keep all. A
    hypothesis holds the model's own distributions, not the reshaped ones. Raises ValueError for a
    temperature not above 0, a negative top_k, a top_p outside (0, 1] or a min_p outside [0, 1].
    """
    if not temperature > 0 or top_k < 0 or not 0 < top_p <= 1 or not 0 <= min_p <= 1:
        raise ValueError(
            "temperature must be above 0, top_k at least 0, top_p above 0 and at most 1, and min_p "
            f"from 0 to 1, not {temperature}, {top_k}, {top_p} and {min_p}."
        )

    def drawer(seed: int) -> Choose:
        random = torch.Generator(source.device).manual_seed(seed)

        def choose(log_probs: Tensor) -> int:
            probs = distribution(log_probs, temperature, top_k, top_p, min_p)
            return int(torch.multinomial(probs, 1, generator=random))

        return choose

    least, most = -(2**63), 2**64  # seeds go on from the least after the greatest
    drawers = [drawer((seed + n - least) % most + least) for n in range(samples)]
    return left_to_right(model, source, drawers, "chance", max_len, on_token, course)


def distribution(
    log_probs: Tensor, temperature: float, top_k: int, top_p: float, min_p: float = 0.0
) -> Tensor:
    """The distribution that a token is drawn from: log_probs [V] -> probabilities [V]."""
    best = (log_probs / temperature).softmax(-1).sort(descending=True)
    probs = best.values
    if top_k:
        probs = probs.masked_fill(torch.arange(len(probs), device=probs.device) >= top_k, 0.0)
        probs = probs / probs.sum()
    if top_p < 1:
        # A token stays when those before it fall short of top_p; so at least one does.
        probs = probs.masked_fill(probs.cumsum(-1) - probs >= top_p, 0.0)
        probs = probs / probs.sum()
    if min_p > 0:
        probs = probs.masked_fill(probs < min_p * probs[0], 0.0)
    return torch.zeros_like(probs).scatter_(0, best.indices, probs / probs.sum())


SAMPLE_METHOD = Method(
    name="sample",
    title="Sampling",
    run=sample,
    explain=(
        "Each token is drawn at random by its probability, after unlikely ones have been made "
        "rarer (temperature) or left out (top-k, top-p, min-p)."
    ),
    formula=r"p_w = \frac{e^{z_w / T}}{\sum_{w'} e^{z_{w'} / T}}",
    source="top-p: Holtzman et al. 2020",
    options=(
        Option(
            *("temperature", "Temperature", 0.8, 0.05, 2.0),
            explain="Lower values make unlikely words rarer.",
            widest=(1e-4, 1e4),
        ),
        Option(
            *("top_k", "Top-k", 0, 0, 500),
            explain="Draw from the k most probable tokens; 0: from all.",
            widest=(0, 2**31 - 1),
            off=0,
        ),
        Option(
            *("top_p", "Top-p", 0.95, 0.05, 1.0),
            explain="Draw from the fewest tokens that reach this.",
            widest=(1e-9, 1.0),
        ),
        Option(
            *("min_p", "Min-p", 0.0, 0.0, 1.0),
            explain="Draw from tokens at least this times as probable as the best; 0: from all.",
            off=0.0,
        ),
        Option("max_len", "Length", 80, 1, 1000, "Maximum number of tokens."),
        Option(
            *("seed", "Seed", 0, 0, 9999),
            explain="The same seed gives the same text.",
            widest=(-(2**63), 2**63 - 1),
        ),
        Option(
            *("samples", "Texts", 1, 1, 16),
            explain="Texts that are drawn, with this seed and those after it.",
            widest=(1, 64),
            off=1,
        ),
    ),
    first_for=("prompt",),
    streams=True,
    follows="samples",
)


METHOD = (
    GREEDY_METHOD,
    SAMPLE_METHOD,
)
