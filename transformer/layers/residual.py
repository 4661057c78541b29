"""The residual sum around a sublayer, with its dropout and normalisation."""

from collections.abc import Callable

from torch import Tensor, nn

from transformer.config import ModelConfig
from transformer.layers.norm import make_norm


class Residual(nn.Module):
    """One of three orders, f being the sublayer.

    "post": norm(x + dropout(f(x))) (AIAYN, section 3.1); "pre": x + dropout(f(norm(x)));
    "sublayer": x + dropout(norm(f(x))).
    """

    def __init__(self, config: ModelConfig, has_norm: bool = True) -> None:
        super().__init__()
        self.norm_order = config.norm_order
        self.norm = make_norm(config, has_norm)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self, x: Tensor, sublayer: Callable[[Tensor], Tensor], real: Tensor | None = None
    ) -> Tensor:
        """x: [B, T, D]; sublayer keeps that shape; real: bool [B, T], None where all are."""
        if self.norm_order == "pre":
            return x + self.dropout(sublayer(self.norm(x, real)))
        if self.norm_order == "sublayer":
            return x + self.dropout(self.norm(sublayer(x), real))
        normed: Tensor = self.norm(x + self.dropout(sublayer(x)), real)
        return normed
