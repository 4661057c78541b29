"""torch's functions, where operators do not tell enough: all of them go past a watcher."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

SOFTMAXES = frozenset({torch.softmax, Tensor.softmax, F.softmax, torch.special.softmax})
ENDING = frozenset(
    {
        *(torch.matmul, Tensor.matmul, Tensor.__matmul__, torch.bmm, Tensor.bmm, torch.mm),
        *(Tensor.mm, torch.baddbmm, Tensor.baddbmm, torch.einsum, torch.addmm, Tensor.addmm),
        *(F.linear, F.embedding, F.scaled_dot_product_attention),
    }
)
"""Functions after which what was known of their arguments is so no longer."""


class Functions(TorchFunctionMode):
    """Has every torch function of this thread go through a watcher's.

    torch's fast paths for its own encoder layers stand back by themselves while a mode is active.
    """

    def __init__(self, call: Callable[[Callable[..., Any], Sequence[Any], Any], Any]) -> None:
        """call: given a function, its arguments and the named ones, gives what it gives."""
        super().__init__()
        self._call = call

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        return self._call(func, args, kwargs or {})


def as_indices(tensor: Tensor, indices: Any) -> tuple[Tensor, list[Any]]:
    """List what stands in brackets, an entry for each axis, as torch's operator is given it."""
    several = indices if isinstance(indices, tuple) else (indices,)
    rest = tensor.dim() - sum(each is not None and each is not ... for each in several)
    whole: list[Any] = []
    for each in several:
        if each is not None:
            whole += [None] * rest if each is ... else [each]
    return tensor, whole
