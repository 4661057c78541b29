"""The memory that is free on a device, and what the weights of a model take of it."""

import os
from pathlib import Path

import torch
from torch import nn

GIB = 2**30
_CGROUPS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        *("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
        "total_inactive_file",
    ),
)
"""A container's limit, what it uses, and what of that is files that the kernel can let go: in
version 2 of Linux's control groups, and in version 1."""


def free_memory(device: torch.device) -> int:
    """Bytes that are free: of the GPU, or of this machine, within the limit of a container."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.current_allocated_memory()
    return min(_available(), *_left_in_container(Path("/sys/fs/cgroup")), _whole())


def weights_bytes(model: nn.Module) -> int:
    """Bytes of its parameters and buffers in memory, each once; 0 for those left on disk."""
    storages = {
        each.untyped_storage().data_ptr(): each.untyped_storage().nbytes()
        for each in (*model.parameters(), *model.buffers())
        if not each.is_meta
    }
    return sum(storages.values())


def in_gib(n_bytes: float) -> str:
    """Bytes in words: in GiB, or MiB below one.

    >>> in_gib(2.05 * GIB), in_gib(300 * 2**20)
    ('2.0 GiB', '300 MiB')
    """
    return f"{n_bytes / GIB:.1f} GiB" if n_bytes >= GIB else f"{n_bytes / 2**20:.0f} MiB"


def _whole() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _available() -> int:
    """Count what Linux would give without swapping; elsewhere all there is."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _whole()
    values = (line.split() for line in lines if line.startswith("MemAvailable:"))
    return next((int(value[1]) * 2**10 for value in values), _whole())


def _left_in_container(folder: Path) -> list[int]:
    """Count what a container's limit leaves; none where nothing limits it."""
    for limit, usage, stat, idle in _CGROUPS:
        try:
            most, used = (folder / limit).read_text().strip(), (folder / usage).read_text()
            lines = dict(line.split() for line in (folder / stat).read_text().splitlines())
        except (OSError, ValueError):
            continue
        if most.isdigit():
            return [max(0, int(most) - int(used) + int(lines.get(idle, 0)))]
    return []
