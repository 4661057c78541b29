"""Terms of a layer's output: linear functions of its joined heads, and what is made of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor


@dataclass(eq=False)
class Term:
    """A tensor [..., n] that is a linear function of the joined heads."""

    tensor: Tensor
    make: Callable[[], tuple[Tensor, Tensor | None]]
    """Gives its matrix [n, H * d_value] and its bias [n]."""
    sample: Tensor
    """Some of its rows, a copy [N, n]."""
    of: tuple["Term", ...] = ()
    """The terms it was made of; none where a matrix met the heads themselves."""
    is_inner: bool = False
    """True: another matrix may be on its way: one has met a term."""

    @cached_property
    def made(self) -> tuple[Tensor, Tensor | None]:
        return self.make()

    def all_of(self) -> Iterator["Term"]:
        """Itself, and whatever it was made of."""
        yield self
        for each in self.of:
            yield from each.all_of()


def after(matrix: Tensor, bias: Tensor | None, term: Term) -> tuple[Tensor, Tensor | None]:
    """Matrix and bias of a term that another matrix has met."""
    inner, before = term.made
    moved = None if before is None else matrix.detach() @ before.detach()
    return matrix.detach() @ inner.detach(), _plus(moved, bias)


def sum_of(a: Term, b: Term, factor: float) -> tuple[Tensor, Tensor | None]:
    """Matrix and bias of two terms, the second times a factor."""
    (one, bias), (other, another) = a.made, b.made
    moved = None if another is None else factor * another.detach()
    return one.detach() + factor * other.detach(), _plus(bias, moved)


def shift_of(
    term: Term, other: Tensor, factor: float, is_first: bool
) -> tuple[Tensor, Tensor | None]:
    """Matrix and bias of a term and an addend, of which the second is taken times a factor."""
    matrix, bias = term.made
    other = other.detach().flatten()
    if is_first:
        return matrix, _plus(bias, factor * other)
    return factor * matrix, _plus(None if bias is None else factor * bias, other)


def multiple_of(term: Term, by: Tensor, is_over: bool) -> tuple[Tensor, Tensor | None]:
    """Matrix and bias of a term times a number for each column, or divided by it."""
    matrix, bias = term.made
    factor = 1 / by.detach().flatten() if is_over else by.detach().flatten()
    return factor[:, None] * matrix.detach(), None if bias is None else factor * bias.detach()


def _plus(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return a if b is None else b
    return a.detach() + b.detach()
