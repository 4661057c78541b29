"""A W_O with an axis for the heads, which an einsum sums over beside that of the values."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor


def joined_by(args: Sequence[Any]) -> tuple[Tensor, Tensor] | None:
    """Lay out heads [..., H * d_value] and W_O [H * d_value, D] of (equation, a, b); None: neither.

    XLNet's is "ibnd,hnd->ibh".
    """
    if len(args) < 2 or not isinstance(args[0], str) or "." in args[0]:
        return None
    operands = args[1] if isinstance(args[1], list | tuple) else args[1:]
    terms, _, out = args[0].replace(" ", "").partition("->")
    letters = terms.split(",")
    if len(letters) != 2 or not all(isinstance(each, Tensor) for each in operands):
        return None
    first, second = zip(letters, operands, strict=True)
    return _joined(first, second, out) or _joined(second, first, out)


def _joined(
    heads: tuple[str, Tensor], matrix: tuple[str, Tensor], out: str
) -> tuple[Tensor, Tensor] | None:
    of_heads, of_matrix = heads[0], matrix[0]
    inner = [letter for letter in of_heads if letter in of_matrix and letter not in out]
    outer = [letter for letter in of_heads if letter not in inner]
    rest = [letter for letter in of_matrix if letter not in inner]
    if len(inner) != 2 or len(of_matrix) != 3 or out != "".join((*outer, *rest)):
        return None
    joined = heads[1].permute([of_heads.index(letter) for letter in (*outer, *inner)]).flatten(-2)
    turned = matrix[1].permute([of_matrix.index(letter) for letter in (*rest, *inner)]).flatten(1)
    return joined, turned.mT
