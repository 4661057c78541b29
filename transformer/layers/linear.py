"""Affine maps, as torch's; of few rows by the product that a processor finishes sooner."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

FEW = 8
"""Rows up to which a processor projects them sooner as the columns of a product: a beam's step.

A beam of 4 that writes 16 pieces with 14.7 M weights: .84 of the time of torch's own, on one core.
"""


class Linear(nn.Linear):
    """x W^T + b: nn.Linear, under the same name of its weights."""

    def forward(self, input: Tensor) -> Tensor:
        """input: [..., n_in] -> [..., n_out]."""
        return project(input, self.weight, self.bias)


def project(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """x: [..., n_in]; weight: [n_out, n_in]; bias: [n_out] -> [..., n_out]."""
    rows = x.reshape(-1, x.size(-1))
    if x.device.type != "cpu" or len(rows) > FEW:
        return F.linear(x, weight, bias)
    columns = weight @ rows.t() if bias is None else torch.addmm(bias[:, None], weight, rows.t())
    # Rows again, one after the other: what reads them is sooner done.
    return columns.t().contiguous().view(*x.shape[:-1], len(weight))
