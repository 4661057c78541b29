"""Turns of queries and keys, measured by their numbers before and after (Su et al. 2021).

Nothing here knows who turned them, or by which table: pairs of dimensions keep their length, and
the angle between what a matrix gave and what attention read is that of the position. Which
dimensions are a pair, halves or neighbours, all of them or some, is found by their lengths.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.in_a_line import in_a_line

# Layouts: which dimensions of a head turn together.


class Layout(NamedTuple):
    """The dimensions of a head that turn, and how they are pairs."""

    first: int
    """The first dimension that turns."""
    n: int
    """The number of them; 0: none turns."""
    are_neighbours: bool = False
    """True: a pair is next to each other before it is turned; else in two halves."""
    become_neighbours: bool = False
    """The same of what it is turned to: DeepSeek's pairs move from one to the other."""

    def split(self, heads: Tensor, *, is_turned: bool) -> tuple[Tensor, Tensor]:
        """[..., d] -> the pairs that turn, as complex numbers [..., n / 2], and all others."""
        block = heads[..., self.first : self.first + self.n]
        are_neighbours = self.become_neighbours if is_turned else self.are_neighbours
        both = (block[..., 0::2], block[..., 1::2]) if are_neighbours else block.chunk(2, -1)
        rest = [heads[..., : self.first], heads[..., self.first + self.n :]]
        pairs = torch.complex(*both) if self.n else block.to(torch.complex128)
        return pairs, torch.cat(rest, -1)


STILL = Layout(0, 0)


def layouts(d_head: int) -> Iterator[Layout]:
    """Yield all dimensions first, then the first or the last of them, as many as are usual."""
    d_even = d_head - d_head % 2
    yield Layout(0, d_even, True, True)
    yield Layout(0, d_even)
    yield Layout(0, d_even, True, False)
    for n in _sizes(d_head):
        for first in (0, d_head - n):
            yield Layout(first, n)
            yield Layout(first, n, True, False)


def _sizes(d_head: int) -> list[int]:
    """List how many of the dimensions may turn: the usual numbers, and others between them."""
    step = 2 if d_head <= _SMALL else max(2, d_head // 8)
    usual = [d_head // 2, d_head // 4, 2 * d_head // 5, 3 * d_head // 4, d_head // 3]
    every = dict.fromkeys((*usual, *range(d_head - d_head % 2 - step, 0, -step)))
    return [n for n in every if 0 < n < d_head - d_head % 2 and n % 2 == 0]


_SMALL = 32
"""Dimensions of heads of which any number may turn: of more, too many would be tried."""


# Turns: the angles by which the rows of heads were turned.


@dataclass(frozen=True, eq=False)
@in_a_line
class Turn:
    """The turn of the rows of all heads, pair by pair."""

    layout: Layout
    ratio: Tensor
    """complex [N, n / 2] of size 1: e^(i angle) of each row and pair."""
    sizes: Tensor
    """[N, n / 2] how much there was to turn, relative to the mean: little says little."""
    factor: float = 1.0
    """The factor of what turned beside that of what did not; NaN where all did, or it is free."""
    is_even: bool = True
    """False: rows or pairs were scaled by different factors beside (xPos)."""

    @property
    def is_still(self) -> bool:
        return self.layout.n == 0


@dataclass(frozen=True)
class Close:
    """The distance of numbers that are the same, by the type that they were computed in."""

    same: float
    """The share of what was not turned that may be missed, as the root of its squares."""
    turned: float
    """The same of what was; and of angles, in radians."""
    alike: float
    """The most that the cosine of squared lengths is below 1."""


CLOSE = {
    torch.float64: Close(1e-5, 1e-3, 1e-4),
    torch.float32: Close(1e-5, 1e-3, 1e-4),
    torch.float16: Close(5e-3, 0.02, 2e-3),
    torch.bfloat16: Close(2e-2, 0.08, 1e-2),
}
_FINE = 5e-6
"""Radians by which an angle may miss what it is said to be, in float32."""


def turn_of(
    heads: Tensor,
    forms: Iterable[Tensor],
    first: Sequence[Layout],
    close: Close,
    *,
    is_brief: bool = False,
) -> Turn | None:
    """Measure how heads [H, N, d] were turned; None where they are no turn of any row.

    forms: rows [N, n] of which they may have been made, each by itself. first: layouts to try
    before all others. is_brief: whether to try no more than the commonest ones.
    """
    forms, heads = [each.double() for each in forms], heads.double()
    uneven, tried = None, [STILL, *first, *layouts(heads.size(-1))]
    for layout in dict.fromkeys(tried[: len(first) + 4] if is_brief else tried):
        for rows in forms:
            for is_free in (False, True):
                few = heads[:1, :_FEW], rows[:_FEW]  # most are told by a few rows of one head
                if _part_of(*few, layout, close, is_free, len(heads)) is None:
                    continue
                plain = _part_of(heads, rows, layout, close, is_free=is_free)
                turn = None if plain is None else _measured(plain, heads, layout, close, is_free)
                if turn is not None and turn.is_even:
                    return turn
                uneven = uneven or turn
    return (None if is_brief else _by_parts(heads, forms, close)) or uneven


_FEW = 8
"""Rows by which most forms are ruled out."""


def _by_parts(heads: Tensor, forms: Sequence[Tensor], close: Close) -> Turn | None:
    """Measure heads of which another matrix has made what turns (multi-head latent attention)."""
    d_head = heads.size(-1)
    for n in _sizes(d_head):
        for first in (0, d_head - n):
            part = heads[..., first : first + n]
            rest = torch.cat([heads[..., :first], heads[..., first + n :]], -1)
            if not any(_part_of(rest, rows, STILL, close) is not None for rows in forms):
                continue
            for whole in (STILL, Layout(0, n, True, True), Layout(0, n), Layout(0, n, True, False)):
                for rows in forms:
                    plain = _part_of(part, rows, whole, close)
                    turn = None if plain is None else _measured(plain, part, whole, close, False)
                    if turn is not None:
                        return _of_whole(turn, first, d_head)
    return None


def _of_whole(turn: Turn, first: int, d_head: int) -> Turn:
    """The turn of a part as that of whole heads, whose other dimensions do not turn."""
    layout = turn.layout
    if turn.is_still:
        return turn
    if not layout.become_neighbours or first % 2:
        layout = layout._replace(first=first)
        return Turn(layout, turn.ratio, turn.sizes, torch.nan, turn.is_even)
    ones = turn.ratio.new_ones(len(turn.ratio), d_head // 2)
    pairs = slice(first // 2, first // 2 + turn.ratio.size(-1))
    ratio, sizes = ones.clone(), ones.real.clone()
    ratio[:, pairs], sizes[:, pairs] = turn.ratio, turn.sizes
    whole = Layout(0, 2 * (d_head // 2), True, True)
    return Turn(whole, ratio, sizes, torch.nan, turn.is_even)


def _part_of(
    heads: Tensor,
    rows: Tensor,
    layout: Layout,
    close: Close,
    is_free: bool = False,
    n_heads: int = 0,
) -> Tensor | None:
    """Find the part [H, N, d] of rows [N, n] that each head is, by the lengths of its pairs.

    is_free: whether each row may have a length of its own, as a norm gives it. n_heads: of which
    these are some; 0: they are all.
    """
    parts = _parts(rows, heads.size(-1), n_heads or len(heads))  # [C, N, d]
    if parts is None:
        return None
    alike = []
    of_heads = _squares(heads, layout, is_turned=True)
    of_parts = _squares(parts, layout, is_turned=False)
    if is_free:
        one, other = torch.cat(of_heads, -1), torch.cat(of_parts, -1)
        if one.size(-1) < 2:
            return None
        alike.append(_cosines(_unit(one).flatten(1), _unit(other).flatten(1)))
    else:
        pairs = zip(of_heads, of_parts, strict=True)
        alike += [_cosines(a.flatten(1), b.flatten(1)) for a, b in pairs if a.numel()]
    cosines = torch.stack(alike).amin(0)  # [H, C]
    best, at = cosines.max(-1)
    return parts[at] if bool((best >= 1 - close.alike).all()) else None


def _parts(rows: Tensor, width: int, n_heads: int) -> Tensor | None:
    """Cut rows [N, n] into all that may be a head: neighbours, or every n / d-th -> [C, N, d]."""
    n = rows.size(-1)
    if n < width:
        return None
    step = gcd(n, width) if n % n_heads else gcd(n, width, n // n_heads)
    if step * 4 < width:  # too many
        return None
    parts = rows.unfold(-1, width, step).transpose(0, 1)
    if n % width or n == width:
        return parts
    return torch.cat([parts, rows.unflatten(-1, (width, -1)).permute(2, 0, 1)])


def _squares(heads: Tensor, layout: Layout, *, is_turned: bool) -> tuple[Tensor, Tensor]:
    pairs, rest = layout.split(heads, is_turned=is_turned)
    return pairs.abs().square(), rest.square()


def _unit(values: Tensor) -> Tensor:
    return values / values.norm(dim=-1, keepdim=True).clamp_min(1e-300)


def _cosines(one: Tensor, other: Tensor) -> Tensor:
    return _unit(one) @ _unit(other).mT


def _measured(
    plain: Tensor, heads: Tensor, layout: Layout, close: Close, is_free: bool
) -> Turn | None:
    """Compare each head with what it was made of, both [H, N, d]; None: it is no turn of that."""
    before, rest_before = layout.split(plain, is_turned=False)
    after, rest_after = layout.split(heads, is_turned=True)
    axes = (-1,) if is_free else (-1, -2)
    factor, still = (_factor(*each, axes) for each in ((before, after), (rest_before, rest_after)))
    if is_free and rest_after.size(-1):
        factor = still = _factor(plain, heads, axes)
    if _missed(still * rest_before, rest_after) > close.same:
        return None
    if not layout.n:
        return Turn(layout, before[0], before[0].real)
    before = before * factor
    sizes = before.abs().square().sum(0)  # [N, n / 2]
    ratio = (after * before.conj()).sum(0) / sizes.clamp_min(1e-300)
    if _missed(ratio * before, after) > close.turned:
        return None
    sizes = sizes / sizes.mean().clamp_min(1e-300)
    uneven = float(((ratio.abs() - 1).abs() * sizes.sqrt()).amax())
    if len(heads) == 1 and uneven > close.turned:  # any pair is another one, turned and scaled
        return None
    has_rest = bool(rest_after.size(-1)) and not is_free
    share = float((factor / still).mean()) if has_rest else torch.nan
    unit = ratio / ratio.abs().clamp_min(1e-300)
    return Turn(layout, unit, sizes, share, uneven <= close.turned)


def _factor(before: Tensor, after: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Compute how many times as long it has become: [H, N, n] twice -> [H, 1 or N, 1]."""
    lengths = [each.abs().square().sum(axes, keepdim=True).sqrt() for each in (after, before)]
    return lengths[0] / lengths[1].clamp_min(1e-300)


def _missed(expected: Tensor, values: Tensor) -> float:
    """The part of values that is not as expected: a root of squares."""
    missed = (expected - values).abs().square().sum() / values.abs().square().sum().clamp_min(
        1e-300
    )
    return float(missed.sqrt())


def are_alike(one: Turn, other: Turn, close: Close) -> bool:
    """Tell whether two turn by the same angles, which products of both then do not hold."""
    if one.ratio.shape != other.ratio.shape or one.layout != other.layout:
        return False
    off = (one.ratio * other.ratio.conj()).angle().abs()
    return float((off * torch.minimum(one.sizes, other.sizes).sqrt()).amax()) <= 2 * close.turned


# Frequencies: angles that are in proportion to a position.


@dataclass(frozen=True, eq=False)
class Turned:
    """Angles as those of positions."""

    frequencies: Tensor
    """[R/2] radians that a pair turns from one position to the next."""
    factor: float
    positions: tuple[int, ...] = ()
    """The positions of the rows; empty where they follow each other."""


@dataclass(frozen=True, eq=False)
class Guess:
    """Frequencies that a model holds or has used, which its turns may be of."""

    frequencies: Tensor
    factor: float = 1.0
    sort: str = ""
    """The sort of layers that it is held for, "sliding_attention" say; empty: for all."""


def turned_by(turn: Turn, places: Tensor, guesses: Sequence[Guess], close: Close) -> Turned | None:
    """Find the frequencies of a turn; None where its angles are not those of one position a row.

    places: [N] the numbers of the rows. guesses: frequencies that agree with what was measured are
    taken as they are, to the last digit, or as many times as large as was measured.
    """
    steps = _steps(turn, places, close)
    if steps is None:
        return _at_other_positions(turn, places, guesses, close)
    missed = _error(turn, steps, places)
    if missed > close.turned:
        return _at_other_positions(turn, places, guesses, close)
    enough = _FINE if close.turned <= CLOSE[torch.float32].turned else close.same
    limit = enough + 4 * missed
    for guess in guesses:
        for spread in _spread(guess.frequencies, steps):
            times = _times(turn, places, spread, steps, limit)
            if times is not None:
                own = guess.frequencies
                return Turned(own if times == 1 else own * times, _factor_of(turn, guess))
    frequencies = steps.abs()
    frequencies[frequencies * float(places[-1] - places[0]) < enough] = 0
    if turn.layout.become_neighbours:  # those at an end that stand still are no part of it
        moving = frequencies.nonzero().flatten()
        ends = slice(int(moving[0]), int(moving[-1]) + 1) if len(moving) else slice(None)
        frequencies = frequencies[ends]
    return Turned(frequencies.float(), _factor_of(turn, None))


def _factor_of(turn: Turn, guess: Guess | None) -> float:
    """The measured one, as exactly as it is held; what cannot be measured is as it is held."""
    held = 1.0 if guess is None else guess.factor
    if turn.factor != turn.factor:  # all dimensions turn: no other tells how long they were
        return held
    return next((it for it in (held, 1.0) if abs(turn.factor - it) < 0.01), turn.factor)


def _steps(turn: Turn, places: Tensor, close: Close) -> Tensor | None:
    """Measure how far each pair turns from one place to the next [n / 2], with its sign."""
    are_next = places.diff() == 1
    if not bool(are_next.any()):
        return None
    both = turn.ratio[1:] * turn.ratio[:-1].conj() * (turn.sizes[1:] * turn.sizes[:-1]).sqrt()
    steps = both[are_next].sum(0).angle()
    far, reach = (places - places[0]).double()[:, None], 2.0
    relative, last = turn.ratio * turn.ratio[:1].conj(), float(places[-1] - places[0])
    while reach < 2 * last:  # what is measured over a distance is right enough for twice that
        near = turn.sizes * (far <= reach)
        off = (relative * torch.polar(torch.ones_like(far * steps), -far * steps)).angle()
        steps = steps + (near * off * far).sum(0) / (near * far.square()).sum(0).clamp_min(1e-300)
        reach *= 2
    return steps


def _error(turn: Turn, steps: Tensor, places: Tensor) -> float:
    """The largest angle by which a row misses its place, but for what all rows are turned by."""
    far = (places - places[0]).double()[:, None]
    left = turn.ratio * torch.polar(torch.ones_like(far * steps), -far * steps)
    mean = (left * turn.sizes).sum(0)
    return float(((left * mean.conj()).angle().abs() * turn.sizes.sqrt()).amax())


def _spread(frequencies: Tensor, steps: Tensor) -> Iterator[Tensor]:
    """Lay frequencies over all pairs [n / 2]: where there are fewer, the others do not turn."""
    n, n_pairs = frequencies.numel(), steps.numel()
    own = frequencies.detach().double().to(steps.device)
    for first in dict.fromkeys((0, n_pairs - n)) if 0 < n <= n_pairs else ():
        spread = torch.zeros_like(steps)
        spread[first : first + n] = own
        yield spread


def _times(
    turn: Turn, places: Tensor, frequencies: Tensor, steps: Tensor, limit: float
) -> float | None:
    """Find by how much frequencies are multiplied to be what was measured; None: no number does."""
    shares = (steps.abs() / frequencies)[(frequencies > 0) & (steps.abs() < 2.5)]
    best = steps.abs()[(frequencies > 0) & (steps.abs() < 2.5)].argsort(descending=True)
    for times in (1.0, *shares[best[:4]].tolist()):
        for sign in (1, -1):
            if times > 0 and _error(turn, sign * times * frequencies, places) <= limit:
                return times
    return None


_FARTHEST = 4096
"""Positions up to which other ones are looked for."""


def _at_other_positions(
    turn: Turn, places: Tensor, guesses: Sequence[Guess], close: Close
) -> Turned | None:
    """Find whole positions in any order: texts that begin again, padding, words that swap."""
    are_next, n_rows = places.diff() == 1, int(places[-1]) + 1
    if n_rows > _FARTHEST or not bool(are_next.any()):
        return None
    steps = (turn.ratio[1:] * turn.ratio[:-1].conj()).angle()[are_next]
    usual = steps.median(0).values
    tried = [
        (sign * spread, guess)
        for guess in guesses
        for spread in _spread(guess.frequencies, usual)
        for sign in (1, -1)
    ]
    tried.append((usual, Guess(usual.abs().float())))
    numbers = torch.arange(-n_rows, 4 * n_rows).double()
    numbers = numbers[numbers.abs().argsort(stable=True)]
    weights = turn.sizes / turn.sizes.sum(-1, keepdim=True).clamp_min(1e-300)
    limit = 10 * _FINE if close.turned <= CLOSE[torch.float32].turned else close.turned
    for frequencies, guess in tried:
        angles = numbers[:, None] * frequencies
        turns = torch.polar(torch.ones_like(angles), angles)
        alike = ((weights * turn.ratio) @ turns.mH).real  # [N, numbers]
        at = (alike >= alike.amax(-1, keepdim=True) - 1e-12).long().argmax(-1)
        off = (turn.ratio * turns[at].conj()).angle().abs() * turn.sizes.sqrt()
        positions = [int(it) for it in numbers[at].tolist()]
        if float(off.amax()) <= limit and len(set(positions)) > 1:
            least = min(0, *positions)
            moved = tuple(it - least for it in positions)
            return Turned(guess.frequencies, _factor_of(turn, guess), moved)
    return None
