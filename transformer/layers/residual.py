"""The residual sum around a sublayer, with its dropout and layer normalisation."""

from collections.abc import Callable

from torch import Tensor, nn

from transformer.config import NormOrder


class Residual(nn.Module):
    """Post-norm: norm(x + dropout(f(x))) (AIAYN, section 3.1); pre: x + dropout(f(norm(x)))."""

    def __init__(self, d_model: int, dropout: float, norm_order: NormOrder) -> None:
        super().__init__()
        self.norm_order = norm_order
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """x: [B, T, D]; sublayer keeps that shape."""
        if self.norm_order == "pre":
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))
