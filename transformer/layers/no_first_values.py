"""A model that is built to be filled: its random first values are not drawn."""

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_DRAWS = (Tensor.uniform_, Tensor.normal_)
"""Methods that `xavier_uniform_` and the like call, which are no torch functions themselves."""


class NoFirstValues(TorchFunctionMode):
    """Leave new layers as they are: to fill them took a third of the time, for nothing.

    It is of this thread alone, as another one may build a model with values: the library's own
    `no_init_weights` is of the whole process. All that is left must be loaded before it is used.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in _DRAWS or getattr(func, "__module__", None) == torch.nn.init.__name__:
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
