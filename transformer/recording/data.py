"""What one forward pass left behind: data only, without a batch axis.

Attention weights are not stored. Each attention call's q, k and v are, by reference, and the
weights are computed from them when asked: memory grows with T * d, not with L * H * T^2. Only
where a model computes attention by hand are its weights all that there is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from transformer.positions.relative_bias import RelativeBias, shared
from transformer.positions.rotary import Rotary
from transformer.recording.decisions import Classification, Masked
from transformer.tokenizer import Token


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One layer's call of scaled_dot_product_attention, after projection."""

    q: Tensor
    """[H, Q, d_head]"""
    k: Tensor
    """[H, K, d_head]; or fewer, [G, K, d_head], each for H / G heads that follow each other."""
    v: Tensor
    """[H or G, K, d_value]; d_value is 0 where the values are not known."""
    mask: Tensor | None
    """[1 or H, 1 or Q, K], True = may attend; None: no mask beside causality."""
    scale: float
    is_causal: bool
    projection: Tensor | None = None
    """W_O as torch keeps it [D, H * d_value], by reference; None: nothing projects the heads."""
    bias: Tensor | None = None
    """[1 or H, 1 or Q, K], added to the scores: a relative bias, ALiBi."""
    has_output: bool = True
    """False: whether and how the heads are projected is not known."""

    @property
    def n_heads(self) -> int:
        return self.q.size(0)

    @property
    def knows_scores(self) -> bool:
        """Whether q and k are here, or nothing but what became of them."""
        return True

    @property
    def output(self) -> Tensor | None:
        """The rows of W_O that each head meets: a view [H, d_value, D] in the model's dtype.

        None where the joined heads are what attention gives: as if W_O were the identity.
        """
        if self.projection is None:
            return None
        return self.projection.detach().mT.unflatten(0, (self.n_heads, -1))

    def only(self, head: int) -> "AttentionCall":
        """The same call of one head, H = 1: views, so that what is asked of it costs one head."""
        return self.heads(slice(head, head + 1))

    def heads(self, part: slice) -> "AttentionCall":
        """The same call of some heads that follow each other."""
        first, last, _ = part.indices(self.n_heads)
        d_value = self.v.size(-1)
        columns = slice(first * d_value, last * d_value)
        return replace(
            self,
            q=self.q[part],
            k=_of_heads(self.k, part, self.n_heads),
            v=_of_heads(self.v, part, self.n_heads),
            mask=_some(self.mask, part),
            bias=_some(self.bias, part),
            projection=None if self.projection is None else self.projection[:, columns],
        )

    def allowed(self) -> Tensor:
        """Which cells may be attended to: bool [H, Q, K]."""
        shape = (*self.q.shape[:2], self.k.size(1))
        cells = torch.ones(shape, dtype=torch.bool, device=self.q.device)
        if self.is_causal:
            cells = cells.tril()
        return cells if self.mask is None else cells & self.mask

    def scores(self) -> Tensor:
        """q k^T * scale + bias, before mask and softmax: [H, Q, K] in float32."""
        n_groups = self.k.size(0)
        q = self.q.float().unflatten(0, (n_groups, -1)).flatten(1, 2)  # [G, H / G * Q, d_head]
        products = (q @ self.k.float().mT).view(*self.q.shape[:2], -1).mul_(self.scale)
        return products if self.bias is None else products + self.bias.float()

    def weights(self) -> Tensor:
        """softmax(scores + mask) over keys: [H, Q, K] in float32; masked cells are exactly 0."""
        if self.mask is None and not self.is_causal:
            return self.scores().softmax(-1)
        masked = ~self.allowed()
        weights = self.scores().masked_fill_(masked, -torch.inf).softmax(-1)
        if self.mask is None:
            return weights  # causality leaves a key to every row
        return weights.masked_fill(masked, 0.0)  # a row with every cell masked is 0, as in SDPA


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightsCall(AttentionCall):
    """One layer's attention that its model computed by hand: the weights as the softmax gave them.

    q [H, Q, 0] and k [H, K, 0] have no dimensions: they are not known.
    """

    given: Tensor
    """[H, Q, K]"""

    @property
    def knows_scores(self) -> bool:
        return False

    def heads(self, part: slice) -> "AttentionCall":
        shorter: dict[str, Any] = {"given": self.given[part]}
        return replace(super().heads(part), **shorter)

    def scores(self) -> Tensor:
        """Raises ValueError."""
        raise ValueError("Here the model computed attention by hand: only its weights are known.")

    def weights(self) -> Tensor:
        """[H, Q, K] in float32; masked cells are exactly 0, in rows with every cell masked too."""
        weights = self.given.float()
        return weights if self.mask is None else weights.masked_fill(~self.mask, 0.0)


def _of_heads(tensor: Tensor, part: slice, n_heads: int) -> Tensor:
    """Of keys or values [G, K, d], those that some of the H heads read; a view of one head."""
    n_groups = tensor.size(0)
    if n_groups == n_heads:
        return tensor[part]
    first, last, _ = part.indices(n_heads)
    groups = [head * n_groups // n_heads for head in range(first, last)]
    if len(set(groups)) == 1:
        return tensor[groups[0] : groups[0] + 1]
    return tensor[groups]


def _some(of_heads: Tensor | None, part: slice) -> Tensor | None:
    return of_heads if of_heads is None or of_heads.size(0) == 1 else of_heads[part]


@dataclass(frozen=True, eq=False)
class Attention:
    """One kind of attention in all layers, with the tokens of its rows and columns."""

    kind: str
    """"encoder_self", "decoder_self" or "cross"."""
    queries: tuple[Token, ...]
    """The token at each row, as the model read it."""
    keys: tuple[Token, ...]
    """The token at each column."""
    calls: Sequence[AttentionCall]
    """One a layer."""
    produced: tuple[Token, ...] | None = None
    """The token that each row was about to produce; None where rows produce nothing."""
    role: str | None = None
    """Which of the three it is where `kind` is another name; None: `kind` says it, or nothing."""
    numbers: tuple[int, ...] = ()
    """What the model itself calls these layers, where it has others in between; empty: 0, 1, ..."""

    @property
    def is_cross(self) -> bool:
        """Whether its keys are of another sequence than its queries."""
        return (self.role or self.kind) == "cross"

    @property
    def is_decoder(self) -> bool:
        """Whether it is a decoder's own."""
        return (self.role or self.kind) == "decoder_self"

    @property
    def n_layers(self) -> int:
        return len(self.calls)

    @property
    def n_heads(self) -> int:
        return self.calls[0].n_heads

    @property
    def n_cells(self) -> int:
        """The cells of all heads of all layers: L * H * Q * K."""
        return self.n_layers * self.n_heads * len(self.queries) * len(self.keys)

    def weights(self, layer: int, head: int | None = None) -> Tensor:
        """Attention weights of a layer [H, Q, K], or of one head [Q, K]; float32, on the CPU."""
        if head is None:
            return self.calls[layer].weights().cpu()
        return self.calls[layer].only(head).weights()[0].cpu()

    def only(self, head: int) -> "Attention":
        """The same attention with one head per layer."""
        return replace(self, calls=tuple(call.only(head) for call in self.calls))

    def allowed(self, layer: int, head: int | None = None) -> Tensor:
        """Which cells the masks leave open: bool [H, Q, K], or of one head [Q, K]; on the CPU."""
        if head is None:
            return self.calls[layer].allowed().cpu()
        return self.calls[layer].only(head).allowed()[0].cpu()


@dataclass(frozen=True)
class Unseen:
    """A module that ran, looks like attention, and was not understood."""

    path: str
    """In the model, with a star for the number of the layer."""
    why: str
    """A clause without a full stop, such as "its attention runs over blocks of the sequence"."""

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@dataclass(frozen=True, eq=False)
class PositionalEncoding:
    """What one side's embedding layer put together, as it passed through."""

    tokens: tuple[Token, ...]
    embeddings: Tensor
    """Scaled token embeddings [T, D]."""
    encodings: Tensor
    """The positional encodings that met them [T, D]."""
    table: Tensor
    """The module's encodings of all positions it has [max_len, D]."""
    sum: Tensor
    """What the first layer reads [T, D]: the sum of both, or what they are projected to."""
    scheme: str
    """As the configuration names it: "sinusoidal", "learned" or "concatenated"."""

    @property
    def title(self) -> str:
        """Encodings are fixed, embeddings learned."""
        return f"positional {'encodings' if self.scheme == 'sinusoidal' else 'embeddings'}"


def _biases(attentions: Iterable[Attention]) -> Iterator[tuple[str, RelativeBias]]:
    for attention in attentions:
        calls, kind = attention.calls, attention.kind
        if attention.is_cross:  # two sequences have no distances
            continue
        found = shared([call.bias for call in calls])
        for layers, bias in found:
            name = kind.replace("_", " ")
            allowed = calls[layers[0]].allowed()
            of = RelativeBias(kind, layers, bias, allowed)
            yield name if len(found) == 1 else f"{name}, from L{layers[0]}", of


@dataclass(frozen=True, eq=False)
class Recording:
    """One forced pass of one model over one input."""

    source: tuple[Token, ...]
    target: tuple[Token, ...]
    """The tokens produced, in order; the last rows of decoder attention produced them."""
    attentions: Mapping[str, Attention]
    positions: Mapping[str, PositionalEncoding]
    """"source" and "target", or "text" where both are one; empty where nothing is encoded."""
    logits: Tensor
    """[T, V]: row t is what target[t] was chosen from; of a classifier [C]."""
    classification: Classification | None = None
    """Only for classifiers."""
    masked: tuple[Masked, ...] = ()
    """Only for masked language models: one per mask in the source."""
    rotary: Mapping[str, Rotary] = field(default_factory=dict)
    """Kind in words -> how its queries and keys turn; empty where they are not known to."""
    unseen: tuple[Unseen, ...] = ()
    """What ran and was not understood: it is missing from `attentions`."""

    @property
    def n_prompt(self) -> int:
        """Of a generator, whose text begins with its source, that source's length; else 0."""
        is_generator = all(each.is_decoder for each in self.attentions.values())
        return len(self.source) if is_generator else 0

    @cached_property
    def biases(self) -> Mapping[str, RelativeBias]:
        """Kind in words -> what is added to its scores for their places; layers where they differ.

        Found when somebody asks: every call is looked at for it.
        """
        return dict(_biases(self.attentions.values()))
