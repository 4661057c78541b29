"""Positions in a pass: tables whose rows meet a sequence, turns, and another order."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transformer.positions.encodings import find_pairs
from transformer.recording import PositionalEncoding
from transformer.token import Token
from transformer.watch.capture.tensors import own_attributes, storage, tensors_in

# Tables of positions: rows of a table that meet a sequence, one for each place in it.
#
# What tells positions from other rows is which of them were taken: one after the other. They come
# from an embedding (GPT-2, BERT), from index_select (M2M100) or are a slice of what a module
# holds (the Annotated Transformer). What else was added before the first attention is compared
# with all tables afterwards: rows may have been cloned, taken by an index or scaled, and
# sinusoids made in the pass.

Path = Callable[[], str]
"""Tells which module is running."""

_ENOUGH = 16
"""Rows by which sinusoids are told from what was learned."""
_FEW = 4
"""Fewer rows could be sinusoids by chance."""
_MOST = 16
"""Additions that are remembered: a sequence is made of a few."""
_CLOSE = 1e-4
"""The largest distance of rows from those of a table, as a share of the largest."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows taken from a table."""

    table: Tensor
    """[P, D]"""
    ids: Tensor
    """The numbers of the rows; any shape, T of them."""


class Where(NamedTuple):
    """An addition of a pass: of a module's path, the number among those that may be of rows."""

    path: str
    number: int


@dataclass(frozen=True, eq=False)
class Added:
    """Rows as they were added to a sequence."""

    rows: Rows
    sequence: Tensor
    """The sequence that they were added to [T, D], a copy."""
    n_seen: int
    """The number of attentions called before."""
    where: Where | None = None
    """None: nobody asked."""
    operand: int = 0
    """The place of the rows among the two that were added."""

    @property
    def n_positions(self) -> int:
        return self.sequence.size(0)


@dataclass(frozen=True, eq=False)
class Addition:
    """An addition to a sequence, both copies [T, D], before it is known what it was."""

    added: Tensor
    sequence: Tensor
    n_seen: int
    where: Where | None
    operand: int


class Tables:
    """Notes down rows that are added to sequences during a pass."""

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self._added: list[Added] = []
        self._unknown: list[Addition] = []
        self._looked_up: list[Rows] = []
        self._modules = modules
        self._counted: Counter[str] = Counter()
        self._rows: list[tuple[Tensor, Rows]] = []
        """Rows looked up since the latest call of attention, and from where."""
        self.is_open = True
        """True: a sequence may be in the making: no attention was called since a lookup."""

    @cached_property
    def _held(self) -> dict[int, Tensor]:
        """Storage -> what a module holds and may be a table."""
        return {storage(each): each for it in self._modules for each in held_by(it)}

    def looked_up(self, result: Tensor, table: Any, ids: Any) -> None:
        if isinstance(table, Tensor) and isinstance(ids, Tensor) and table.dim() == 2:
            rows = Rows(table, ids)
            self._rows.append((result, rows))
            self._looked_up.append(rows)
            self.is_open = True

    def forget(self) -> None:
        """Attention was called: what is looked up for it has met its sequence by now."""
        self._rows.clear()
        self.is_open = False

    def addition(
        self,
        args: Sequence[Any],
        named: Mapping[str, Any],
        n_seen: int,
        where: Where | None = None,
    ) -> None:
        """Called before an addition, since some overwrite what they add to."""
        operands = self.operands(args, named)
        for place, (added, sequence) in enumerate((operands, operands[::-1]) if operands else ()):
            if not _fits(added, sequence):
                continue
            rows, copy = self._rows_of(added), _copy(sequence)
            if rows is not None:
                self._added.append(Added(rows, copy, n_seen, where, place))
            elif len(self._unknown) < _MOST:
                self._unknown.append(Addition(_copy(added), copy, n_seen, where, place))

    def operands(self, args: Sequence[Any], named: Mapping[str, Any]) -> list[Tensor]:
        """The two that an addition adds, where one may be rows of positions; else none."""
        if not self.is_open:
            return []
        tensors = [each for each in (*args, *named.values()) if isinstance(each, Tensor)]
        return tensors if len(tensors) == 2 and "alpha" not in named else []

    def where(self, args: Sequence[Any], named: Mapping[str, Any], path: Path) -> Where | None:
        """Number this addition, counted as the pass goes on; None where it may not be of rows."""
        operands = self.operands(args, named)
        if not operands or not (_fits(*operands) or _fits(*operands[::-1])):
            return None
        module = path()
        self._counted[module] += 1
        return Where(module, self._counted[module])

    def encodings(self, token_inputs: set[int]) -> list[Added]:
        """Rows of positions that were added. token_inputs: storages of ids that are tokens."""
        read = [it for it in self._looked_up if _is_of_tokens(it, token_inputs)]
        words = {storage(rows.table) for rows in read}
        tables = [it for place, it in self._held.items() if place not in words]
        encodings = [it for it in self._added if not _is_of_tokens(it.rows, token_inputs)]
        compared = ((it, _compared(it.added, tables)) for it in self._unknown)
        return encodings + [
            Added(rows, it.sequence, it.n_seen, it.where, it.operand)
            for it, rows in compared
            if rows
        ]

    def _rows_of(self, tensor: Tensor) -> Rows | None:
        place = storage(tensor)
        for result, rows in self._rows:
            if storage(result) == place:
                return rows
        held = self._held.get(place)
        return None if held is None else _slice_of(held, tensor)


def _slice_of(held: Tensor, part: Tensor) -> Rows | None:
    """Part of a parameter or buffer as rows [T, D] of a table [P, D], axes of size 1 anywhere.

    None where it is not made of whole rows.
    """
    width = part.size(-1)
    if held.size(-1) != width or held.numel() != max(held.shape[:-1]) * width:
        return None
    table, rows = held.detach().reshape(-1, width), part.detach().reshape(-1, width)
    first = (part.storage_offset() - held.storage_offset()) // width
    if not 0 <= first <= len(table) - len(rows):
        return None
    if not torch.equal(table[first : first + len(rows)], rows):
        return None
    return Rows(table, torch.arange(first, first + len(rows), device="cpu"))


def _fits(rows: Tensor, sequence: Tensor) -> bool:
    """Tell whether rows may be of one sequence [T, D], with axes of size 1 anywhere."""
    return (
        2 <= rows.dim() <= 4
        and sequence.is_floating_point()
        and rows.numel() > 0
        and rows.shape[-1:] == sequence.shape[-1:]
        and rows.numel() == sequence.numel()
        and rows.numel() == max(rows.shape[:-1]) * rows.size(-1)
    )


def are_positions(rows: Rows) -> bool:
    """Tell whether rows were taken one after the other; one row for all padding may follow."""
    ids = rows.ids.flatten()
    steps = ids[1:] - ids[:-1] == 1
    n = int(steps.long().cumprod(0).sum())  # steps until the first that is none
    rest = ids[n + 1 :]
    return (n > 0 or ids.numel() == 1) and bool((rest == rest[:1]).all())


def held_by(module: nn.Module) -> Iterator[Tensor]:
    """Yield what a module keeps that may be a table [..., P, D]: also in a plain attribute."""
    groups = (module._parameters, module._buffers, own_attributes(module))
    tensors = (each for group in groups for each in group.values())
    return (each for each in tensors if isinstance(each, Tensor) and each.dim() > 1)


def _copy(tensor: Tensor) -> Tensor:
    """[T, D]"""
    return tensor.detach().reshape(-1, tensor.size(-1)).clone()


def _is_of_tokens(rows: Rows, token_inputs: set[int]) -> bool:
    return storage(rows.ids) in token_inputs or not are_positions(rows)


def _compared(added: Tensor, tables: Iterable[Tensor]) -> Rows | None:
    """Rows [T, D] as those of a table, or as sinusoids; None where they are neither."""
    n_rows, width = added.shape
    for held in tables:
        is_table = held.size(-1) == width and held.numel() == max(held.shape[:-1]) * width
        if not is_table or not held.is_floating_point() or held.numel() < added.numel():
            continue
        table = held.detach().reshape(-1, width)
        place = _place_in(table.float(), added.float())
        if place is not None:
            first, factor = place
            return Rows(table * factor, torch.arange(first, first + n_rows, device="cpu"))
    if n_rows >= _FEW and is_sinusoidal(added):
        return Rows(added, torch.arange(n_rows, device="cpu"))
    return None


def _place_in(table: Tensor, rows: Tensor) -> tuple[int, float] | None:
    """Find where rows [T, D] follow each other in a table [P, D], and how many times as large."""
    at = int(rows.norm(dim=1).argmax())
    row = rows[at]
    alike = (table @ row) / (table.norm(dim=1) * row.norm()).clamp_min(1e-12)
    for place in (alike.abs() > 1 - _CLOSE).nonzero().flatten().tolist()[:_FEW]:
        first = place - at
        part = table[max(first, 0) : first + len(rows)]
        factor = float(table[place] @ row / table[place].square().sum())
        if part.shape == rows.shape and torch.allclose(
            factor * part, rows, rtol=_CLOSE, atol=_CLOSE * float(rows.abs().max())
        ):
            return first, factor
    return None


def is_sinusoidal(table: Tensor) -> bool:
    """Tell whether a table [P, D] turns in pairs, as sinusoids do and nothing learned does."""
    first = table[:_ENOUGH].detach()
    return bool(first[-1].any()) and find_pairs(first) is not None


def encoding_of(added: Added, tokens: tuple[Token, ...], n_before: int) -> PositionalEncoding:
    """Make what a recording keeps of it. n_before: tokens that came before these, from a cache."""
    rows = added.rows
    first = max(0, int(rows.ids.flatten()[0]) - n_before)  # some tables keep rows for other uses
    table = rows.table.detach()[first:]
    taken = rows.table.detach()[rows.ids.flatten()]
    return PositionalEncoding(
        tokens=tokens,
        embeddings=added.sequence,
        encodings=taken,
        table=table,
        sum=added.sequence + taken,
        scheme="sinusoidal" if is_sinusoidal(table) else "learned",
    )


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


# Positions that a model puts into another order: its rows are then other words than are named.


class Reordered:
    """Ids or states of a text, [T], [1, T] or [1, T, D], that were turned round or permuted."""

    def __init__(self, inputs: Iterable[object]) -> None:
        self._texts = [each for each in tensors_in(inputs) if 0 < each.dim() < 3]
        self._times: list[tuple[int, str]] = []

    def flipped(self, tensor: Tensor, axes: Sequence[int], n_seen: int) -> None:
        """torch.flip along these axes. n_seen: calls of attention before it."""
        axis = self._axis(tensor)
        if axis is not None and axis in (each % tensor.dim() for each in axes):
            self._times.append((n_seen, "flip"))

    def rolled(
        self, tensor: Tensor, shifts: Sequence[int], axes: Sequence[int], n_seen: int
    ) -> None:
        """torch.roll by these shifts along these axes."""
        axis, own = self._axis(tensor), [each % tensor.dim() for each in axes]
        if axis in own and shifts[own.index(axis)] % tensor.size(axis):
            self._times.append((n_seen, "roll"))

    def indexed(self, tensor: Tensor, indices: Sequence[Any], n_seen: int) -> None:
        """tensor[indices], where None stands for a whole axis."""
        axis = self._axis(tensor)
        order = None if axis is None or len(indices) <= axis else indices[axis]
        if isinstance(order, Tensor) and order.dtype != torch.bool and order.dim() == 1:
            places = torch.arange(len(order), device=order.device)
            is_order = len(order) > 1 and bool(torch.equal(order.sort().values, places))
            if is_order and not torch.equal(order, places):
                self._times.append((n_seen, "an index"))

    def notes(self, n_seen: int) -> tuple[str, ...]:
        """A sentence where that was before one of n_seen calls of attention; else nothing."""
        names = sorted({name for at, name in self._times if at < n_seen})
        if not names:
            return ()
        return (
            f"The model puts its positions into another order before attention ({names[0]}): "
            "rows and columns may be other tokens than those that they are named after.",
        )

    def _axis(self, tensor: Tensor) -> int | None:
        """The axis of the positions; None where a tensor is neither a text nor its states."""
        if tensor.is_floating_point():
            is_text = any(tensor.shape[:2] == (1, each.size(-1)) for each in self._texts)
            return 1 if tensor.dim() == 3 and is_text else None
        if any(tensor.shape == each.shape and torch.equal(tensor, each) for each in self._texts):
            return tensor.dim() - 1
        return None
