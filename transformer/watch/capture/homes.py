"""Homes of numbers: the position of the text that each number of a pass is made of.

A tensor has as many rows as a text has tokens for many reasons: its heads were cut without being
turned, its keys were mixed along the text, its rows are latents, they came in another order. So
what a row stands for is followed through the pass, number by number, as taint is in a program
(Newsome and Song 2005, "Dynamic taint analysis", section 3): beside every storage that torch makes
lies one of labels, and every operator does to the labels what it does to the numbers.

The home of a number is the position whose row it lies in, not all that it has read: what attention
gives belongs to the query that asked, and a sum of a row with what others gave stays that row's.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer.watch.capture.tensors import tensors_in

# Labels: a text and a position in it, or why there is none.

NONE, MIXED, UNKNOWN, STEP = -1, -2, -3, -4
"""Made of no text; of several positions and of none more than of others; nobody can say; or a step
of a decoder that asks with what it has read so far, one row after the other."""
TEXT = 1 << 20
"""Labels of a text: its number times this, and the position."""
PATCHES = 1 << 10
"""Numbers of texts from here on are of pictures and sounds, and of what is made of them."""
LABELS = torch.int32


class Homes(NamedTuple):
    """The homes of the rows and the columns of one call of attention: labels [Q] and [K]."""

    queries: Tensor
    keys: Tensor


def no_homes(n: int) -> Tensor:
    """Labels of n rows of which nothing is known."""
    return torch.full((n,), UNKNOWN, dtype=LABELS)


def both(a: Tensor, b: Tensor) -> Tensor:
    """Labels of columns by keys a and values b: what a column gives is its value.

    So it is of that's position, also where the key was mixed with others; and of none, where keys
    and values are of two.
    """
    if len(a) != len(b):
        return no_homes(len(a))
    return torch.where(b <= MIXED, b, torch.where(a <= MIXED, b, together(a, b)))


def fitting(queries: Tensor, keys: Tensor, n_queries: int, n_keys: int) -> Homes:
    """Labels of a call's rows and columns; not known where there are not as many."""
    return Homes(
        queries if len(queries) == n_queries else no_homes(n_queries),
        keys if len(keys) == n_keys else no_homes(n_keys),
    )


def with_sinks(keys: Tensor, n_keys: int) -> Tensor:
    """Labels of words and of what stands behind them, which is of no position."""
    n_more = max(0, n_keys - len(keys))
    return torch.cat([keys, torch.full((n_more,), NONE, dtype=LABELS)])


def text_of(label: int) -> int:
    """Give the number of a label's text among the inputs of a pass; -1: it has none."""
    return label // TEXT if label >= 0 else -1


def place_of(label: int) -> int:
    """Give the position in that text; below 0: NONE, MIXED or UNKNOWN."""
    return label % TEXT if label >= 0 else label


def text_in(labels: Tensor) -> int | None:
    """Give the one text that all rows are of which are of any; None: none, or several."""
    texts = {text_of(label) for label in labels.tolist() if label >= 0}
    return texts.pop() if len(texts) == 1 else None


def together(a: Tensor, b: Tensor) -> Tensor:
    """Join labels of numbers that are added, multiplied and the like; a and b are broadcast.

    Two texts of one position, as ids and their types are, are the first of them.
    """
    if a.shape == b.shape and torch.equal(a, b):
        return a
    has_a, has_b = a >= 0, b >= 0
    is_same = a % TEXT == b % TEXT
    both = torch.where(is_same, torch.minimum(a, b), MIXED)
    one = torch.where(has_a, a, torch.where(has_b, b, torch.minimum(a, b)))
    return torch.where(has_a & has_b, both, one)


def along(labels: Tensor, axes: Sequence[int], *, keep: bool = False) -> Tensor:
    """Join labels of numbers that are summed along axes."""
    if not axes:
        return labels
    if not labels.numel():
        return labels.sum(tuple(axes), keepdim=keep, dtype=labels.dtype) + NONE
    axes = tuple(axes)
    low, high = labels.amin(axes, keepdim=keep), labels.amax(axes, keepdim=keep)
    if torch.equal(low, high):  # as of most: a row's numbers are of one position
        return high
    has = labels >= 0
    largest = torch.where(has, labels, NONE).amax(axes, keepdim=keep)
    least = torch.where(has, labels, torch.iinfo(LABELS).max).amin(axes, keepdim=keep)
    places = labels % TEXT
    first = torch.where(has, places, TEXT).amin(axes, keepdim=keep)
    last = torch.where(has, places, NONE).amax(axes, keepdim=keep)
    home = torch.where(first == last, least, MIXED)
    return torch.where(largest >= 0, home, low)


# What is a text among the inputs, and the axis of its positions.


def texts_in(inputs: Iterable[object]) -> Iterator[tuple[Tensor, int]]:
    """Yield tensors that are texts, each with the axis of its positions.

    Masks, types of tokens and caches of keys are none.
    """
    tensors = [it for it in tensors_in(inputs) if not (it.is_floating_point() and is_sound(it))]
    places = {(it.data_ptr(), it.shape): (it, _axis(it)) for it in tensors}  # each once
    pairs = [(each, axis) for each, axis in places.values() if axis is not None]
    for each, axis in pairs:
        others = (it for it in pairs if it[0] is not each)
        has_other = any(it.size(at) == each.size(axis) for it, at in others)
        if not (has_other and _says_yes_or_no(each)):
            yield each, axis


def _axis(tensor: Tensor) -> int | None:
    """The axis of [T], [1, T], [T, 1] of ids, or of states with an axis more; None: another."""
    n_axes = tensor.dim() - (tensor.is_floating_point() or tensor.is_complex())
    if n_axes == 3 and not tensor.is_floating_point() and tensor.size(0) == 1:
        return 1  # several numbers a token, such as its place on a page
    if tensor.dtype == torch.bool or tensor.is_meta or tensor.layout != torch.strided:
        return None
    if n_axes not in (1, 2) or not tensor.numel():
        return None
    if n_axes == 1:
        return 0
    return 0 if tensor.size(1) == 1 != tensor.size(0) else 1


def is_sound(tensor: Tensor) -> bool:
    """Tell whether it is [1, n] of samples."""
    return tensor.dim() == 2 and tensor.size(0) == 1 < tensor.size(1)


def _says_yes_or_no(tensor: Tensor) -> bool:
    if not tensor.is_floating_point():
        return tensor.dim() < 3 and bool(((tensor == 0) | (tensor == 1)).all())
    return tensor.size(-1) == tensor.shape[-2] and bool((tensor <= 0).all())


# Axes of products, and matrices that put rows in another order.


def axes_of(equation: str, *, is_turned: bool = False) -> tuple[int, int, int] | None:
    """The axes of queries and keys in the operands of an einsum, and of queries in scores [..., K].

    None where they are not one each. is_turned: whether the second operand is the queries.
    """
    terms, _, out = equation.replace(" ", "").replace("...", ".").partition("->")
    first, _, second = terms.partition(",")
    q, k = (second, first) if is_turned else (first, second)
    asking = [letter for letter in q if letter in out and letter not in k]
    if len(asking) != 1 or out[-1] not in k or out[-1] in q:
        return None
    of_q, of_k = q.index(asking[0]) - len(q), k.index(out[-1]) - len(k)
    return of_q, of_k, out.index(asking[0]) - len(out)


def is_soft_order(matrix: Tensor) -> bool:
    """Tell whether rows and columns sum to 1, as Sinkhorn's steps make them: it puts rows in order.

    Equal shares are what attention gives that has learned nothing yet.
    """
    if (
        matrix.dim() < 2
        or not matrix.is_floating_point()
        or not 1 < matrix.size(-1) == matrix.size(-2)
    ):
        return False
    matrix = matrix.flatten(0, -3)[0] if matrix.dim() > 2 else matrix  # one of them tells
    columns, rows = (bool(((matrix.sum(axis) - 1).abs() < e).all()) for axis, e in _EVEN)
    is_even = columns and rows and bool((matrix >= 0).all())
    return is_even and float(matrix.amax() - matrix.amin()) > 1e-3


_EVEN = ((-2, 1e-3), (-1, 0.3))
"""Axis -> how far from 1 its sums may be, where Sinkhorn's steps end with columns."""


def chosen(matrix: Tensor, labels: Tensor, columns: Tensor) -> Tensor:
    """Rows that a matrix of noughts and ones picks out of others keep their homes.

    matrix: [..., n, m]; labels: of what it met [..., m, p]; columns: joined [..., 1, p].
    """
    if matrix.numel() > 1 << 22 or bool(((matrix != 0).sum(-1) > 1).any()):
        return columns
    shape = torch.broadcast_shapes(matrix.shape[:-2], labels.shape[:-2])
    order = matrix.abs().argmax(-1)[..., None].expand(*shape, matrix.size(-2), labels.size(-1))
    return labels.expand(*shape, *labels.shape[-2:]).gather(-2, order)
