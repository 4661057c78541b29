"""Positions in a pass: tables whose rows meet a sequence, and another order."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from transformer.positions.encodings import find_pairs
from transformer.recording import PositionalEncoding
from transformer.token import Token
from transformer.watch.capture.tensors import own_attributes, storage

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
    """Rows as they were added to a sequence, and what else was added to the two."""

    rows: Rows
    sequence: Tensor
    """The sequence that they were added to, without other positions [T, D], a copy."""
    n_seen: int
    """The number of attentions called before."""
    where: Where | None = None
    """None: nobody asked."""
    operand: int = 0
    """The place of the rows among the two that were added."""
    further: "tuple[Added, ...]" = ()
    """Other rows that were added to the same sequence."""

    @property
    def n_positions(self) -> int:
        return self.sequence.size(0)

    @property
    def taken(self) -> Tensor:
        """The rows themselves [T, D]."""
        return self.rows.table.detach()[self.rows.ids.flatten()]

    @property
    def total(self) -> Tensor:
        """The sum of all [T, D]."""
        return self.sequence + sum(each.taken for each in (self, *self.further))


@dataclass(frozen=True, eq=False)
class Addition:
    """An addition to a sequence, both copies [T, D]."""

    number: int
    """It is there twice, each of the two as what was added."""
    rows: Rows | None
    """None: it is not known yet what was added."""
    added: Tensor
    sequence: Tensor
    n_seen: int
    where: Where | None
    operand: int


class Tables:
    """Notes down rows that are added to sequences during a pass."""

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        self._additions: list[Addition] = []
        self._n_additions = self._n_unknown = 0
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
        self._n_additions += 1
        for place, (added, sequence) in enumerate((operands, operands[::-1]) if operands else ()):
            if not _fits(added, sequence):
                continue
            rows = self._rows_of(added)
            self._n_unknown += rows is None
            if rows is not None or self._n_unknown <= _MOST:
                both = _copy(added), _copy(sequence)
                self._additions.append(
                    Addition(self._n_additions, rows, *both, n_seen, where, place)
                )

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
        positions = {
            (it.number, it.operand): Added(rows, it.sequence, it.n_seen, it.where, it.operand)
            for it in self._additions
            for rows in [_compared(it.added, tables) if it.rows is None else it.rows]
            if rows and (it.rows is None or not _is_of_tokens(rows, token_inputs))
        }
        result: list[Added] = []
        met: set[tuple[int, int]] = set()
        for key, added in positions.items():
            if added.n_positions == 1:  # any row of a table may be one of positions
                result.append(added)
            elif key not in met:
                whole, others = self._followed(key, added, positions)
                met |= others
                result.append(whole)
        return result

    def _followed(
        self, first: tuple[int, int], added: Added, positions: Mapping[tuple[int, int], Added]
    ) -> tuple[Added, set[tuple[int, int]]]:
        """Follow a sum through the additions after it, which may be of positions as well.

        Gives what all of them are together, and which of the positions are in it.
        """
        number, operand = first
        words, total, further = added.sequence, added.sequence + added.taken, list[Added]()
        met, twin = {first}, (number, 1 - operand)
        if twin in positions:  # the sequence is one of positions itself: the words come later
            words, further = torch.zeros_like(words), [positions[twin]]
            met.add(twin)
        for each in self._additions:
            is_next = each.number > number and each.n_seen == added.n_seen
            if not is_next or not _is_same(each.sequence, total):
                continue
            number, key = each.number, (each.number, each.operand)
            total = total + each.added
            if key in positions:
                further.append(positions[key])
                met.add(key)
            else:
                words = words + each.added
        return replace(added, sequence=words, further=tuple(further)), met

    def _rows_of(self, tensor: Tensor) -> Rows | None:
        place = storage(tensor)
        for result, rows in self._rows:
            if storage(result) == place:
                return rows
        held = self._held.get(place)
        return None if held is None else _slice_of(held, tensor)


def _is_same(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and torch.equal(one, other.to(one.dtype))


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
    is_moving = not bool((added == added[:1]).all())  # a segment's rows are all one
    if n_rows >= _FEW and is_moving and is_sinusoidal(added):
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
    every = (added, *added.further)
    tables = [
        # Some tables keep rows for other uses before those of positions.
        each.rows.table.detach()[max(0, int(each.rows.ids.flatten()[0]) - n_before) :]
        for each in every
    ]
    table, taken = tables[0], added.taken
    for each, other in zip(added.further, tables[1:], strict=True):
        n = min(len(table), len(other))
        table, taken = table[:n] + other[:n], taken + each.taken
    return PositionalEncoding(
        tokens=tokens,
        embeddings=added.sequence,
        encodings=taken,
        table=table,
        sum=added.sequence + taken,
        scheme="sinusoidal" if is_sinusoidal(table) else "learned",
    )
