"""The record of one forward pass: data only, without a batch axis.

Attention weights are not stored. Each attention call's q, k and v are, by reference, and the
weights are computed from them when asked: memory grows with T * d, not with L * H * T^2. Only
where a model computes attention by hand are its weights all that there is.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import index
from typing import Literal

from torch import Tensor

from transformer.positions.relative_bias import RelativeBias, shared
from transformer.positions.rotary import Rotary
from transformer.recording.calls import AttentionCall
from transformer.recording.check import Checked, check
from transformer.recording.contradictions import against_pass
from transformer.recording.decisions import Classification, Masked
from transformer.recording.text_vector import TextVector
from transformer.refusal import Refusal, quoted
from transformer.token import Token


class NoSuchHead(Refusal, IndexError):
    """A layer or head that is not there; the message says which there are."""


def place_of(name: Literal["layer", "head"], number: int, n: int, kind: str) -> int:
    """A layer or head as its place from 0; one from the end is counted back. Raises NoSuchHead.

    >>> place_of("head", -1, 8, "cross")
    7
    """
    try:
        place = index(number)
    except TypeError as error:
        raise NoSuchHead(f"A {name} is a whole number, and {quoted(number)} is none.") from error
    if not -n <= place < n:
        raise NoSuchHead(f"There is no {name} {quoted(place)}: {kind} has {n}, counted from 0.")
    return place % n


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
    """The one of the three, where `kind` is no such name; None: `kind` says it, or nothing does."""
    is_softmax: bool = False
    """True: these weights were changed before they met the values."""
    numbers: tuple[int, ...] = ()
    """The model's own numbers of these layers, where it has others in between; empty: 0, 1, ..."""

    def __repr__(self) -> str:
        sizes = f"{len(self.queries)} queries, {len(self.keys)} keys"
        return f"Attention({self.kind!r}, {self.n_layers} layers x {self.n_heads} heads, {sizes})"

    @property
    def is_cross(self) -> bool:
        """Tell whether its keys are of another sequence than its queries."""
        return (self.role or self.kind) == "cross"

    @property
    def is_decoder(self) -> bool:
        """Tell whether it is a decoder's own."""
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

    def number(self, layer: int) -> int:
        """Give the model's own number of a layer."""
        return self.numbers[layer] if self.numbers else layer

    def weights(self, layer: int, head: int | None = None) -> Tensor:
        """Attention weights of a layer [H, Q, K], or of one head [Q, K]; float32, on the CPU.

        layer, head: from 0, or from the end, -1 the last. Raises NoSuchHead.
        """
        call = self._call(layer, head)
        return (call.weights() if head is None else call.weights()[0]).cpu()

    def only(self, head: int) -> "Attention":
        """The same attention with one head per layer. Raises NoSuchHead."""
        number = place_of("head", head, self.n_heads, self.kind)
        return replace(self, calls=tuple(call.only(number) for call in self.calls))

    def allowed(self, layer: int, head: int | None = None) -> Tensor:
        """Find cells that masks leave open: bool [H, Q, K], or of one head [Q, K]; on the CPU.

        layer, head: as `weights` takes them. Raises NoSuchHead.
        """
        call = self._call(layer, head)
        return (call.allowed() if head is None else call.allowed()[0]).cpu()

    def _call(self, layer: int, head: int | None) -> AttentionCall:
        """A layer's call, or that of one head of it, H = 1."""
        call = self.calls[place_of("layer", layer, self.n_layers, self.kind)]
        return call if head is None else call.only(place_of("head", head, call.n_heads, self.kind))


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
    """The parts that one side's embedding layer put together, as they passed through."""

    tokens: tuple[Token, ...]
    embeddings: Tensor
    """Scaled token embeddings [T, D]."""
    encodings: Tensor
    """The positional encodings that met them [T, D]."""
    table: Tensor
    """The module's encodings of all positions it has [max_len, D], by reference."""
    sum: Tensor
    """The input of the first layer [T, D]: the sum of both, or what they are projected to."""
    scheme: str
    """The configuration's name for it: "sinusoidal", "learned" or "concatenated"."""

    @property
    def title(self) -> str:
        """Encodings are fixed, embeddings learned."""
        return f"positional {'encodings' if self.scheme == 'sinusoidal' else 'embeddings'}"


def _biases(attentions: Iterable[Attention]) -> Iterator[tuple[str, RelativeBias]]:
    for attention in attentions:
        calls, kind = attention.calls, attention.kind
        if attention.is_cross:  # two sequences have no distances
            continue
        biases = shared([call.bias for call in calls])
        for layers, bias in biases:
            name = kind.replace("_", " ")
            allowed = calls[layers[0]].allowed()
            if not bool(allowed.flatten(1).any(1).all()):  # a head that reads nothing has none
                continue
            of = RelativeBias(kind, layers, bias, allowed)
            yield name if len(biases) == 1 else f"{name}, from L{layers[0]}", of


Numbering = tuple[tuple[str, tuple[int, ...]], ...]
"""Kinds of attention, each with the model's own numbers of its layers."""


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
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Name -> number, as it leaves the model; only where it puts numbers on a text (regression)."""
    masked: tuple[Masked, ...] = ()
    """Only for masked language models: one per mask in the source."""
    vector: TextVector | None = None
    """Only for models that write nothing, name no class, give no number and fill no mask."""
    rotary: Mapping[str, Rotary] = field(default_factory=dict)
    """Kind in words -> how its queries and keys turn; empty where they are not known to."""
    unseen: tuple[Unseen, ...] = ()
    """The calls that ran and were not understood: they are missing from `attentions`."""
    notes: tuple[str, ...] = ()
    """The facts to be known of the pass, in sentences: that dropout took part in it."""
    last_states: Tensor | None = None
    """[rows, D]: outputs of the last layer, of which logits are made, a row for each token that it
    read, in a model of ours that writes. None: they are not kept."""
    hidden: Tensor | None = None
    """[words of the target, words of the source]: `Evidence.hidden`, where somebody put it here;
    None: no pass says it."""

    @property
    def numbering(self) -> Numbering:
        """The kinds whose layers the model does not number 0, 1, ..."""
        every = ((kind, each.numbers) for kind, each in self.attentions.items())
        return tuple((kind, of) for kind, of in every if of != tuple(range(len(of))))

    def __repr__(self) -> str:
        heads = ", ".join(
            f"{kind} {a.n_layers} x {a.n_heads}" for kind, a in self.attentions.items()
        )
        n_tokens = f"{len(self.source)} source tokens, {len(self.target)} target tokens"
        return f"Recording({n_tokens}; layers x heads: {heads or 'none'})"

    @cached_property
    def checked(self) -> Checked:
        """The check: recorded weights and values beside what the model gave.

        Computed when somebody asks.
        """
        attentions = {it: each for it, each in self.attentions.items() if not each.is_softmax}
        kinds = {kind: each.calls for kind, each in attentions.items()}
        return check(kinds, *against_pass(attentions.values()))

    @property
    def n_prompt(self) -> int:
        """Length of the source of a generator, whose text begins with it; else 0."""
        is_generator = all(each.is_decoder for each in self.attentions.values())
        return len(self.source) if is_generator else 0

    @cached_property
    def biases(self) -> Mapping[str, RelativeBias]:
        """Kind in words -> what is added to its scores for their places; layers where they differ.

        Found when somebody asks: every call is looked at for it.
        """
        return dict(_biases(self.attentions.values()))
