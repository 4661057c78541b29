"""The output of a layer: all that is made of its heads until a residual takes it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from transformer.recording import Sample, sampled
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.place import Run
from transformer.watch.capture.tensors import storage

# Terms of a layer's output: linear functions of its joined heads, and what is made of them.


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


# The output of a layer: all that is made of its heads until a residual takes it.
#
# A matrix that meets the joined heads gives a term. Terms that are added are one matrix (LoRA),
# and so are those that are scaled or that another matrix meets (B A). Where a gate or an
# activation comes in between, no one matrix says what the layer gave.

SEVERAL = "what its heads give meets more than one matrix, so W_O is not one"
_MOST = 64
"""Operations after which nothing more is expected: the layer gave what was not followed."""


class Output:
    """Follows the heads of one call, until the module that attends has returned."""

    def __init__(self, seen: Seen, joined: Tensor, run: Run, factor: Tensor | None) -> None:
        """joined: what the heads gave, side by side [..., H * d_value]. run: of the module.

        factor: of each of these numbers, which they were multiplied by before; None: by nothing.
        """
        self.seen, self._joined, self._run, self._factor = seen, joined, run, factor
        self._queries = sampled(seen.sizes[1])
        self._terms: list[Term] = []
        self._bent: list[Tensor] = []
        """Tensors made of the heads that are no linear function of them."""
        self._is_gated = False
        self._taken: Term | None = None
        self._rows: Tensor | None = None
        """Some rows of what the layer gave."""
        self._n_steps = 0
        self.is_open = True

    def joins(self, matrix: Tensor, bias: Tensor | None, result: Tensor) -> None:
        """A matrix [n, H * d_value] has met the joined heads."""
        factor = self._factor
        self._put(result, lambda: (matrix if factor is None else matrix * factor, bias))

    def is_joined(self, tensor: Tensor) -> bool:
        """Tell whether it is what the heads gave, side by side."""
        return _is_same(tensor, self._joined)

    def met(self, tensor: Tensor, matrix: Tensor, bias: Tensor | None, result: Tensor) -> None:
        """A matrix [n, m] has met something: what is made of the heads, or not."""
        if self._is_over(tensor):
            return
        term = self._term(tensor)
        if term is not None and matrix.size(-1) == term.tensor.size(-1):
            self._put(result, lambda: after(matrix, bias, term), (term,), is_inner=True)
        elif self._is_bent(tensor):
            self._bent.append(result)

    def added(self, a: Tensor, b: Tensor, result: Tensor, factor: float) -> None:
        """Two tensors were added; factor: of the second, -1.0 where it was taken away."""
        if self._is_over(a, b):
            return
        first, second = self._term(a), self._term(b)
        if first is not None and second is not None:
            if first.tensor.size(-1) == second.tensor.size(-1):
                self._put(result, lambda: sum_of(first, second, factor), (first, second))
            return
        term, other = (first, b) if first is not None else (second, a)
        if term is not None and other.numel() == term.tensor.size(-1) < term.tensor.numel():
            self._put(result, lambda: shift_of(term, other, factor, term is first), (term,))
        elif term is not None and (self._is_bent(other) or not self._is_all(term)):
            self._bend(result)  # of something that the heads have met, too
        elif term is not None:
            self._take(term.tensor)
        elif self._is_bent(a) and self._is_bent(b):
            self._bend(result)
        elif self._is_bent(a) or self._is_bent(b):
            self._take(a if self._is_bent(a) else b)

    def scaled(self, a: Tensor, b: Tensor, result: Tensor, *, is_over: bool) -> None:
        """Two tensors were multiplied; is_over: divided."""
        if self._is_over(a, b):
            return
        first, second = self._term(a), self._term(b)
        term, by = (first, b) if first is not None else (second, a)
        if term is None or (first is not None and second is not None):
            if first is not None or any(self._is_bent(it) or self._is_part(it) for it in (a, b)):
                self._bend(result)
            return
        width = term.tensor.size(-1)
        if by.numel() == 1 or (by.numel() == width == by.size(-1) < term.tensor.numel()):
            self._put(
                result, lambda: multiple_of(term, by, is_over), (term,), is_inner=term.is_inner
            )
        elif by.size(-1) == 1 and is_norm_of(term.tensor, by, is_over):
            self._take(term.tensor)
        else:
            self._bend(result)

    def bent(self, tensor: Tensor, result: Tensor, *, is_gate: bool) -> None:
        """A function that is not linear was called. is_gate: of two halves of what it is given."""
        if self._is_over(tensor):
            return
        if self._term(tensor) is not None or self._is_bent(tensor) or self._is_part(tensor):
            self._bent.append(result)
            self._is_gated = self._is_gated or is_gate

    def put_together(self, parts: Sequence[Tensor], result: Tensor) -> None:
        """Tensors were put side by side, or after each other."""
        if self._is_over(*parts):
            return
        used = next((it for it in parts if self._term(it) or self._is_bent(it)), None)
        if used is not None and used.size(-1) == result.size(-1):
            self._take(used)
        elif used is not None:
            self._bend(result)

    def dropped(self, tensor: Tensor, result: Tensor) -> None:
        """Dropout gave another tensor, where it is at work."""
        if storage(result) == storage(tensor) or not self._goes_on():
            return
        term = self._term(tensor)
        if term is not None:
            self._terms.append(Term(result, lambda: term.made, term.sample, (term,), term.is_inner))
        elif self.is_joined(tensor):
            self._bent.append(result)

    def normed(self, tensor: Tensor) -> None:
        """A norm took something: what the layer gave stands before it."""
        if self._goes_on() and self._term(tensor) is not None:
            self._take(tensor)

    def settle(self) -> None:
        """Nothing more is made of the heads: say which matrix joins them."""
        if not self.is_open:
            return
        self.is_open = False
        self._run.forget()
        term = self.joining()
        if term is None:
            self.seen.several = SEVERAL
            return
        self.seen.several = ""
        self.seen.projection, bias = term.made
        if self.seen.sample is not None:
            rows = term.sample if self._rows is None else self._rows
            self.seen.sample = Sample(self._queries, rows, bias)

    def joining(self) -> Term | None:
        """The term that the layer gave; None where that is more than one matrix of the heads."""
        if self._is_gated:
            return None
        taken = self._taken or self._last()
        if taken is None:
            return None
        return taken if self._taken is None or self._is_all(taken) else None

    def _is_all(self, term: Term) -> bool:
        """Tell whether whatever a matrix made of the heads went into it."""
        used = set(map(id, term.all_of()))
        return all(id(each) in used for each in self._terms)

    def _last(self) -> Term | None:
        """Find the term that all others went into, where nothing has used what the layer gave."""
        inner = {id(each) for term in self._terms for each in term.of}
        outer = [each for each in self._terms if id(each) not in inner]
        firsts = [each for each in self._terms if not each.of]
        return outer[0] if len(outer) == 1 else firsts[0] if len(firsts) == 1 else None

    def _is_over(self, *tensors: Tensor) -> bool:
        """Tell whether the module has returned: what is used of it afterwards is what it gave."""
        if not self._goes_on():
            return True
        used = next((it for it in tensors if self._term(it) or self._is_bent(it)), None)
        if used is None or self._run.is_going_on():
            return False
        self._take(used)
        return True

    def _take(self, tensor: Tensor) -> None:
        """Note that what the layer gave was taken."""
        self._taken = self._term(tensor)
        if self._taken is None:
            self._is_gated = True
            self._rows = _sampled_rows(tensor, self._queries)
        else:
            self._rows = self._taken.sample
        self.settle()

    def _put(
        self,
        result: Tensor,
        make: Callable[[], tuple[Tensor, Tensor | None]],
        of: tuple[Term, ...] = (),
        *,
        is_inner: bool = False,
    ) -> None:
        rows = _sampled_rows(result, self._queries)
        self._terms.append(Term(result, make, rows, of, is_inner))

    def _bend(self, result: Tensor) -> None:
        self._is_gated = True
        self._bent.append(result)

    def _goes_on(self) -> bool:
        self._n_steps += 1
        if self.is_open and self._n_steps > _MOST:
            self.settle()
        return self.is_open

    def _term(self, tensor: Tensor) -> Term | None:
        """Find the term that it is, by where its numbers lie."""
        return next((it for it in reversed(self._terms) if _is_same(tensor, it.tensor)), None)

    def _is_bent(self, tensor: Tensor) -> bool:
        return any(storage(each) == storage(tensor) for each in self._bent)

    def _is_part(self, tensor: Tensor) -> bool:
        """Tell whether it is some columns of what a matrix made of the heads."""
        return any(
            storage(it.tensor) == storage(tensor) and tensor.size(-1) < it.tensor.size(-1)
            for it in self._terms
            if tensor.dim() > 1 and not it.is_inner
        )


def rows_of(tensor: Tensor, queries: Tensor) -> Tensor:
    """A copy of some rows of [..., T, n]."""
    tensor = tensor.detach()
    if len(queries) == tensor.size(-2):
        return tensor.clone()
    return tensor[..., queries.to(tensor.device), :]


def _sampled_rows(tensor: Tensor, queries: Tensor) -> Tensor:
    """The same of what a layer gave [..., T, D], whatever axes of 1 it has."""
    return rows_of(tensor.reshape(-1, tensor.size(-1)), queries)


def _is_same(a: Tensor, b: Tensor) -> bool:
    return a is b or (a.numel() == b.numel() and a.data_ptr() == b.data_ptr())


def is_norm_of(tensor: Tensor, by: Tensor, is_over: bool) -> bool:
    """Tell whether each row is multiplied by one over its length: an RMS norm, not a gate."""
    rows = tensor.detach().float().reshape(-1, tensor.size(-1))
    factors = by.detach().float().flatten()
    if len(factors) != len(rows):
        return False
    squares = (factors if is_over else 1 / factors).square()  # the mean square, and an epsilon
    more = squares - rows.square().mean(-1)
    return bool(((more - more.mean()).abs() <= 0.01 * squares).all())
