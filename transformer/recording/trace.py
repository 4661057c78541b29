"""Traces of a call: what learned matrices read before it, and where in the pass it was.

Of what was read a row is copied, so that queries and values can be computed from it once more.
"""

from typing import NamedTuple

from torch import Tensor


class States(NamedTuple):
    """A tensor that learned matrices have read."""

    number: int
    """The number among the tensors of a pass: views of one have the same."""
    first: Tensor
    """Its first row [D], a copy."""
    n_rows: int


class Read(NamedTuple):
    """A learned matrix that has read states."""

    states: States
    matrix: Tensor
    """[n, D] by reference; or [D, ...] where it is turned."""
    bias: Tensor | None
    is_turned: bool

    def row(self, first: Tensor) -> Tensor:
        """Compute what it gives for a row [D] -> [n]."""
        matrix = self.matrix.detach()
        matrix = matrix.reshape(len(first), -1).mT if self.is_turned else matrix
        if matrix.dtype != first.dtype:  # as autocast has it
            matrix, first = matrix.float(), first.float()
        row = matrix @ first
        is_whole = self.bias is not None and self.bias.numel() == row.numel()
        return row + self.bias.detach().flatten() if self.bias is not None and is_whole else row


class Norm(NamedTuple):
    """The parameters of a module that may norm queries or keys, by reference."""

    weight: Tensor
    bias: Tensor | None


class Firsts(NamedTuple):
    """Copies of the first query and the first key of all heads [..., d].

    None where an axis is not clear, or where the call keeps them itself.
    """

    query: Tensor | None = None
    key: Tensor | None = None


NO_ROWS = Firsts()


class Trace(NamedTuple):
    """A call of attention as the pass has shown it."""

    module: str
    """The path of the module that called it."""
    run: int
    """The number of the run of a module, counted over the pass."""
    text: int
    """The number of texts as long as its queries that the pass had read before it, by one table."""
    reads: tuple[Read, ...]
    """The latest before it."""
    given: frozenset[int] = frozenset()
    """Numbers of states that a module under way was given."""
    firsts: Firsts = NO_ROWS
    norms: tuple[Norm, ...] = ()
    """The norms in the module that called it, and in the one around that."""
    earlier: tuple[Read, ...] = ()
    """The reads before these: what is read may be made of a smaller state, a latent."""

    @property
    def states(self) -> set[int]:
        """Numbers of the states that were read for it, or shortly before."""
        return {read.states.number for read in self.reads}
