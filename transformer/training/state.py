"""Everything a stopped run needs to go on, in one safetensors file."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from transformer.files.tensors import UNMAPPED
from transformer.files.whole_file import write_whole
from transformer.training.task import TrainingError


def save_state(
    file: Path,
    modules: dict[str, nn.Module],
    optimizer: Optimizer,
    progress: dict[str, Any],
) -> None:
    """Write modules, optimizer, the random state and progress (JSON values) in one move.

    Raises Unwritten.
    """
    tensors = {"random": torch.get_rng_state()}
    for prefix, module in modules.items():
        tensors |= {f"{prefix}/{name}": tensor for name, tensor in module.state_dict().items()}
    for index, values in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer/{index}/{name}": value for name, value in values.items()}
    metadata = {"progress": json.dumps(progress)}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    write_whole(file, save(tensors, metadata))


def load_state(file: Path, modules: dict[str, nn.Module], optimizer: Optimizer) -> dict[str, Any]:
    """Put everything back where `save_state` found it; returns progress. Raises TrainingError."""
    try:
        with safe_open(file, framework="pt", backend=UNMAPPED) as opened:
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
            progress: dict[str, Any] = json.loads(opened.metadata()["progress"])
        _restore(tensors, modules, optimizer)
    except (SafetensorError, RuntimeError, KeyError, ValueError) as error:
        raise TrainingError(
            f"{file} does not belong to this recipe: move its folder away to start again."
        ) from error
    return progress


def _restore(
    tensors: dict[str, Tensor], modules: dict[str, nn.Module], optimizer: Optimizer
) -> None:
    torch.set_rng_state(tensors.pop("random"))
    for prefix, module in modules.items():
        module.load_state_dict(_under(tensors, f"{prefix}/"))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _under(tensors, "optimizer/").items():
        index, key = name.split("/")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
