"""The special token that ends a text, where heads rest that have nothing to say."""

from torch import Tensor

from transformer.corpus.roles.role import Role, Sides


def end_token(sides: Sides) -> Tensor | None:
    """Find the last key, where it is special and not the only one: bool [B, Q, K]."""
    last = (sides.n_keys - 1)[:, None]
    is_end = sides.special.gather(1, last) & (last > 0)  # [B, 1]
    at = sides.keys.new_zeros(sides.keys.shape).scatter(1, last, 1) > 0
    return (at & is_end)[:, None].expand(-1, sides.queries.size(1), -1)


ROLE = Role(
    name="end",
    title="On the end token",
    cells=end_token,
    explain="Weight on the special token that ends the text, where there is one.",
    source="Clark et al. 2019, section 3",
)
