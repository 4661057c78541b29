"""Addresses of tensors' numbers."""

import torch
from torch import Tensor


def storage(tensor: Tensor | None) -> int:
    """The address of what holds them: views of one another say the same."""
    if tensor is None:
        return -1
    if tensor.layout != torch.strided:  # sparse: its numbers lie in several places
        return -id(tensor)
    return tensor.untyped_storage().data_ptr()
