"""Proofs of a run with edits, tried on the run itself; and how far heads depend on positions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, stack

from transformer.analysis.metrics.metric import jensen_shannon_of_heads
from transformer.checkpoint import Checkpoint
from transformer.editing.editor import first_layer, kinds_of
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds
from transformer.inputs import InputError
from transformer.positions.relative_bias import ByDistance, by_distance
from transformer.recording import Attention, AttentionCall, Recording, WeightsCall
from transformer.recording.check import CLOSE
from transformer.recording.ours import record
from transformer.token import Token

# Proofs of a run with edits, tried on the run itself: sums, factors of 1, rows, and where.
#
# Each proof is one largest error. They need the recordings of a text and one target, without the
# edits and with them, and run the model once more.

Place = tuple[str, int]
"""Kind of attention, and layer."""
ROW_SUMS, LOGITS = 1e-4, 1e-5
"""The most that sums of rows may be from 1; logits from each other, as a share of the largest."""


@dataclass(frozen=True)
class Proof:
    """One claim, and what was found."""

    name: Literal["sum", "factor", "rows", "before"]
    value: float | None
    """The largest error; None: `why` says why there is none."""
    limit: float = 0.0
    """The largest error allowed."""
    n: int = 0
    """Layers, heads, rows, or attentions that were compared."""
    first: Place | None = None
    """The first place where both runs differ, of "before"; None: nowhere."""
    why: str = ""

    @property
    def is_right(self) -> bool:
        return self.value is not None and self.value <= self.limit


def proofs(
    checkpoint: Checkpoint,
    source: str,
    before: Recording,
    after: Recording,
    edits: Sequence[Edit],
) -> tuple[Proof, ...]:
    """Prove a run with edits by the same without: one target, and the same where there are none.

    Raises DeviceError.
    """
    return (
        _sum(after),
        _factor(checkpoint, source, before),
        _rows(before, after),
        _before(before, after, edits),
    )


def _sum(after: Recording) -> Proof:
    """sum_h z^h W_O^h + b is what the layer gave, as a share of the layer's largest value."""
    errors, limit = [], 0.0
    for call in _calls(after):
        sample, output = call.sample, call.output
        if sample is None or output is None or not call.v.size(-1):
            continue
        part = call.at(sample.queries.to(call.q.device))
        total = torch.einsum("hnv,hvd->nd", part.heads_given(), output.float())
        total = total if sample.bias is None else total + sample.bias.float()
        added = sample.values.float()
        read = part.allowed().any(-1).all(0)  # a row that may read nothing is 0 here only
        if bool(read.any()):
            largest = float(added[read].abs().max()) or 1.0
            errors.append(float((total - added)[read].abs().max()) / largest)
            limit = CLOSE.get(sample.values.dtype, 1e-4)
    if not errors:
        return Proof("sum", None, why="no layer shows how its heads are projected")
    return Proof("sum", max(errors), limit, len(errors))


def _factor(checkpoint: Checkpoint, source: str, before: Recording) -> Proof:
    """Every head times 1: the largest difference of the logits."""
    ones = [
        Edit("head-scale", kind, (layer, head), (1.0,))
        for kind, attention in before.attentions.items()
        if not attention.is_softmax
        for layer in range(attention.n_layers)
        for head in range(attention.n_heads)
    ]
    try:
        again = record(checkpoint, source, before.target or None, ones)
    except EditError as error:
        return Proof("factor", None, why=str(error).rstrip("."))
    plain = before.require_logits()
    largest = float(plain.float().abs().max()) or 1.0
    return Proof("factor", _apart(again.require_logits(), plain), LOGITS * largest, len(ones))


def _rows(before: Recording, after: Recording) -> Proof:
    """The largest deviation of a row's sum from 1, of rows that may read anything."""
    plain, edited = (torch.cat(list(_deviations(each))) for each in (before, after))
    if not len(edited):
        return Proof("rows", None, why="no row may read anything")
    if float(plain.max()) > ROW_SUMS:
        why = "rows do not sum to 1 without edits either"
        return Proof("rows", None, why=why)
    return Proof("rows", float(edited.max()), ROW_SUMS, len(edited))


def _deviations(recording: Recording) -> Iterator[Tensor]:
    for call in _calls(recording):
        sums = call.weights().sum(-1)[call.allowed().any(-1)]
        yield (sums - 1).abs().cpu()


def _before(before: Recording, after: Recording, edits: Sequence[Edit]) -> Proof:
    """The largest difference up to what the first edited attention reads."""
    order = _order(after)
    if not edits:
        return Proof("before", None, why="nothing is changed")
    if any(edit_kinds()[edit.name].of == "side" for edit in edits):
        why = "what the first layer reads is changed: none stands before the edit"
        return Proof("before", None, why=why)
    if not order or any(after.attentions.keys().isdisjoint(kinds_of(edit)) for edit in edits):
        return Proof("before", None, why="the order in which these layers run is not known")
    n_same = min(_n_same(edit, order) for edit in edits)
    apart: list[float] = []
    for kind, layer in order:
        old, new = (each.attentions[kind].calls[layer] for each in (before, after))
        apart += [_read_apart(old, new), _gave_apart(old, new)]
    first = next((order[i // 2] for i, it in enumerate(apart) if it > 0), None)
    return Proof("before", max(apart[:n_same], default=0.0), 0.0, (n_same + 1) // 2, first)


def _order(recording: Recording) -> list[Place]:
    """The attentions one after the other; empty where that is not known."""
    sizes = {kind: each.n_layers for kind, each in recording.attentions.items()}
    decoder = [kind for kind in ("decoder_self", "cross") if kind in sizes]
    n_decoder = {sizes[kind] for kind in decoder}
    if set(sizes) - {"encoder_self", "decoder_self", "cross"} or len(n_decoder) > 1:
        return []
    encoder = [("encoder_self", layer) for layer in range(sizes.get("encoder_self", 0))]
    layers = range(max(n_decoder, default=0))
    return [*encoder, *((kind, layer) for layer in layers for kind in decoder)]


def _n_same(edit: Edit, order: Sequence[Place]) -> int:
    """Count what an edit leaves alone of what each attention in turn reads, gives, reads, gives."""
    kind = edit_kinds()[edit.name]
    if kind.of == "word":  # its state is changed after all of its layer
        is_encoder = edit.place == "encoder_self"
        own = [
            it for it in order if it[1] == edit.layer and (it[0] == "encoder_self") == is_encoder
        ]
        return 2 * order.index(own[-1]) + 2
    layer = first_layer(edit)
    return 2 * min(order.index((it, layer)) for it in kinds_of(edit) if (it, layer) in order) + 1


def _calls(recording: Recording) -> Iterator[AttentionCall]:
    for attention in recording.attentions.values():
        if not attention.is_softmax:
            yield from attention.calls


def _read_apart(old: AttentionCall, new: AttentionCall) -> float:
    """The largest difference of what an attention read: q, k and v."""
    pairs = ((old.q, new.q), (old.k, new.k), (old.v, new.v))
    return max(_apart(a, b) for a, b in pairs)


def _gave_apart(old: AttentionCall, new: AttentionCall) -> float:
    """Return the largest difference of what it gave, where seen, and of weights made by hand."""
    gaps = [0.0]
    if old.sample is not None and new.sample is not None:
        gaps.append(_apart(old.sample.values, new.sample.values))
    if isinstance(old, WeightsCall) and isinstance(new, WeightsCall):
        gaps.append(_apart(old.given, new.given))
    return max(gaps)


def _apart(a: Tensor, b: Tensor) -> float:
    return float((a.float() - b.float()).abs().max()) if a.numel() else 0.0


# A head's dependence on positions: what changes in where it looks when these are changed.
#
# Two runs over the same text are compared row by row. A row is the query at one position; where
# words were swapped, another word stands there.


def divergences(before: Recording, after: Recording) -> dict[str, Tensor]:
    """Kind -> the Jensen-Shannon divergence of each head's rows in two runs, their mean: [L, H].

    In bits: 0 where a head looks as before, 1 where no row keeps any of its keys; NaN where no row
    may look at anything. Raises InputError for runs over texts of different lengths.
    """
    result = {}
    for kind, old in before.attentions.items():
        new = after.attentions.get(kind)
        sizes = (len(old.queries), len(old.keys))
        if new is None or sizes != (len(new.queries), len(new.keys)):
            raise InputError("Both runs must be over texts of as many tokens.")
        result[kind] = stack(
            [
                jensen_shannon_of_heads(old.weights(layer), new.weights(layer))
                for layer in range(old.n_layers)
            ]
        )
    return result


def position_dependence(
    checkpoint: Checkpoint,
    source: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] | None = None,
) -> dict[str, Tensor]:
    """`divergences` of a run with edits of positions from the run without: two runs.

    edits: None takes all positions away. Raises InputError where nothing tells positions apart, of
    an edit EditError.
    """
    before = record(checkpoint, source, target)
    edits = no_positions(before) if edits is None else edits
    return divergences(before, record(checkpoint, source, target, edits))


def no_positions(recording: Recording) -> tuple[Edit, ...]:
    """The edits that take all positions of a run away: encodings, angles, biases of distance.

    Raises InputError where there are none.
    """
    sides = tuple(recording.positions) or (("text",) if recording.rotary else ())
    kinds = dict.fromkeys(bias.kind for bias in recording.biases.values())
    edits = [Edit("positions-zero", side) for side in sides]
    edits += [Edit("bias-off", kind) for kind in kinds]
    if not edits:
        raise InputError("Nothing was seen that tells positions apart in this model.")
    return tuple(edits)


def by_offset(attention: Attention, layer: int, head: int) -> ByDistance:
    """Mean, least and largest weight of a head [1, N] at each offset key - query.

    The mean runs over the queries that may look at such a key: cells that a mask closes count
    nowhere. Raises InputError for cross-attention, whose texts have no common positions, and where
    all cells are closed.
    """
    if attention.is_cross:
        raise InputError(
            "Cross-attention looks from one text into another: its keys stand at no offset."
        )
    weights, allowed = attention.weights(layer, head), attention.allowed(layer, head)
    if not allowed.any():
        raise InputError("All that this head could look at is hidden: it has no mean weight.")
    return by_distance(weights[None], allowed[None])
