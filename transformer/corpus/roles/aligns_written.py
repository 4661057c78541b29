"""Cross-attention's rows read by the word that each writes (AWO, Kobayashi et al. 2020)."""

from torch import Tensor

from transformer.corpus.roles.role import Role, Sides


def anchors(sides: Sides, rows: Tensor) -> Tensor | None:
    """Find the keys that spell the word of a row, bool [B, Q, K]: names, numbers, loan words.

    rows: the ids of the words that rows are read by, [B, Q]. Signs are left out: many heads that
    align nothing rest on the full stop.
    """
    if not sides.is_cross:
        return None
    return (rows[:, :, None] == sides.keys[:, None]) & sides.words[:, None]


ROLE = Role(
    name="aligns_written",
    title="Aligns the word it writes",
    cells=lambda sides: anchors(sides, sides.names),
    explain=(
        "Weight on a word of the source in the row that writes the same word: a name, a number, "
        "whatever both texts spell alike. Such words need no alignment made by people; beside "
        "the weight in the row that has read it, this tells by which of the two a head aligns."
    ),
    source="AWO in Kobayashi et al. 2020",
)
