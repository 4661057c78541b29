"""The device and precision that models run with, and what goes wrong on a device."""

import gc
import os
import re
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import local

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from transformer.refusal import Refusal, quoted

# The device and precision that models run with, and what goes wrong on a device.

PRECISION = "HEADSCOPE_PRECISION"
PRECISIONS = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
}
"""The values of HEADSCOPE_PRECISION; bfloat16 grows as large as float32, with fewer digits."""
_NO_MEMORY = re.compile(
    r"out of memory|can't allocate memory|not enough memory|_ALLOC_FAILED|OUT_OF_MEMORY", re.I
)
_LOST = re.compile(r"^(CUDA|HIP|XPU|MPS|cuDNN|MIOpen|NCCL)[\w ]*error", re.I)
"""The beginning of errors after which a device does nothing any more."""


class DeviceError(Refusal, ValueError):
    """A device that is not there, or that could not do what was asked; the message says why."""


class OutOfMemory(DeviceError):
    """The device has too little memory. What was asked for holds none of it any more."""


class LostDevice(DeviceError):
    """The device does nothing any more, for this process."""


class NotFinite(DeviceError):
    """A model computed numbers that are none: in half precision, they grew too large."""


def choose_device(name: str | torch.device | None = None) -> torch.device:
    """The named device; without a name CUDA, else MPS, else the CPU. Raises DeviceError."""
    n_of = {
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
        "cpu": 1,
    }
    available = [kind for kind, n in n_of.items() if n]
    text = available[0] if name is None else str(name)
    try:
        device = torch.device(text)
    except RuntimeError:  # torch has no such word
        device = None
    # The text's own number: torch reads cpu:300 as cpu:44, and cuda:257 as cuda:1.
    if device is None or int(text.partition(":")[2] or 0) >= n_of.get(device.type, 0):
        raise DeviceError(
            f"there is no device {quoted(text)} here; there is {', '.join(available)}."
        )
    return device


def inference_dtype(device: torch.device) -> torch.dtype:
    """Half precision on CUDA; full precision where half is slow or unsafe.

    HEADSCOPE_PRECISION says another one. Raises DeviceError.
    """
    return asked_dtype() or (torch.float16 if device.type == "cuda" else torch.float32)


def asked_dtype() -> torch.dtype | None:
    """HEADSCOPE_PRECISION: float16, bfloat16 or float32; None: not set. Raises DeviceError."""
    setting = os.environ.get(PRECISION)
    if setting is None or setting in PRECISIONS:
        return None if setting is None else PRECISIONS[setting]
    raise DeviceError(f"{PRECISION} must be float16, bfloat16 or float32, not {quoted(setting)}.")


def precision_name(dtype: torch.dtype) -> str:
    """Name a precision as HEADSCOPE_PRECISION does.

    >>> precision_name(torch.bfloat16)
    'bfloat16'
    """
    return str(dtype).removeprefix("torch.")


def precision_of(model: nn.Module) -> str:
    """Name the precision that most of a model's weights are in; without weights it is float32."""
    n_of: Counter[torch.dtype] = Counter()
    for weights in model.parameters():
        if weights.is_floating_point():
            n_of[weights.dtype] += weights.numel()
    return precision_name(n_of.most_common(1)[0][0] if n_of else torch.float32)


@contextmanager
def device_trouble() -> Iterator[None]:
    """Raise DeviceError in place of what torch says of a device, and free what was taken."""
    try:
        yield
    except Exception as error:
        trouble = device_error(error)
        if trouble is None or trouble is error:
            raise
        free(error)
        raise trouble from error


def device_error(error: BaseException) -> DeviceError | None:
    """Find the device's error in an error, however deep within others; None: it is about none."""
    for each in _chain(error):
        if isinstance(each, DeviceError):
            return each
        message = str(each)
        if isinstance(each, torch.OutOfMemoryError) or (
            isinstance(each, RuntimeError) and _NO_MEMORY.search(message)
        ):
            where = "This machine" if "DefaultCPUAllocator" in message else "The GPU"
            return OutOfMemory(
                f"{where} has too little memory for this, and what it took is free again: a "
                "shorter text, a smaller beam or a smaller checkpoint needs less."
            )
        if type(each).__name__ == "AcceleratorError" or (  # torch 2.7 has none
            isinstance(each, RuntimeError) and _LOST.match(message)
        ):
            why = message.partition("\n")[0].partition("error: ")[2] or message.partition("\n")[0]
            return LostDevice(
                f"The GPU does not answer any more ({why[:120].rstrip('. ')}): the program must "
                "be started again, or run on the CPU."
            )
    return None


def free(error: BaseException | None = None) -> None:
    """Give back the memory that nobody uses. error: whose traceback holds tensors no longer."""
    for each in _chain(error) if error is not None else ():
        traceback.clear_frames(each.__traceback__)
    gc.collect()
    if torch.accelerator.is_available():
        with suppress(RuntimeError):  # a lost device says so again
            torch.get_device_module().empty_cache()


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, and those that it came from."""
    seen: set[int] = set()
    here: BaseException | None = error
    while here is not None and id(here) not in seen:
        seen.add(id(here))
        yield here
        here = here.__cause__ or here.__context__


# torch's state as it begins, where a caller has set another for code of their own.
#
# With another default device half of what is made here would lie beside the other half; another
# default type would round weights that are read, and autocast what is computed of a recording. A
# module of somebody's own goes on running as they have set it.


@dataclass(frozen=True)
class _State:
    device: torch.device
    dtype: torch.dtype
    casts: tuple[tuple[str, torch.dtype], ...]
    """Kinds of devices where autocast is on, and to which type."""

    @classmethod
    def here(cls) -> "_State":
        casts = _CASTING if torch._C._is_any_autocast_enabled() else ()
        return cls(
            torch.get_default_device(),
            torch.get_default_dtype(),
            tuple(
                (it, torch.get_autocast_dtype(it)) for it in casts if torch.is_autocast_enabled(it)
            ),
        )

    @contextmanager
    def entered(self, before: "_State") -> Iterator[None]:
        """Have this state in the place of another until it is left."""
        with ExitStack() as stack:
            if self.device != before.device:
                stack.enter_context(self.device)
            for kind, dtype in dict(before.casts + self.casts).items():
                is_on = kind in dict(self.casts)
                stack.enter_context(torch.autocast(kind, dtype=dtype, enabled=is_on))
            if self.dtype != before.dtype:  # of the whole process
                torch.set_default_dtype(self.dtype)
                stack.callback(torch.set_default_dtype, before.dtype)
            yield


_CASTING = ("cpu", "cuda", "mps", "xpu")
_USUAL = _State(torch.device("cpu"), torch.float32, ())


class _Asked(local):
    """The state that a caller has set, while this thread is in the usual one."""

    state: _State | None = None


_ASKED = _Asked()


@contextmanager
def usual_state() -> Iterator[None]:
    """Have tensors made on the CPU in float32 unless they are asked for otherwise, and no autocast.

    Raises DeviceError where tensors hold no numbers.
    """
    if _is_untouched():  # at nearly no cost
        yield
        return
    if (what := _without_numbers()) is not None:
        raise DeviceError(f"Nothing can be recorded or computed within {what}: leave it first.")
    state = _State.here()
    if state == _USUAL:
        yield
        return
    outer, _ASKED.state = _ASKED.state, state
    try:
        with _USUAL.entered(state):
            yield
    finally:
        _ASKED.state = outer


@contextmanager
def callers_state() -> Iterator[None]:
    """The state in which `usual_state` was entered, for code of that caller."""
    if _ASKED.state is None:
        yield
        return
    with _ASKED.state.entered(_USUAL):
        yield


def _is_untouched() -> bool:
    """Tell whether nothing is entered here, and the type is the usual one."""
    return (
        torch.get_default_dtype() == torch.float32
        and torch._C._len_torch_function_stack() == 0  # a default device is a mode of it
        and torch._C._len_torch_dispatch_stack() == 0
        and not torch._C._is_any_autocast_enabled()
        and torch._C._functorch.peek_interpreter_stack() is None
        and torch._C._get_tracing_state() is None
    )


def _without_numbers() -> str | None:
    """Name what is entered here that computes without numbers, or asks for their derivatives."""
    if any(type(each).__name__ == "FakeTensorMode" for each in _get_current_dispatch_mode_stack()):
        return "a FakeTensorMode"
    transform = torch._C._functorch.peek_interpreter_stack()
    if transform is not None and transform.key() != torch._C._functorch.TransformType.Vmap:
        return "a transform of torch.func that takes derivatives"
    return None if torch._C._get_tracing_state() is None else "what torch.jit traces"


# The memory that is free on a device, and what the weights of a model take of it.

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


# The precision in which numbers are computed on from what a model gave.


def at_least_single(values: Tensor) -> Tensor:
    """Return values in float32 where they have less; of a model in float64 as they are.

    So an identity that rounding hides in float32 can be proved to 1e-12 on the same code.
    """
    return values.to(torch.promote_types(values.dtype, torch.float32))
