"""Cross-attention's rows read by the word that each has read (AWI, Kobayashi et al. 2020)."""

from transformer.corpus.roles.aligns_written import anchors
from transformer.corpus.roles.role import Role

ROLE = Role(
    name="aligns_read",
    title="Aligns the word it has read",
    cells=lambda sides: anchors(sides, sides.queries),
    explain=(
        "Weight on a word of the source in the row that has just read the same word, as the last "
        "one written: a name, a number, whatever both texts spell alike. Where it is above the "
        "weight in the row that writes the word, a head aligns by what was read."
    ),
    source="AWI in Kobayashi et al. 2020",
)
