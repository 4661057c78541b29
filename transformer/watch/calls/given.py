"""The heads that a call gave, on their way to W_O: as they are, or times factors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from transformer.recording import Sample
from transformer.watch.calls.seen import Seen
from transformer.watch.capture.tensors import storage

Layout = Callable[[Tensor], Tensor]
"""From a tensor of a pass to heads [H, Q, d_value]."""


@dataclass(eq=False)
class Given:
    """The heads of one call, until W_O meets them."""

    seen: Seen
    heads: Tensor
    """[H, Q, d_value], times the factor."""
    factor: Tensor | None = None
    """[H, 1, d_value], the same for all queries; None: they are as the call gave them."""

    summed: Tensor | None = None
    """The same with what was added to it."""

    earlier: list[tuple[Tensor, Tensor | None]] = field(default_factory=list)
    """Heads and factors before others were made of them: the pass may go on with either."""

    is_passed: bool = False
    """True: within the module that attended, a learned matrix has met something else since."""

    @property
    def columns(self) -> Tensor | None:
        """The factor of each column of W_O [H * d_value]."""
        return None if self.factor is None else self.factor.flatten()

    @property
    def is_changed(self) -> bool:
        """Tell whether something was added in place to what the call gave."""
        sample = self.seen.sample
        if sample is None or self.factor is not None:
            return False
        now, before = (each[:, _ends(each)] for each in (self.heads, sample.values))
        return not torch.equal(now, before)

    def scale(self, tensor: Tensor, by: object, result: Tensor, *, is_over: bool) -> bool:
        """Multiply the heads as the pass did, or divide them; False where rows have others.

        tensor: the heads as they met `by`. result: of it, the tensor itself where that was changed.
        """
        is_kept = self._go_back(lambda heads: self._layout(tensor, heads) is not None)
        layout = self._layout(tensor, self.heads) if is_kept else None
        factor = None if layout is None else _factor(by, tensor, layout)
        if layout is None or factor is None:
            return False
        n_heads, _, width = self.heads.shape
        if result is not tensor:
            self.earlier.append((self.heads, self.factor))
        self.heads = layout(result)
        factor = 1 / factor if is_over else factor
        before = 1.0 if self.factor is None else self.factor
        self.factor = (before * factor).expand(n_heads, 1, width)
        return True

    def has_met(self, joined: Tensor) -> bool:
        """Tell whether a matrix met the heads, as they are or were: these are the ones then."""
        return self._go_back(lambda heads: is_joined(joined, heads))

    def holds(self, tensor: Tensor) -> bool:
        """Tell whether a tensor is what the heads are or were."""
        return any(is_heads(tensor, heads) for heads, _ in self._all)

    @property
    def _all(self) -> list[tuple[Tensor, Tensor | None]]:
        return [(self.heads, self.factor), *reversed(self.earlier)]

    def _go_back(self, fits: Callable[[Tensor], bool]) -> bool:
        """Take the latest heads that fit as the heads; False where none do."""
        pair = next((pair for pair in self._all if fits(pair[0])), None)
        if pair is not None and pair[0] is not self.heads:
            self.earlier.append((self.heads, self.factor))
        if pair is not None:
            self.heads, self.factor = pair
        return pair is not None

    def add(self, tensor: Tensor, result: Tensor) -> None:
        """Something was added to the heads as a tensor holds them, which gave a result."""
        layout = self._layout(tensor, self.heads)
        if layout is not None and result.shape == tensor.shape:
            self.summed = layout(result)

    def _layout(self, tensor: Tensor, heads: Tensor) -> Layout | None:
        """Find the way in which a tensor holds heads: each by itself, turned over, or joined."""
        n_heads, n_queries, width = heads.shape
        if tensor.numel() != heads.numel():
            return None

        def of_maps(tensor: Tensor) -> Tensor:
            return tensor.reshape(n_heads, n_queries, width)

        def of_rows(tensor: Tensor) -> Tensor:
            return tensor.reshape(n_queries, n_heads, width).transpose(0, 1)

        def of_turned(tensor: Tensor) -> Tensor:
            return tensor.reshape(n_heads, width, n_queries).mT

        layouts = (of_rows, of_maps, of_turned)
        return next((it for it in layouts if _is_equal(it(tensor), heads)), None)


def put_together(whole: Seen, outputs: Sequence[Given], axis: int) -> Given:
    """Join what several calls gave, as that of one. axis: 0, of the heads, or -1, of the values."""
    samples = [each.seen.sample for each in outputs if each.seen.sample is not None]
    if len(samples) == len(outputs):
        values = torch.cat([each.values for each in samples], axis)
        whole.sample = Sample(samples[0].queries, values)
    heads = torch.cat([each.heads for each in outputs], axis)
    if all(each.factor is None for each in outputs):
        return Given(whole, heads)
    ones = (torch.ones_like(each.heads[:, :1]) for each in outputs)
    factors = [
        one if each.factor is None else one * each.factor
        for one, each in zip(ones, outputs, strict=True)
    ]
    return Given(whole, heads, torch.cat(factors, axis))


def _factor(by: object, tensor: Tensor, layout: Layout) -> Tensor | None:
    """Find the factor of all heads [], or of each number of them [H, 1, d_value]; None: neither."""
    if not isinstance(by, Tensor):
        return torch.tensor(by, dtype=torch.float64)
    if by.numel() == 1:
        return by.detach().reshape(())
    is_of_rows = by.numel() == tensor.numel()
    if is_of_rows or torch.broadcast_shapes(tensor.shape, by.shape) != tensor.shape:
        return None
    factors = layout(by.detach().expand(tensor.shape))
    first = factors[:, :1]
    return first if torch.equal(first.expand_as(factors), factors) else None


def is_heads(tensor: Tensor, heads: Tensor) -> bool:
    """Tell whether it holds what heads [H, Q, d_value] gave, beside each other or not."""
    if tensor.dim() < 2 or tensor.numel() != heads.numel():
        return False
    if storage(tensor) == storage(heads) or is_joined(tensor, heads):
        return True
    return tensor.shape[-3:] == heads.shape and _is_equal(tensor.view(heads.shape), heads)


def is_joined(joined: Tensor, heads: Tensor) -> bool:
    """Tell whether the rows of joined [..., H * d_value] are those of heads [H, Q, d_value]."""
    n_heads, n_queries, d_value = heads.shape
    width = n_heads * d_value
    if joined.size(-1) != width or joined.numel() != width * n_queries:
        return False
    is_same = joined.data_ptr() == heads.data_ptr() and joined.is_contiguous()
    if is_same and heads.stride() == (d_value, width, 1):  # never copied
        return True
    return _is_equal(joined.reshape(n_queries, n_heads, d_value).transpose(0, 1), heads)


def _is_equal(one: Tensor, other: Tensor) -> bool:
    """Tell whether [H, Q, d] are the same bit for bit: first the two rows that differ soonest."""
    ends = _ends(one)
    pairs = ((one[:, ends], other[:, ends]), (one, other))
    return all(torch.equal(a, b.to(a.dtype)) for a, b in pairs)


def _ends(heads: Tensor) -> slice:
    """The first and the last row."""
    return slice(None, None, max(heads.size(1) - 1, 1))
