"""The device and precision that models run with."""

import torch

from transformer.refusal import Refusal, quoted


class DeviceError(Refusal, ValueError):
    """A device that is not there; the message says which are."""


def choose_device(name: str | None = None) -> torch.device:
    """The named device; without a name CUDA, else MPS, else the CPU. Raises DeviceError."""
    present = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    available = [kind for kind, there in present.items() if there]
    kind = available[0] if name is None else name.split(":")[0]
    if kind not in available:
        raise DeviceError(
            f"there is no device {quoted(name)} here; there is {', '.join(available)}."
        )
    return torch.device(name or kind)


def inference_dtype(device: torch.device) -> torch.dtype:
    """Half precision on CUDA; full precision where half is slow or unsafe."""
    return torch.float16 if device.type == "cuda" else torch.float32
