"""Which device models run on, and in what precision."""

import torch


def choose_device(name: str | None = None) -> torch.device:
    """The named device; without a name CUDA, else MPS, else the CPU."""
    if name is not None:
        return torch.device(name)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def inference_dtype(device: torch.device) -> torch.dtype:
    """Half precision on CUDA; full precision where half is slow or unsafe."""
    return torch.float16 if device.type == "cuda" else torch.float32
