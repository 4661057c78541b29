"""The place of a model's weights, and their precision: what fits the device decides.

A model that does not fit is divided by the library's own `device_map`, which accelerate follows.
"""

import json
import os
import shutil
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from logging import ERROR, getLogger
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import torch
from torch import nn

from transformer.checkpoint import CheckpointError
from transformer.device import (
    PRECISION,
    DeviceError,
    asked_dtype,
    inference_dtype,
    precision_name,
)
from transformer.extras import require
from transformer.files.tensors import Stored
from transformer.memory import free_memory, in_gib
from transformer.refusal import quoted

DEVICE_MAP, OFFLOAD = "HEADSCOPE_DEVICE_MAP", "HEADSCOPE_OFFLOAD"
WAYS = ("auto", "balanced", "balanced_low_0", "sequential")
"""The library's ways of dividing a model by itself."""
ROOM = 0.9
"""Share of the free memory that weights may take: a text needs some, too."""
Map = str | dict[str, Any]


@dataclass(frozen=True)
class Placement:
    """The device or devices of a model's weights, and their precision."""

    device: torch.device
    dtype: torch.dtype
    device_map: Map | None = None
    """A way or a map of the library's; None: all of it is on the device."""
    notes: tuple[str, ...] = ()

    @contextmanager
    def options(self) -> Iterator[dict[str, Any]]:
        """Arguments of `from_pretrained`; see `keep_until_gone` for the folder that it fills."""
        if self.device_map is None:
            yield {}
            return
        require("large", f"unset {DEVICE_MAP}")
        getLogger("accelerate").setLevel(ERROR)  # it says what was asked for
        offload = offload_folder()
        folder = None if offload is None else mkdtemp(prefix="headscope-", dir=offload)
        try:
            yield {"device_map": self.device_map, "offload_folder": folder}
        except BaseException as error:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            if "offload_folder" in str(error):
                raise CheckpointError(
                    f"The devices here are too small for the weights: {OFFLOAD}=FOLDER leaves on "
                    "disk what does not fit, which is slow."
                ) from error
            raise


def keep_until_gone(model: nn.Module, folder: str | None) -> None:
    """Remove a folder of weights left on disk once the model is gone, or the process ends."""
    if folder is not None:
        weakref.finalize(model, shutil.rmtree, folder, ignore_errors=True)


def placed(
    name: str, model: nn.Module, stored: Mapping[str, Stored], device: torch.device
) -> Placement:
    """Decide it, before a value is read. Raises CheckpointError and DeviceError.

    name: of the checkpoint. model: without values. stored: its tensors, as they were saved. device:
    the one that was chosen.
    """
    n = sum(each.numel() for each in model.parameters())
    dtype, device_map, free = inference_dtype(device), asked_map(), free_memory(device)
    room, notes = ROOM * free, []
    if asked_dtype() is None and dtype == torch.float32 and n * dtype.itemsize > room:
        dtype = _half(stored)
        notes.append(
            f"In half precision ({precision_name(dtype)}): its weights take {in_gib(4 * n)} in "
            f"float32, and {in_gib(free)} were free. {PRECISION}=float32 opens it in float32 all "
            "the same."
        )
    n_bytes = n * dtype.itemsize
    if device_map is None and n_bytes > room:
        if device.type == "cpu" and offload_folder() is None:
            raise CheckpointError(
                f"{name} takes {in_gib(n_bytes)} in {precision_name(dtype)}, and {in_gib(free)} of "
                f"memory are free: {_ways_out(dtype)}."
            )
        device_map = "auto"
        notes.append(
            f"Divided over the devices that are here: its weights take {in_gib(n_bytes)}, and "
            f"{in_gib(free)} were free on {device}."
        )
    return Placement(device, dtype, device_map, tuple(notes))


def asked_map() -> Map | None:
    """HEADSCOPE_DEVICE_MAP: a way of the library's, or a JSON object of modules and devices.

    None: not set. Raises DeviceError.
    """
    setting = os.environ.get(DEVICE_MAP, "")
    if not setting or setting in WAYS:
        return setting or None
    try:
        values = json.loads(setting)
    except ValueError:
        values = None
    if not isinstance(values, dict) or not values:
        raise DeviceError(
            f"{DEVICE_MAP} must be {', '.join(WAYS)} or a JSON object of modules and devices, not "
            f"{quoted(setting)}."
        )
    return values


def offload_folder() -> str | None:
    """HEADSCOPE_OFFLOAD: a folder for weights that fit no memory; None: not set.

    Raises DeviceError.
    """
    setting = os.environ.get(OFFLOAD)
    if setting and not Path(setting).is_dir():
        raise DeviceError(f"{OFFLOAD} must be a folder, and {quoted(setting)} is none.")
    return setting or None


def entrance(model: Any, device: torch.device) -> torch.device:
    """The device that a model reads its token ids on. device: where nothing divides it."""
    devices = getattr(model, "hf_device_map", {}).values()
    fast = [each for each in devices if str(each) not in ("cpu", "disk")]
    return torch.device(fast[0]) if fast else device if not devices else torch.device("cpu")


def _half(stored: Mapping[str, Stored]) -> torch.dtype:
    """The half precision that it was saved in; else bfloat16, where nothing grows too large."""
    n_f16 = sum(each.n_values for each in stored.values() if each.dtype == "F16")
    n_all = sum(each.n_values for each in stored.values())
    return torch.float16 if 2 * n_f16 > n_all else torch.bfloat16


def _ways_out(dtype: torch.dtype) -> str:
    half = f"{PRECISION}=bfloat16 takes half, and " if dtype == torch.float32 else ""
    return f"{half}{OFFLOAD}=FOLDER leaves on disk what does not fit, which is slow"
