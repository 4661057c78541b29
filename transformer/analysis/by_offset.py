"""The mean weight of a head by offset: how much it looks how far ahead or back."""

from transformer.inputs import InputError
from transformer.positions.relative_bias import ByDistance, by_distance
from transformer.recording import Attention


def by_offset(attention: Attention, layer: int, head: int) -> ByDistance:
    """Mean, least and largest weight of a head [1, N] at each offset key - query.

    The mean runs over the queries that may look at such a key: cells that a mask closes count
    nowhere. Raises InputError for cross-attention, whose texts have no common positions.
    """
    if attention.is_cross:
        raise InputError(
            "Cross-attention looks from one text into another: its keys stand at no offset."
        )
    weights, allowed = attention.weights(layer, head), attention.allowed(layer, head)
    return by_distance(weights[None], allowed[None])
