"""The precision in which numbers are computed on from what a model gave."""

import torch
from torch import Tensor


def at_least_single(values: Tensor) -> Tensor:
    """Return values in float32 where they have less; of a model in float64 as they are.

    So an identity that rounding hides in float32 can be proved to 1e-12 on the same code.
    """
    return values.to(torch.promote_types(values.dtype, torch.float32))
