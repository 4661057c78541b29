"""A head's dependence on positions: what changes in where it looks when these are changed.

Two runs over the same text are compared row by row. A row is the query at one position; where
words were swapped, another word stands there.
"""

from collections.abc import Iterable, Sequence

from torch import Tensor, stack

from transformer.analysis.metrics.comparison import jensen_shannon_of_heads
from transformer.checkpoint import Checkpoint
from transformer.edits.edit import Edit
from transformer.inputs import InputError
from transformer.positions.relative_bias import ByDistance, by_distance
from transformer.recording import Attention, Recording
from transformer.recording.ours import record
from transformer.token import Token


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
