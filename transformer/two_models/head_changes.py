"""Two models over one text, head by head: how far apart their rows are, and what they write."""

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

import torch
from torch import Tensor, nn

from transformer.analysis.metrics.metric import jensen_shannon_of_heads, jensen_shannon_of_rows
from transformer.analysis.reading import Group, merge, row_tokens
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError
from transformer.recording import Attention, AttentionCall, Recording
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups, words_of

# The heads of another model where they stand: given the states that reach those of this one.
#
# Only of models of ours: their projections are known modules, whose inputs hooks keep for the
# length of one pass, in the thread that runs it.

PROJECTIONS = "query", "key", "value"


def record_with_heads_of(
    other: Checkpoint, checkpoint: Checkpoint, source: str, target: Sequence[Token] | None
) -> tuple[Recording, dict[str, list[AttentionCall]] | None]:
    """Record a model, and say what the other one's heads would do with the same states.

    The second value has a call per layer by kind: q, k, v and W_O of the other model's head of the
    same place. None where the two have other sizes, or are not models of ours. Raises Refusal.
    """
    places = _places(checkpoint, other)
    if places is None:
        return record(checkpoint, source, target), None
    states: dict[tuple[str, int, str], Tensor] = {}
    with ExitStack() as stack:
        for (kind, layer), (module, _) in places.items():
            for name in PROJECTIONS:
                part = module.get_submodule(name)
                stack.enter_context(_keeping(part, states, (kind, layer, name)))
        recording = record(checkpoint, source, target)
    heads: dict[str, list[AttentionCall]] = {kind: [] for kind in recording.attentions}
    with torch.inference_mode():
        for (kind, layer), (_, module) in places.items():
            call = recording.attentions[kind].calls[layer]
            inputs = {name: states[kind, layer, name] for name in PROJECTIONS}
            heads[kind].append(_call(call, module, inputs))
    return recording, heads


def _places(
    checkpoint: Checkpoint, other: Checkpoint
) -> dict[tuple[str, int], tuple[nn.Module, Any]] | None:
    """(kind, layer) -> the attention of both models; None where they do not pair off."""
    if checkpoint.family.name != other.family.name or checkpoint.family.is_watched:
        return None
    places: dict[tuple[str, int], tuple[nn.Module, Any]] = {}
    for kind, pattern in checkpoint.family.attentions.items():
        names = _modules(checkpoint, pattern or "")
        if names != _modules(other, pattern or ""):
            return None
        for layer, name in enumerate(names):
            pair = checkpoint.model.get_submodule(name), other.model.get_submodule(name)
            if _sizes(pair[0]) != _sizes(pair[1]):
                return None
            places[kind, layer] = pair
    return places


def _modules(checkpoint: Checkpoint, pattern: str) -> list[str]:
    """The names of a kind's attentions, layer by layer."""
    there, names = dict(checkpoint.model.named_modules()), list[str]()
    while (name := pattern.replace("*", str(len(names))).removesuffix(".dot_product")) in there:
        names.append(name)
        if "*" not in pattern:
            break
    return names


def _sizes(module: Any) -> tuple[int, list[tuple[int, ...]]]:
    return module.n_heads, [tuple(each.shape) for each in module.parameters()]


@contextmanager
def _keeping(
    module: nn.Module, states: dict[tuple[str, int, str], Tensor], key: tuple[str, int, str]
) -> Iterator[None]:
    """Keep what a module is called with, by this thread: others may run the model as well."""
    thread = threading.get_ident()

    def keep(module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        if threading.get_ident() == thread:
            states[key] = inputs[0]

    handle = module.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        handle.remove()


def _call(call: AttentionCall, module: Any, states: dict[str, Tensor]) -> AttentionCall:
    """The same call with another module's projections. states: [1, T, D] each."""
    device = next(module.parameters(), call.q).device
    q, k, v = (
        module.split(module.get_submodule(name)(states[name].to(device)))[0].to(call.q.device)
        for name in PROJECTIONS
    )
    output = module.output
    projection = output.weight if isinstance(output, nn.Linear) else None
    scale = module.dot_product.scale
    return replace(call, q=q, k=k, v=v, scale=scale, projection=projection, sample=None)


# Two models over one text, head by head: how far apart their rows are, and what they write.
#
# A head that looks elsewhere in another model may do so because it changed, or because what
# reaches it did. `total` is both: the rows of one model beside those of the other. `own` is the
# first by itself: the other model's head is given the states that reached this one, as a patch of
# one head would do (Wang et al. 2022 patch paths in the same way), which needs no run for each
# head.

Place = tuple[int, int]
"""A layer and a head, from 0."""
OTHER_WORDS = (
    "The two models read this text as different words, so the rows of their heads do not match: "
    "compare checkpoints that read and write the same languages."
)


@dataclass(frozen=True, eq=False)
class KindChanges:
    """The heads of one kind of attention in two models A and B over one text.

    L and H are A's layers and heads. A root of a Jensen-Shannon divergence is 0 where all rows are
    the same and 1 where no row has a key in common: root(mean over rows of JS in bits), which obeys
    the triangle inequality (Endres and Schindelin 2003).
    """

    kind: str
    total: Tensor
    """[L, H]: the root for the heads of the same place; NaN where B has no such head."""
    own: Tensor | None
    """[L, H]: the root for B's head where it is given the states of A; None: not known."""
    relative: Tensor | None
    """[L, H]: |B - A| / |A| of what the head writes, given the same states; None as above."""
    cosine: Tensor | None
    """[L, H]: the cosine of what both heads write, all rows as one vector: given the same states
    where `own` is known. None: nothing tells what heads write, or it has other dimensions."""
    apart: Tensor
    """[L, H, L', H']: the root for each head of A and each of B."""

    def counterpart(self, layer: int, head: int) -> tuple[Place, float]:
        """The head of B that is nearest to one of A, its own place among equals; and how far."""
        distances = self.apart[layer, head].nan_to_num(nan=math.inf)
        nearest = float(distances.min())
        n_layers, n_heads = distances.shape
        if layer < n_layers and head < n_heads and distances[layer, head] <= nearest:
            return (layer, head), nearest
        place = int(distances.argmin())
        return (place // n_heads, place % n_heads), nearest


@dataclass(frozen=True, eq=False)
class Reading:
    """Two models that read one text, and how far apart their heads are."""

    first: Recording
    second: Recording
    kinds: tuple[KindChanges, ...]
    """The kinds that both have."""


def read_by_both(
    first: Checkpoint,
    second: Checkpoint,
    source: str,
    target: Sequence[Token] = (),
    text: str = "",
) -> Reading:
    """Record two models over one source and one target, which the first one wrote.

    text: the target as a text, for a model that splits it into other tokens. Two passes. Raises
    Refusal.
    """
    tokens = list(target) or None
    recording, heads = record_with_heads_of(second, first, source, tokens)
    words = tokens if _reads_alike(second, recording) else (text or None)
    other = record(second, source, words)
    return Reading(recording, other, tuple(head_changes(recording, other, heads)))


def head_changes(
    first: Recording,
    second: Recording,
    heads: dict[str, list[AttentionCall]] | None = None,
) -> Iterator[KindChanges]:
    """Compare the heads of two recordings of one text, kind by kind.

    heads: kind -> the calls of the second model's heads, given the states of the first one. Where
    tokens differ, words are compared: the mean of a word's rows, the sum of its columns. Raises
    InputError where the words differ too.
    """
    for kind, attention in first.attentions.items():
        other = second.attentions.get(kind)
        if other is None:
            continue
        sides = _Sides(attention, other)
        a = torch.stack([sides.first(attention.weights(it)) for it in range(attention.n_layers)])
        b = torch.stack([sides.second(other.weights(it)) for it in range(other.n_layers)])
        apart = _apart(a, b)
        own, calls = None, list(other.calls)
        if heads is not None:
            calls = heads[kind]
            pairs = zip(attention.calls, calls, strict=True)
            own = torch.stack([_root(x.weights(), y.weights()) for x, y in pairs]).cpu()
        outputs = _outputs(attention, calls, sides)
        yield KindChanges(
            kind=kind,
            total=_same_place(apart),
            own=own,
            relative=None if outputs is None or own is None else outputs[0],
            cosine=None if outputs is None else outputs[1],
            apart=apart,
        )


@dataclass(frozen=True)
class Row:
    """A row of a head by words: where it changed most, and what it looks at in both models."""

    query: int
    """The word's place in the words that name A's rows."""
    divergence: float
    """Jensen-Shannon, in bits."""
    first: tuple[int, float]
    """The place, in the words of A's keys, of the one with the largest weight in A, and that."""
    second: tuple[int, float]


def largest_row(
    first: Attention, second: Attention, place: Place, other: Place | None = None
) -> Row | None:
    """The word in whose row two heads differ most: as the pictures have it, the mean of a word's
    rows, the sum of its columns. None where the two read different words.
    """
    try:
        sides = _Sides(first, second, by_words=True)
    except InputError:
        return None
    x = sides.first(first.weights(*place)[None])[0]
    y = sides.second(second.weights(*(other or place))[None])[0]
    rows = jensen_shannon_of_rows(x, y).nan_to_num(nan=-1.0)
    query = int(rows.argmax())
    (x, i), (y, j) = x[query].max(-1), y[query].max(-1)
    return Row(query, max(0.0, float(rows[query])), (int(i), float(x)), (int(j), float(y)))


class _Sides:
    """The rows and columns of two attentions: tokens where they are the same, else words.

    by_words: words in either case. Raises InputError where these differ.
    """

    def __init__(self, first: Attention, second: Attention, by_words: bool = False) -> None:
        self._rows = _groups(row_tokens(first), row_tokens(second), by_words)
        self._columns = _groups(first.keys, second.keys, by_words)

    def first(self, weights: Tensor) -> Tensor:
        """[H, Q, K] -> [H, rows, columns]."""
        return self._merged(weights, 0)

    def second(self, weights: Tensor) -> Tensor:
        return self._merged(weights, 1)

    def rows(self, values: Tensor, which: int) -> Tensor:
        """[H, Q, D] -> [H, rows, D]."""
        return values if self._rows is None else merge(values, self._rows[which], -2, "mean")

    def _merged(self, weights: Tensor, which: int) -> Tensor:
        if self._columns is not None:
            weights = merge(weights, self._columns[which], -1, "sum")
        return self.rows(weights, which)


def _groups(
    first: Sequence[Token], second: Sequence[Token], by_words: bool
) -> tuple[tuple[Group, ...], tuple[Group, ...]] | None:
    """The words of both; None where they are the same tokens. Raises InputError."""
    if not by_words and [token.piece for token in first] == [token.piece for token in second]:
        return None
    if _spelled(first) != _spelled(second):
        raise InputError(OTHER_WORDS)
    return word_groups(first), word_groups(second)


def _spelled(tokens: Sequence[Token]) -> list[str]:
    """The words, special tokens being alike: models have their own names for these."""
    groups, words = word_groups(tokens), words_of(tokens)
    return ["" if tokens[it[0]].special else word for it, word in zip(groups, words, strict=True)]


def _root(a: Tensor, b: Tensor) -> Tensor:
    return jensen_shannon_of_heads(a, b).sqrt()


def _apart(a: Tensor, b: Tensor) -> Tensor:
    """[L, H, Q, K] and [L', H', Q, K] -> [L, H, L', H'], a head of A at a time."""
    heads = [_root(each.expand_as(b), b) for each in a.flatten(0, 1)]
    return torch.stack(heads).unflatten(0, a.shape[:2])


def _same_place(apart: Tensor) -> Tensor:
    """[L, H, L', H'] -> [L, H], NaN where B lacks the place."""
    n_layers, n_heads, *others = apart.shape
    result = apart.new_full((n_layers, n_heads), torch.nan)
    for layer in range(min(n_layers, others[0])):
        for head in range(min(n_heads, others[1])):
            result[layer, head] = apart[layer, head, layer, head]
    return result


def _outputs(
    attention: Attention, calls: Sequence[AttentionCall], sides: _Sides
) -> tuple[Tensor, Tensor] | None:
    """Relative difference and cosine of what heads of the same place write, [L, H] each."""
    relative, cosine = [], []
    if len(calls) != attention.n_layers or calls[0].n_heads != attention.n_heads:
        return None
    for first, second in zip(attention.calls, calls, strict=True):
        x, y = (_output(call) for call in (first, second))
        if x is None or y is None or x.size(-1) != y.size(-1):
            return None
        x, y = sides.rows(x, 0).flatten(1), sides.rows(y, 1).flatten(1)  # [H, rows * D]
        lengths = x.norm(dim=-1), y.norm(dim=-1)
        relative.append((y - x).norm(dim=-1) / lengths[0])
        cosine.append((x * y).sum(-1) / (lengths[0] * lengths[1]))
    return torch.stack(relative), torch.stack(cosine)


def _output(call: AttentionCall) -> Tensor | None:
    """Each head's part of the layer's output [H, Q, D]; before W_O where nothing projects it."""
    if not call.v.size(-1):
        return None
    heads = call.heads_given().cpu().double()
    if call.projection is None:
        return heads
    columns = call.projection.detach().cpu().double().unflatten(1, (heads.size(0), -1))
    return torch.einsum("hqd,ohd->hqo", heads, columns)


def _reads_alike(second: Checkpoint, recording: Recording) -> bool:
    """Tell whether the second model has the same tokens as this target."""
    size = second.config.vocab_size
    return all(
        token.id < size and second.tokenizer.token(token.id) == token for token in recording.target
    )


# The tokens of one text that stand for those of another, by the words that both have.


def counterparts(tokens: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """Return for each token the place of its counterpart in another text; -1 where it has none.

    Words are aligned by the longest runs that both texts have. Between two such runs words stand
    for each other where both texts have as many there. The pieces of a word pair off in their
    order; what is left over of the longer one goes to the last piece of the shorter one.
    """
    places = [-1] * len(tokens)
    own, others = word_groups(tokens), word_groups(other)
    for word, other_word in _pairs(words_of(tokens), words_of(other)):
        theirs = others[other_word]
        for number, place in enumerate(own[word]):
            places[place] = theirs[min(number, len(theirs) - 1)]
    return places


def _pairs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    codes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    parts = [(range(a, b), range(c, d)) for _, a, b, c, d in codes if b - a == d - c]
    return [pair for own, other in parts for pair in zip(own, other, strict=True)]
