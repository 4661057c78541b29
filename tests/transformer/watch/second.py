"""What joins heads where one plain matrix does not: put in the place of a W_O."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Second(nn.Module):
    """Something beside or after a base matrix, which is any module that is linear."""

    def __init__(self, base: nn.Module, width: int, out: int) -> None:
        """From heads of this width to `out` numbers."""
        super().__init__()
        self.base = base
        generator = torch.Generator().manual_seed(5)
        self.down = nn.Linear(width, 2, bias=False)
        self.up = nn.Linear(2, out, bias=False)
        self.other = nn.Linear(width, out)
        self.after = nn.Linear(out, out)
        for each in self.parameters():
            if each.data_ptr() not in {it.data_ptr() for it in base.parameters()}:
                each.data = torch.randn(each.shape, generator=generator) / each.size(-1) ** 0.5


class LoRA(Second):
    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.up(self.down(x))  # type: ignore[no-any-return]


class BranchFirst(Second):
    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.down(x)) + self.base(x)  # type: ignore[no-any-return]


class Scaled(Second):
    """As PEFT writes it: dropout, alpha / r, and the type of the adapter."""

    def __init__(self, base: nn.Module, width: int, out: int) -> None:
        super().__init__(base, width, out)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        result = self.base(x)
        x = x.to(self.down.weight.dtype)
        return result + self.up(self.down(self.drop(x))) * 4.0  # type: ignore[no-any-return]


class InPlace(Second):
    def forward(self, x: Tensor) -> Tensor:
        result = self.base(x)
        result += self.up(self.down(x)) / 0.5
        return result  # type: ignore[no-any-return]


class ScaledInside(Second):
    """A learned vector between both (VeRA), and one number per output (DoRA)."""

    def __init__(self, base: nn.Module, width: int, out: int) -> None:
        super().__init__(base, width, out)
        self.between = nn.Parameter(torch.tensor([0.5, -2.0]))
        self.lengths = nn.Parameter(torch.linspace(0.5, 1.5, out))

    def forward(self, x: Tensor) -> Tensor:
        branch = self.up(self.between * self.down(x))
        return self.lengths * (self.base(x) + branch)  # type: ignore[no-any-return]


class Matrices(Second):
    """The branch is no module but two matrices."""

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + (x @ self.down.weight.mT) @ self.up.weight.mT  # type: ignore[no-any-return]


class Sum(Second):
    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.other(x)  # type: ignore[no-any-return]


class Difference(Second):
    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) - self.other(x)  # type: ignore[no-any-return]


class TwoBranches(Second):
    def forward(self, x: Tensor) -> Tensor:
        return self.other(x) * 0.5 + (self.base(x) + self.up(self.down(x)))  # type: ignore[no-any-return]


class Factored(Second):
    """Two matrices after each other are one."""

    def forward(self, x: Tensor) -> Tensor:
        return self.after(self.base(x))  # type: ignore[no-any-return]


class LowRank(Second):
    def forward(self, x: Tensor) -> Tensor:
        return self.up(self.down(x))  # type: ignore[no-any-return]


class Gate(Second):
    """A gate of what the heads gave."""

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) * self.other(x).sigmoid()  # type: ignore[no-any-return]


class GateFirst(Second):
    def forward(self, x: Tensor) -> Tensor:
        gate = F.silu(self.other(x))
        return gate * self.base(x)  # type: ignore[no-any-return]


class GateOfRows(Second):
    """One number per token."""

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) * self.up(self.down(x))[..., :1].sigmoid()  # type: ignore[no-any-return]


class Glu(Second):
    def forward(self, x: Tensor) -> Tensor:
        return F.glu(torch.cat([self.base(x), self.other(x)], -1), -1)


class GluOfOne(Second):
    """One matrix twice as wide, half of which is a gate."""

    def __init__(self, base: nn.Module, width: int, out: int) -> None:
        super().__init__(base, width, out)
        self.both = nn.Linear(width, 2 * out)

    def forward(self, x: Tensor) -> Tensor:
        return F.glu(self.both(x), -1)


class GluOfChunks(GluOfOne):
    def forward(self, x: Tensor) -> Tensor:
        value, gate = self.both(x).chunk(2, -1)
        return value * gate.sigmoid()


class Adapter(Second):
    """Houlsby's: a bottleneck after W_O."""

    def __init__(self, base: nn.Module, width: int, out: int) -> None:
        super().__init__(base, width, out)
        self.narrow = nn.Linear(out, 2)

    def forward(self, x: Tensor) -> Tensor:
        result = self.base(x)
        return result + self.up(self.narrow(result).relu())  # type: ignore[no-any-return]


class Parallel(Second):
    """A bottleneck beside it, with a function that few use."""

    def forward(self, x: Tensor) -> Tensor:
        return self.base(x) + self.up(F.softplus(self.down(x)))  # type: ignore[no-any-return]


class Mixture(Second):
    """Two matrices that a softmax weighs token by token."""

    def forward(self, x: Tensor) -> Tensor:
        shares = self.down(x).softmax(-1)
        return shares[..., :1] * self.base(x) + shares[..., 1:] * self.other(x)  # type: ignore[no-any-return]


SUMS = (
    *(LoRA, BranchFirst, Scaled, InPlace, ScaledInside, Matrices, Sum, Difference, TwoBranches),
    *(Factored, LowRank),
)
"""What the heads give meets one matrix, whatever it is made of."""
SEVERAL = (*(Gate, GateFirst, GateOfRows, Glu, GluOfOne, GluOfChunks, Adapter, Parallel, Mixture),)
"""No matrix leads from the heads to what the layer gives."""
