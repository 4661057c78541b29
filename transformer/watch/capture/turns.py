"""Turns in a pass: angles that it makes cosines of, and what queries and keys were made of.

That a model holds frequencies says nothing: some hold them and do not use them (Falcon beside
ALiBi), or scale positions first. So both ends of a turn are kept, and compared when somebody asks:
the rows that learned matrices have read, and the queries and keys that attention was given.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor

from transformer.positions.encodings import find_pairs
from transformer.recording.calls import Norm
from transformer.watch.capture.sources import Reading
from transformer.watch.capture.tensors import tensors_in

MOST_ROWS = 64
"""Rows that are kept of a longer text: the first, and others that are spread evenly."""


@lru_cache(maxsize=16)
def rows_kept(n: int) -> Tensor | None:
    """The numbers of the rows to keep of n; None: all."""
    if n <= MOST_ROWS:
        return None
    half = MOST_ROWS // 2
    with torch.inference_mode(False):  # it is kept for later passes, which may have gradients
        rest = torch.linspace(half, n - 1, half).round().long()
        return torch.cat([torch.arange(half), rest])


class Linear(NamedTuple):
    """A learned matrix and the rows that it has read, by reference where they are few."""

    rows: Tensor
    """[N, D], with axes of size 1 anywhere."""
    matrix: Tensor
    bias: Tensor | None
    is_turned: bool

    def result(self) -> Tensor:
        """Compute once more what it gave, in float32 at least: [N, n]."""
        rows = self.rows.reshape(-1, self.rows.size(-1))
        kind = torch.promote_types(rows.dtype, torch.float32)
        rows, matrix = rows.to(kind), self.matrix.detach().to(rows.device, kind)
        matrix = matrix.reshape(rows.size(-1), -1) if self.is_turned else matrix.mT
        result = rows @ matrix
        if self.bias is not None and self.bias.numel() == result.size(-1):
            result = result + self.bias.detach().flatten()
        return result


@dataclass(frozen=True, eq=False)
class Ends:
    """The rows that queries and keys of a call were made of, and of a product these themselves."""

    n_rows: int
    """The positions that were read."""
    reads: tuple[Linear, ...]
    """The latest first."""
    norms: tuple[Norm, ...]
    both: tuple[Tensor, Tensor] | None = None
    """Rows of the queries and keys of a product by hand [..., N, d]; None: the call has them, or
    their axes are not clear."""

    @property
    def places(self) -> Tensor:
        """The numbers of the rows that are kept [N]."""
        places = rows_kept(self.n_rows)
        return torch.arange(self.n_rows) if places is None else places


def last_rows(heads: Tensor, n_rows: int) -> Tensor | None:
    """Choose the rows to keep of n_rows that were read: they are the last of [..., T, d]."""
    if heads.size(-2) < n_rows or not heads.size(-1):
        return None
    rows, places = heads.detach()[..., heads.size(-2) - n_rows :, :], rows_kept(n_rows)
    return rows if places is None else rows.index_select(-2, places.to(rows.device))


def _operands(operands: Sequence[Any]) -> tuple[Tensor, Tensor] | None:
    """Queries and keys [..., T, d] of a product, (equation, q, k) or (q, k); None: not clear."""
    q, k = [*tensors_in(operands)][-2:]
    if not isinstance(operands[0], str):
        return q, k.mT
    terms, _, out = operands[0].replace(" ", "").partition("->")
    of_q, _, of_k = terms.partition(",")
    if "." in terms:
        of_q, of_k, out = (_spelled(each, n) for each, n in ((of_q, q), (of_k, k), (out, q)))
    inner = [it for it in of_q if it in of_k and it not in out]
    own = [it for it in of_q if it not in of_k and it in out]
    others = [it for it in of_k if it not in of_q and it in out]
    if not len(inner) == len(own) == len(others) == 1:
        return None
    shared = [it for it in of_q if it in of_k and it in out]
    axes = ((q, of_q, own), (k, of_k, others))
    if any(len(term) != len(shared) + 2 for _, term, _ in axes):
        return None
    first, second = (
        each.permute([term.index(it) for it in (*shared, *one, *inner)]) for each, term, one in axes
    )
    return first, second


def _spelled(term: str, tensor: Tensor) -> str:
    """Write the axes that dots stand for as digits, as many as a tensor has beside the others."""
    n = tensor.dim() - len(term.replace("...", ""))
    return term.replace("...", "0123456789"[10 - n :] if n > 0 else "")


def ends_of(
    n_rows: int,
    reads: Sequence[Reading],
    norms: tuple[Norm, ...],
    n_made: int,
    operands: Sequence[Any] = (),
) -> Ends:
    """Keep what may have made the queries [..., n_rows, d] and keys of a call, by reference where
    it is short.

    n_made: the numbers of a row's queries, keys and values: matrices before those that give as many
    are of other layers. operands: of a product by hand.
    """
    places, linear, tensors = rows_kept(n_rows), list[Linear](), list[Tensor]()
    for each in reversed(reads):
        tensor = each.tensor
        width = tensor.size(-1)
        is_known = any(tensor is other for other in tensors)
        if not width or tensor.numel() != n_rows * width or (n_made <= 0 and not is_known):
            continue  # a gate may have read what queries are made of, too
        n_made -= each.matrix.numel() // width
        tensors.append(tensor)
        if places is not None:
            tensor = tensor.reshape(-1, width).index_select(0, places.to(tensor.device))
        linear.append(Linear(tensor, each.matrix, each.bias, each.is_turned))
    of = _operands(operands) if operands else None
    q, k = (None, None) if of is None else (last_rows(each, n_rows) for each in of)
    return Ends(n_rows, tuple(linear), norms, None if q is None or k is None else (q, k))


def forms(rows: Tensor, width: int, norms: Iterable[Norm]) -> Iterator[Tensor]:
    """Yield rows [N, n] as a matrix gave them, and as norms leave them: of each head [n / d, d],
    or of a row as a whole.
    """
    yield rows
    n = rows.size(-1)
    for norm in norms:
        sizes = [size for size in (width, n) if n % size == 0 and norm.weight.numel() in (size, n)]
        for size in dict.fromkeys(sizes):
            parts = rows.unflatten(-1, (-1, size))
            yield from (each.flatten(-2) for each in _normed(norm, parts))
        if norm.weight.numel() == n:
            yield rows + norm.weight.detach().flatten()  # it is no norm's: XLNet's


def _normed(norm: Norm, parts: Tensor) -> Iterator[Tensor]:
    """Yield parts [N, C, d] after a norm; weights lie around 1, or around 0 (Gemma)."""
    shape = (-1, parts.size(-1))
    weight = norm.weight.detach().to(parts).reshape(shape)
    bias = 0.0 if norm.bias is None else norm.bias.detach().to(parts).reshape(shape)
    centred = parts - parts.mean(-1, keepdim=True)
    for values in (parts, centred):
        size = values.square().mean(-1, keepdim=True).sqrt().clamp_min(1e-30)
        for factor in (weight, 1 + weight):
            yield values / size * factor + bias


# Turns of queries and keys: they are multiplied with cosines that are made in the pass.
#
# That a model holds frequencies does not say so: Falcon keeps them beside ALiBi, and some models
# leave every fourth layer unturned.

_COSINES = frozenset({Tensor.cos, torch.cos, torch.polar})
_TIMES = frozenset({Tensor.mul, Tensor.mul_, torch.mul})
_CHANGING = frozenset(
    {
        *(Tensor.to, Tensor.type_as, Tensor.float, Tensor.repeat, Tensor.__getitem__),
        *(Tensor.repeat_interleave, torch.repeat_interleave, torch.cat, torch.stack),
    }
)
"""Functions that make cosines of cosines; views of them begin at the same place in memory."""
TURNING = _COSINES | _TIMES | _CHANGING
_TURNING_MOST = 8
_TURNING_FEW = 16
"""Rows by which turns are measured."""
_TURNING_CLOSE = 1e-3


def frequencies_of_angles(angles: Tensor) -> Tensor | None:
    """Find what turns by as much from each position to the next: [..., T, n] -> [n] or [n / 2].

    None where that is not so. An angle may be there twice, for both dimensions of its pair.
    """
    rows = angles.reshape(-1, angles.size(-1)).float() if angles.dim() > 1 else angles[:0]
    if len(rows) < 2:
        return None
    steps = rows[1] - rows[0]
    places = torch.arange(len(rows), device=rows.device)[:, None]
    if not torch.allclose(rows, rows[0] + places * steps, rtol=_TURNING_CLOSE, atol=_TURNING_CLOSE):
        return None
    return _of_pairs(steps)


def frequencies_of(table: Tensor, sines: Tensor | None = None) -> Tensor | None:
    """Measure how far a table [..., P, n] turns from a position to the next; None: it does not.

    It holds complex numbers, sines and cosines side by side, or the cosines, with a table of sines.
    """
    if table.is_complex():
        return _of_turns(table) if sines is None else None
    if sines is None:
        first = table.detach().reshape(-1, table.size(-1))[:_TURNING_FEW]
        pairs = find_pairs(first) if bool(first[-1].any()) else None
        return None if pairs is None else pairs.steps.abs()
    if sines is table or sines.is_complex() or sines.shape != table.shape:
        return None
    return _of_turns(torch.complex(table.float(), sines.float()))


def _of_turns(turns: Tensor) -> Tensor | None:
    """[..., P, n] complex -> [n] or [n / 2]; None unless each row turns as the one before it."""
    rows = turns.detach().reshape(-1, turns.size(-1))[:_TURNING_FEW]
    steps = rows[1] * rows[0].conj()
    is_still = torch.allclose(rows[0], torch.ones_like(rows[0]), atol=_TURNING_CLOSE)
    if not is_still or not torch.allclose(rows[1:], rows[:-1] * steps, atol=_TURNING_CLOSE):
        return None
    return _of_pairs(steps.angle().abs())


def _of_pairs(steps: Tensor) -> Tensor:
    """[n], or [n / 2] where each angle is there twice: in two halves, or as neighbours."""
    if steps.numel() % 2 == 0:
        for first, second in (steps.chunk(2), (steps[0::2], steps[1::2])):
            if torch.allclose(first, second):
                return first
    return steps


class Turns:
    """Notes down products with cosines during a pass."""

    def __init__(self) -> None:
        self.turned: set[int] = set()
        """Calls of attention, by their number, before which something was turned."""
        self.angles: list[Tensor] = []
        """The angles of the cosines [..., T, n], or of complex turns."""
        self._cosines: dict[int, Tensor] = {}
        """Place in memory -> the tensor, so that the place stays its own."""

    def __bool__(self) -> bool:
        """Tell whether the pass made any cosines."""
        return bool(self._cosines)

    def called(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        """A function of TURNING was called, before attention number n_seen."""
        if func in _COSINES:
            self._cosines[result.data_ptr()] = result
            if len(self.angles) < _TURNING_MOST:
                self.angles.append(args[-1].detach())
        elif self._cosines:
            self._after(func, result, args, n_seen)

    def _after(self, func: Any, result: Any, args: Sequence[Any], n_seen: int) -> None:
        first, second = args[0], args[1] if len(args) > 1 else None
        if isinstance(first, list | tuple):  # cat and stack
            first, second = first[0], None
        is_first, is_second = self._is_made_of(first), self._is_made_of(second)
        if not is_first and not is_second:
            return
        if func in _TIMES and isinstance(second, Tensor) and not (is_first and is_second):
            cosines, other = (first, second) if is_first else (second, first)
            if isinstance(other, Tensor) and other.numel() >= cosines.numel() > 1:
                self.turned.add(n_seen)
                return
        self._cosines[result.data_ptr()] = result

    def _is_made_of(self, value: Any) -> bool:
        return isinstance(value, Tensor) and value.data_ptr() in self._cosines
