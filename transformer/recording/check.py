"""Whether a recording says what its model computed: from weights and values to what they gave."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.recording.calls import AttentionCall, WeightsCall

CLOSE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.float16: 0.01, torch.bfloat16: 0.05}
"""How far both may be apart, as a share of the largest value."""


@dataclass(frozen=True)
class Checked:
    """What a check of a recording found."""

    error: float | None
    """The largest difference between what weights and values give and what the model gave, as a
    share of the largest value of that layer; None: nothing could be compared."""
    is_right: bool
    """Whether all that could be compared is close enough."""
    n_layers: int
    """Of all kinds."""
    n_checked: int
    n_projected: int
    """How many of those that were checked were compared after W_O."""
    unknown: tuple[str, ...]
    """Why others could not be checked, in clauses without a full stop."""
    row_sums: tuple[float, float]
    """The least and the largest sum of a row that may read anything."""
    masked: float
    """The largest weight in a cell that a mask closes."""

    def __str__(self) -> str:
        if self.error is None:
            return f"not checkable: {'; '.join(self.unknown)}"
        return f"{self.error:.0e}".replace("e-0", "e-") if self.error else "0"


@torch.no_grad()
def check(kinds: Mapping[str, Sequence[AttentionCall]]) -> Checked:
    """Recompute what each layer gave, at the queries of its sample."""
    errors, limits, unknown = [], [], []
    sums, masked, n_projected = [], [0.0], 0
    for kind, calls in kinds.items():
        for layer, call in enumerate(calls):
            sums += [float(x) for x in _row_sums(call)]
            masked.append(_masked(call))
            why = _why_not(call)
            if why:
                unknown.append((kind, layer, why))
                continue
            error, limit = _error(call)
            errors.append(error)
            limits.append(error <= limit)
            n_projected += call.projection is not None
    return Checked(
        error=max(errors, default=None),
        is_right=all(limits),
        n_layers=len(errors) + len(unknown),
        n_checked=len(errors),
        n_projected=n_projected,
        unknown=tuple(_clauses(unknown)),
        row_sums=(min(sums, default=1.0), max(sums, default=1.0)),
        masked=max(masked),
    )


def _why_not(call: AttentionCall) -> str:
    if call.sample is None:
        return "what it gave was not seen"
    return "" if call.v.size(-1) else "its values are not understood"


def _clauses(unknown: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    """One clause per kind and reason."""
    layers: dict[tuple[str, str], int] = {}
    for kind, _, why in unknown:
        layers[kind, why] = layers.get((kind, why), 0) + 1
    for (kind, why), n in layers.items():
        yield f"{n} layer{'s' * (n > 1)} of {kind}, {why}"


def _at_sample(call: AttentionCall) -> AttentionCall:
    return call if call.sample is None else call.at(call.sample.queries.to(call.q.device))


def _error(call: AttentionCall) -> tuple[float, float]:
    """The largest difference as a share of the largest value, and how large it may be."""
    sample = call.sample
    assert sample is not None
    part = _at_sample(call)
    total = part.heads_given()  # [H, N, d_value]
    if call.projection is not None:
        total = total.transpose(0, 1).flatten(1) @ call.projection.detach().float().mT
        total = total if sample.bias is None else total + sample.bias.float()
    is_read = part.allowed().any(-1)  # [H, N]; a row that may read nothing is 0 here only
    rows = is_read.all(0) if call.projection is not None else is_read
    if not bool(rows.any()):
        return 0.0, 0.0
    output = sample.values.float()
    error = float((total - output)[rows].abs().max()) / (float(output[rows].abs().max()) or 1.0)
    return error, CLOSE.get(sample.values.dtype, 1e-4)


def _row_sums(call: AttentionCall) -> Tensor:
    """The least and the largest [2]; [0] where no row reads anything."""
    part = _at_sample(call)
    sums = part.weights().sum(-1)[part.allowed().any(-1)]
    return torch.stack([sums.min(), sums.max()]) if sums.numel() else sums


def _masked(call: AttentionCall) -> float:
    """The largest weight where a mask closes, of rows that it leaves something to read."""
    part = _at_sample(call)
    weights = part.given.float() if isinstance(part, WeightsCall) else part.weights()
    allowed = part.allowed()
    closed = weights.abs()[~allowed & allowed.any(-1, keepdim=True)]
    return float(closed.max()) if closed.numel() else 0.0
