"""The record of one forward pass: data only, without a batch axis."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar

import torch
from torch import Tensor

from transformer.device import usual_state
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line, keys_in_a_line
from transformer.origin import Origin
from transformer.positions.encodings import Rotary
from transformer.positions.relative_bias import RelativeBias, shared
from transformer.recording.calls import AttentionCall, NotRecorded
from transformer.recording.check import IDS, Checked, against_pass, check, how_named
from transformer.recording.packing import save
from transformer.recording.vector import TextVector
from transformer.refusal import Refusal, quoted
from transformer.token import Candidate, Token, n_words
from transformer.words import TextWords, words_in

# Decisions of a model that writes nothing: a text's class, and tokens for its masks: data.


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class Classification:
    """A classifier's decision."""

    classes: tuple[str, ...]
    """Their C names."""
    logits: Tensor
    """[C]"""
    is_exclusive: bool = field(default=True, kw_only=True)
    """True: a text has exactly one class; otherwise each class is independent."""

    @property
    def probs(self) -> Tensor:
        """softmax(logits) [C], 1 in all; of classes that hold by themselves sigmoid(logits)."""
        return self.logits.softmax(-1) if self.is_exclusive else self.logits.sigmoid()


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class PooledClassification(Classification):
    """A decision by one linear layer, from a vector that was pooled over positions."""

    pooling: str
    """"mean" or "max"."""
    outputs: Tensor
    """The encoder's outputs [T, D]."""
    weight: Tensor
    """The matrix of the last linear layer [C, D]."""
    bias: Tensor
    """[C]"""
    real: Tensor
    """bool [T]: the positions that are pooled; a hidden word's is not."""

    def winners(self) -> Tensor:
        """The position with the largest value in each dimension [D]."""
        return self.outputs.masked_fill(~self.real[:, None], -torch.inf).argmax(0)

    def taken(self) -> Tensor:
        """Each position's share of the pooled vector [T]; shares sum to 1.

        Max pooling: of the dimensions, the share in which the position won. Mean pooling: the same
        for each that is pooled.
        """
        n_positions, d_model = self.outputs.shape
        if self.pooling == "mean":
            return self.real / self.real.sum()
        return self.winners().bincount(minlength=n_positions) / d_model

    def contributions(self) -> Tensor:
        """Compute what positions add to each logit [T, C]; with the bias they sum to the logits."""
        if self.pooling == "mean":
            pooled = self.outputs.masked_fill(~self.real[:, None], 0.0)
            return pooled @ self.weight.mT / self.real.sum()
        won = torch.zeros_like(self.outputs)
        winners = self.winners()[None]
        won.scatter_(0, winners, self.outputs.gather(0, winners))
        return won @ self.weight.mT


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Masked:
    """Candidates of a masked language model for the place of one mask."""

    position: int
    """In the source."""
    candidates: tuple[Candidate, ...]
    """The most probable tokens, best first."""
    rest: float
    """The probability of all other tokens together."""


# The record of one forward pass: data only, without a batch axis.
#
# Attention weights are not stored. Each attention call's q, k and v are, by reference, and the
# weights are computed from them when asked: memory grows with T * d, not with L * H * T^2. Only
# where a model computes attention by hand are its weights all that there is.


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


class UnlikeLayers(Refusal, ValueError):
    """Layers that are asked for at once, and have other numbers of heads."""


class NoSuchName(Refusal, KeyError):
    """A name that is not there; the message says which there are."""

    __str__ = Exception.__str__  # KeyError quotes it


class NoSuchKind(NoSuchName):
    """A kind of attention that is not there."""


T = TypeVar("T")


class ByName(dict[str, T]):
    """Values by name: whoever asks for another name is told which there are."""

    HAS_NO = "This has no"
    ERROR: type[NoSuchName] = NoSuchName

    def __repr__(self) -> str:
        return keys_in_a_line(self)

    def __missing__(self, name: object) -> T:
        there = f"there is {', '.join(self)}" if self else "there is none"
        raise self.ERROR(f"{self.HAS_NO} {quoted(name)}: {there}.")


class _Kinds(ByName["Attention"]):
    HAS_NO = "This recording has no attention"
    ERROR = NoSuchKind


@fields_in_help
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
    rows_by: str = IDS
    """The one of WAYS in which `queries` were got."""
    columns_by: str = IDS
    """The same of `keys`."""
    unnamed: tuple[str, ...] = ()
    """The reasons why rows or columns are numbers where words would be expected, in clauses."""
    contradictions: tuple[str, ...] = ()
    """The layers whose rows or columns are others than these, in clauses without a full stop."""
    unproven: tuple[str, ...] = ()
    """The layers of which the pass does not show it."""

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

    @cached_property
    def n_added(self) -> int:
        """Count the last keys that are none of the text's: a sink, or a key that a model adds."""
        return len(self.keys) - n_words(self.keys)

    @cached_property
    def is_same(self) -> bool:
        """Tell whether its keys are its queries, beside those that the model adds behind them."""
        return self.queries == self.keys[: len(self.keys) - self.n_added]

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

    @usual_state()
    def weights(self, layer: int | None = None, head: int | None = None) -> Tensor:
        """Attention weights of all layers [L, H, Q, K], or of one [H, Q, K]; float32, on the CPU.

        With a head [L, Q, K], or [Q, K]. layer, head: from 0, or from the end, -1 the last. Raises
        NoSuchHead, and UnlikeLayers where layers with other numbers of heads are asked for at once.
        """
        return self._cells(lambda call: call.weights(), layer, head)

    def only(self, head: int) -> "Attention":
        """The same attention with one head per layer. Raises NoSuchHead."""
        number = place_of("head", head, self.n_heads, self.kind)
        return replace(self, calls=tuple(call.only(number) for call in self.calls))

    @usual_state()
    def allowed(self, layer: int | None = None, head: int | None = None) -> Tensor:
        """Find cells that masks leave open: bool, of `weights`' shapes, on the CPU.

        layer, head: as `weights` takes them. Raises NoSuchHead, and UnlikeLayers.
        """
        return self._cells(lambda call: call.allowed(), layer, head)

    def _cells(
        self, of: Callable[[AttentionCall], Tensor], layer: int | None, head: int | None
    ) -> Tensor:
        """The cells of each call that is asked for, as one tensor."""
        if layer is not None:
            cells = of(self._call(layer, head)).cpu()
            return cells if head is None else cells[0]
        sizes = dict.fromkeys(call.n_heads for call in self.calls)
        if head is None and len(sizes) > 1:
            raise UnlikeLayers(
                f"The layers of {self.kind} have {' or '.join(map(str, sizes))} heads: ask for one "
                "layer, as weights(0)."
            )
        return torch.stack([self._cells(of, i, head) for i in range(self.n_layers)])

    def _call(self, layer: int, head: int | None) -> AttentionCall:
        """A layer's call, or that of one head of it, H = 1."""
        call = self.calls[place_of("layer", layer, self.n_layers, self.kind)]
        return call if head is None else call.only(place_of("head", head, call.n_heads, self.kind))


@fields_in_help
@dataclass(frozen=True)
class Unseen:
    """A module that ran, looks like attention, and was not understood."""

    path: str
    """In the model, with a star for the number of the layer."""
    why: str
    """A clause without a full stop, such as "its attention runs over blocks of the sequence"."""

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class PositionalEncoding:
    """The parts that one side's embedding layer put together, as they passed through."""

    tokens: tuple[Token, ...]
    """The T tokens that were embedded, in their order."""
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


@fields_in_help
@dataclass(frozen=True, eq=False)
class Recording:
    """One forced pass of one model over one input."""

    source: tuple[Token, ...]
    """The S tokens that were read, special ones included."""
    target: tuple[Token, ...]
    """The tokens produced, in order; the last rows of decoder attention produced them."""
    attentions: Mapping[str, Attention]
    """The attention of each kind; another kind raises NoSuchKind."""
    positions: Mapping[str, PositionalEncoding]
    """"source" and "target", or "text" where both are one; empty where nothing is encoded."""
    logits: Tensor | None
    """[T, V]: row t is what target[t] was chosen from; of a classifier [C]. None: no model gave
    them, as where arrays were brought."""
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
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    """Kind in words -> the reason why that is not known of it, or not drawn, in clauses."""
    unseen: tuple[Unseen, ...] = ()
    """The calls that ran and were not understood: they are missing from `attentions`."""
    notes: tuple[str, ...] = ()
    """The facts to be known of the pass, in sentences: that dropout took part in it."""
    varies: str = ""
    """The reason why another pass gives other numbers, in a sentence that is one of the notes, too;
    empty: none was noticed."""
    last_states: Tensor | None = None
    """[rows, D]: outputs of the last layer, of which logits are made, a row for each token that it
    read, in a model of ours that writes. None: they are not kept."""
    hidden: Tensor | None = None
    """[words of the target, words of the source]: `Evidence.hidden`, where somebody put it here;
    None: no pass says it."""
    origin: Origin | None = None
    """The call that made it, of a model of ours; None: it came otherwise."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "attentions", MappingProxyType(_Kinds(self.attentions)))

    def save(self, path: str | Path) -> Path:
        """Write it to an .npz file, which `load_recording` opens again without the model.

        path: the file, ending in .npz. It holds tensors, tokens and what the pass has shown; no
            pickle.

        Returns the path. Raises Unsaved for another ending and for more than 1 GiB, and Unwritten
        where the file cannot be written.
        """
        return save(self, path)

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
    @usual_state()
    def checked(self) -> Checked:
        """The check: recorded weights and values beside what the model gave.

        Computed when somebody asks.
        """
        attentions = {it: each for it, each in self.attentions.items() if not each.is_softmax}
        kinds = {kind: each.calls for kind, each in attentions.items()}
        result = check(kinds, *against_pass(attentions.values()), how_named(attentions.values()))
        # Right of this pass alone: what is said of the model is not, where another differs.
        return replace(result, is_right=None) if self.varies and result.is_right else result

    def require_logits(self) -> Tensor:
        """Return its logits. Raises NotRecorded, where only arrays are here."""
        if self.logits is None:
            raise NotRecorded("This recording is of arrays, without a model: it has no logits.")
        return self.logits

    @property
    def has_target_logits(self) -> bool:
        """Tell whether there is a row of logits for each token of a target."""
        n, logits = len(self.target), self.logits
        return n > 0 and logits is not None and logits.dim() == 2 and len(logits) == n

    @cached_property
    def source_words(self) -> TextWords:
        return words_in(self.source)

    @cached_property
    def target_words(self) -> TextWords:
        return words_in(self.target)

    @property
    def n_prompt(self) -> int:
        """Length of the source of a generator, whose text begins with it; else 0."""
        is_generator = all(each.is_decoder for each in self.attentions.values())
        return len(self.source) if is_generator else 0

    @cached_property
    @usual_state()
    def biases(self) -> Mapping[str, RelativeBias]:
        """Kind in words -> what is added to its scores for their places; layers where they differ.

        Found when somebody asks: every call is looked at for it.
        """
        return dict(_biases(self.attentions.values()))
