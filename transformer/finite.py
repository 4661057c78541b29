"""The check for numbers that are none any more: NaN, from values beyond half precision."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.device import PRECISION, NotFinite
from transformer.models.family import Ids
from transformer.watch.capture.operators import as_written

_HALF = (torch.float16, torch.bfloat16)


def log_probabilities(logits: Tensor) -> Tensor:
    """logits [..., V] -> log-probabilities in float32. Raises NotFinite where a row has none."""
    log_probs = logits.float().log_softmax(-1)
    if bool(log_probs[..., 0].isnan().any()):  # one NaN makes a whole row NaN
        raise NotFinite("The model gives no probabilities: what it computed is not a number (NaN).")
    return log_probs


def check_finite(checkpoint: Checkpoint, inputs: Sequence[Ids], logits: Tensor) -> None:
    """Raise NotFinite for logits in half precision that are no numbers; others are seen as such."""
    if logits.dtype in _HALF and bool(logits.isnan().any()):
        raise not_finite(checkpoint, inputs)


def not_finite(checkpoint: Checkpoint, inputs: Sequence[Ids]) -> NotFinite:
    """Return the error for a model that computes NaN over these arguments, one row each.

    It runs over them once more, and the first module that gives what is not finite is named.
    """
    first: list[str] = []

    def watch(name: str) -> object:
        def look(module: nn.Module, value: object, output: object) -> None:
            tensors = [output] if isinstance(output, Tensor) else []
            if not first and any(_is_broken(each) for each in tensors):
                first.append(name)

        return look

    named = [(name, module) for name, module in checkpoint.model.named_modules() if name]
    handles = [module.register_forward_hook(watch(name)) for name, module in named]
    try:
        with as_written(), torch.inference_mode():
            checkpoint.model(*(torch.tensor([ids], device=checkpoint.device) for ids in inputs))
    finally:
        for handle in handles:
            handle.remove()
    dtype = next((each.dtype for each in checkpoint.model.parameters()), torch.float32)
    where = f" at {first[0]}" if first else ""
    name = str(dtype).removeprefix("torch.")
    if dtype in _HALF:
        return NotFinite(
            f"The numbers of {checkpoint.name} grow beyond {name}{where} for this text: "
            f"{PRECISION}=float32 runs models in float32."
        )
    return NotFinite(
        f"{checkpoint.name} computes what is not a number (NaN){where} for this text: its weights, "
        "or its code, are at fault."
    )


def _is_broken(values: Tensor) -> bool:
    """Tell whether some are NaN or grew to infinity; minus infinity only rules out a class."""
    return values.is_floating_point() and bool((values.isnan() | (values == torch.inf)).any())
