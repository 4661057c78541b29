"""Every arrow of one written token forecast by one backward pass, where no row can be run alone.

A cut arrow's weight is shared out among the others, so that what its head gives becomes
(z - a v) / (1 - a). The gradient of the token's log-probability at z says what that does to it, as
far as it is linear. It holds well for small weights, and badly near 1: then cut the arrow.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

import torch
from torch import Tensor, nn

from transformer.causes.arrows import Arrows, Place
from transformer.checkpoint import Checkpoint
from transformer.inputs import InputError, source_ids, target_ids
from transformer.recording import AttentionCall, Recording
from transformer.recording.ours import record
from transformer.token import Token
from transformer.watch.capture.as_written import as_written


@dataclass(frozen=True, eq=False)
class Forecast(Arrows):
    """Costs of arrows to the first order; NaN where a query looks at one key alone."""

    error: float = 0.0
    """The largest distance from 0 of the sum over a row of (1 - a) times its forecasts: 0 wherever
    weights and values are those that the model has used."""


@dataclass
class _Tap:
    """A joint of a model between the heads of a layer and W_O, in one pass."""

    place: Place
    query: int
    leaf: Tensor
    """[H * d_value], zeros: what is added to the row of the query, for its gradient."""
    heads: Tensor | None = None
    """[H * d_value], what the heads gave there; None: it was not met."""

    def join(self, x: Tensor) -> Tensor:
        """The input of W_O [..., Q, H * d_value] with the leaf in its row."""
        rows = x.reshape(-1, self.leaf.numel())
        self.heads = rows[self.query].detach().float()
        added = torch.zeros_like(rows)
        added[self.query] = self.leaf.to(rows.dtype)
        return (rows + added).view_as(x)


@dataclass
class _Taps:
    """The joints of a module that projects heads, in the order of its calls in this thread: others
    run the same model, and know nothing of them."""

    thread: int = field(default_factory=get_ident)
    taps: list[_Tap] = field(default_factory=list)
    n_calls: int = 0

    def hook(self, module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        if get_ident() != self.thread:
            return None
        n, self.n_calls = self.n_calls, self.n_calls + 1
        return (self.taps[n].join(inputs[0]), *inputs[1:]) if n < len(self.taps) else None


def forecast(
    checkpoint: Checkpoint, text: str, target: str | Sequence[Token], step: int
) -> Forecast:
    """Forecast what each arrow of the row takes that writes the target's token number `step`.

    Raises InputError where a model writes nothing, or where the matrix that joins its heads is
    not one of a module that takes them as they are.
    """
    if not checkpoint.family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: there is no word to ask for.")
    sources = source_ids(checkpoint, text)
    targets = target_ids(checkpoint, target, len(sources)) or []
    if not 0 <= step < len(targets):
        raise InputError(f"There is no step {step}: the target has {len(targets)}, from 0.")
    recording = record(checkpoint, text, target)
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    query = len(forced.inputs[-1]) - len(targets) + step
    calls = _calls(checkpoint, recording, query)
    taps = {place: _tap(place, query, call) for place, call in calls.items()}
    rows = [torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs]
    with torch.inference_mode(False), torch.enable_grad():
        with _tapped(checkpoint, calls, taps):
            logits = _logits(checkpoint, rows)[-len(targets) :][step]
        log_prob = logits.float().log_softmax(-1)[targets[step]]
        leaves = [tap.leaf for tap in taps.values()]
        slopes = torch.autograd.grad(log_prob, leaves, allow_unused=True)
    costs, errors = {}, [0.0]
    for (place, tap), slope in zip(taps.items(), slopes, strict=True):
        if tap.heads is None:
            raise InputError(_NOT_MET.format(name=checkpoint.name))
        slope = torch.zeros_like(tap.leaf) if slope is None else slope
        own, error = _costs(calls[place], query, tap.heads, slope)
        costs[place] = own if place[0] == "cross" else own[:, : query + 1]  # what is there already
        errors.append(error)
    return Forecast(step, query, float(log_prob.detach()), costs, max(errors))


_NOT_MET = (
    "{name} joins its heads where no gradient can be asked for: its arrows have no forecast. Cut "
    "them one by one."
)


def _calls(checkpoint: Checkpoint, recording: Recording, query: int) -> dict[Place, AttentionCall]:
    kinds = [kind for kind in recording.attentions if kind != "encoder_self"]
    calls = {
        (kind, layer): call
        for kind in kinds
        for layer, call in enumerate(recording.attentions[kind].calls)
        if call.q.size(1) > query
    }
    if not calls or any(call.projection is None or not call.v.size(-1) for call in calls.values()):
        raise InputError(_NOT_MET.format(name=checkpoint.name))
    return calls


def _tap(place: Place, query: int, call: AttentionCall) -> _Tap:
    leaf = torch.zeros(call.n_heads * call.v.size(-1), device=call.v.device)
    return _Tap(place, query, leaf.requires_grad_())


@contextmanager
def _tapped(
    checkpoint: Checkpoint, calls: Mapping[Place, AttentionCall], taps: Mapping[Place, _Tap]
) -> Iterator[None]:
    """Hooks before the modules whose weights are the matrices W_O of these calls.

    A model may use one module for several layers, in their order.
    """
    model: Any = checkpoint.model
    modules = {
        weight.data_ptr(): module
        for module in model.modules()
        if isinstance(weight := getattr(module, "weight", None), Tensor) and weight.dim() == 2
    }
    hooks: dict[nn.Module, _Taps] = {}
    for place, call in calls.items():
        assert call.projection is not None
        module = modules.get(call.projection.data_ptr())
        if module is None:
            raise InputError(_NOT_MET.format(name=checkpoint.name))
        hooks.setdefault(module, _Taps()).taps.append(taps[place])
    handles = [module.register_forward_pre_hook(each.hook) for module, each in hooks.items()]
    try:
        with as_written():
            yield
    finally:
        for handle in handles:
            handle.remove()


def _logits(checkpoint: Checkpoint, rows: Sequence[Tensor]) -> Tensor:
    """[T, V]. Raises InputError for a model that keeps tensors without gradients."""
    model: Any = checkpoint.model
    try:
        logits: Tensor = model(*rows)[0]
    except RuntimeError as error:
        if "nference tensor" not in str(error):
            raise
        raise InputError(_NOT_MET.format(name=checkpoint.name)) from error
    if not logits.requires_grad:
        raise InputError(_NOT_MET.format(name=checkpoint.name))
    return logits


def _costs(call: AttentionCall, query: int, heads: Tensor, slope: Tensor) -> tuple[Tensor, float]:
    """Costs of cutting each arrow [H, K] in float64; and how far from 0 the rows' sums are."""
    row = call.at(torch.tensor([query], device=call.q.device))
    weights, is_open = row.weights()[:, 0].double().cpu(), row.allowed()[:, 0].cpu()
    n_heads = call.n_heads
    v = call.v.double().cpu().repeat_interleave(n_heads // call.v.size(0), 0)  # [H, K, d_value]
    z, g = (each.double().cpu().view(n_heads, -1) for each in (heads, slope))
    lost = weights * ((v @ g[..., None])[..., 0] - (z * g).sum(-1, keepdim=True))
    rest = 1 - weights
    costs = torch.where((rest > 0) & is_open, lost / rest, torch.nan)
    return costs, float(lost.sum(-1).abs().max())
