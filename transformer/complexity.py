"""The cost of a layer: self-attention beside its rivals (AIAYN, section 4, table 1), and timed.

A layer maps n positions of width d to n others. The table counts three things: operations a
layer, operations that must wait for one another, and the longest path between two positions.
Its entries are orders, O(...): here they are evaluated as they stand, constant factors left out.
"""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
"""The n that are timed."""
BUDGET = 4.5
"""Seconds that all timing may take; lengths of a layer that do not fit are left out."""
MIN_RUNS, MAX_RUNS, ENOUGH = 3, 100, 0.06
"""Runs of one length: at least and at most, and the seconds after which no more are needed."""


@dataclass(frozen=True)
class Sizes:
    """The sizes besides n, in the letters of table 1."""

    d: int = 512
    """Width of a representation: d_model."""
    k: int = 3
    """Kernel of the convolution, in positions."""
    r: int = 8
    """Neighbourhood of restricted self-attention, in positions."""


def dilated_path(n: int, sizes: Sizes) -> int:
    """log_k(n) steps, rounded up: k times as far each layer (AIAYN, section 4, table 1).

    Counted in whole numbers, as log(125) / log(5) is 3.0000000000000004.
    """
    steps, reach = 1, sizes.k
    while reach < n:
        steps, reach = steps + 1, reach * sizes.k
    return steps


def restricted_attention(q: Tensor, k: Tensor, v: Tensor, r: int) -> Tensor:
    """Attention of each position to the r around it: q, k, v [n, D] -> [n, D].

    Position i sees i - r // 2 to i - r // 2 + r - 1; an even r reaches one further back. Windows
    are views of the padded keys, not copies, and all that is computed is n scores times r.
    """
    n, d = q.shape
    before = r // 2
    keys, values = (F.pad(x, (0, 0, before, r - 1 - before)).unfold(0, r, 1) for x in (k, v))
    seen = torch.arange(n, device=q.device)[:, None] + torch.arange(r, device=q.device) - before
    scores = torch.bmm(q[:, None], keys)[:, 0] / math.sqrt(d)  # [n, r]
    weights = scores.masked_fill((seen < 0) | (seen >= n), -torch.inf).softmax(-1)
    return torch.bmm(weights[:, None], values.mT)[:, 0]  # [n, D]


Run = Callable[[Tensor], Tensor]
"""A layer that is ready to be timed: [n, D] -> [n, D]."""


def _self_attention(sizes: Sizes, device: torch.device) -> Run:
    def run(x: Tensor) -> Tensor:
        x = x[None, None]  # [1, 1, n, D]: the fused kernels want a batch and a head
        return F.scaled_dot_product_attention(x, x, x)[0, 0]

    return run


def _restricted(sizes: Sizes, device: torch.device) -> Run:
    return lambda x: restricted_attention(x, x, x, sizes.r)


def _recurrent(sizes: Sizes, device: torch.device) -> Run:
    with torch.random.fork_rng(devices=[]):  # the process's random numbers go on as they were
        layer = nn.RNN(sizes.d, sizes.d).eval().to(device)
    return lambda x: layer(x)[0]


def _convolutional(sizes: Sizes, device: torch.device) -> Run:
    with torch.random.fork_rng(devices=[]):
        layer = nn.Conv1d(sizes.d, sizes.d, sizes.k, padding=sizes.k // 2).eval().to(device)
    return lambda x: layer(x.mT[None])[0].mT[: len(x)]  # an even kernel gives one position more


@dataclass(frozen=True)
class Cost:
    """One entry of table 1."""

    formula: str
    """The text that the table prints."""
    value: Callable[[int, Sizes], int]
    """The same as a number."""


@dataclass(frozen=True)
class Layer:
    """One row of table 1."""

    name: str
    title: str
    operations: Cost
    """A layer, in operations."""
    sequential: Cost
    """In steps that must wait for one another."""
    longest_path: Cost
    """Between any two positions, in steps from one position to another."""
    timed: str
    """The code that stands for the layer when it is timed."""
    build: Callable[[Sizes, torch.device], Run]


# Steps (AIAYN, section 4, table 1): all positions at once, or straight to each other; one position
# after the other; kernels that are not dilated (after table 1).
CONSTANT, LINEAR = Cost("O(1)", lambda n, sizes: 1), Cost("O(n)", lambda n, sizes: n)
CONTIGUOUS = Cost("O(n/k)", lambda n, sizes: math.ceil(n / sizes.k))
"""The longest path where kernels are not dilated."""

LAYERS = (
    Layer(
        "self_attention",
        "Self-attention",
        Cost("O(n² · d)", lambda n, sizes: n**2 * sizes.d),  # each looks at every other
        CONSTANT,
        CONSTANT,
        "scaled_dot_product_attention, one head of width d, projections left out",
        _self_attention,
    ),
    Layer(
        "restricted",
        "Restricted self-attention",
        # A sequence below r is all neighbourhood.
        Cost("O(r · n · d)", lambda n, sizes: min(sizes.r, n) * n * sizes.d),
        CONSTANT,
        Cost("O(n/r)", lambda n, sizes: math.ceil(n / sizes.r)),  # a neighbourhood per layer
        "the same over windows of r keys",
        _restricted,
    ),
    Layer(
        "recurrent",
        "Recurrent",
        Cost("O(n · d²)", lambda n, sizes: n * sizes.d**2),  # a matrix d x d per position
        LINEAR,
        LINEAR,
        "nn.RNN(d, d)",
        _recurrent,
    ),
    Layer(
        "convolutional",
        "Convolutional",
        Cost("O(k · n · d²)", lambda n, sizes: sizes.k * n * sizes.d**2),  # k of them
        CONSTANT,
        Cost("O(log_k(n))", dilated_path),
        "nn.Conv1d(d, d, k)",
        _convolutional,
    ),
)
"""Table 1, in the order of its argument: attention first."""


@dataclass(frozen=True)
class Timing:
    """The time that one layer took at one length."""

    n: int
    ms: float
    """Median of the runs, in milliseconds."""
    runs: int


@dataclass(frozen=True)
class Measured:
    """The times of all layers, and where they were taken."""

    sizes: Sizes
    device: str
    threads: int
    """CPU threads that torch used."""
    times: dict[str, tuple[Timing, ...]]
    """Layer's name -> timings, shortest first; lengths that would take too long are left out."""

    def at(self, name: str, n: int) -> Timing | None:
        """A layer's time at n; None where it was left out."""
        return next((timing for timing in self.times[name] if timing.n == n), None)


@torch.inference_mode()
def measure(
    sizes: Sizes,
    device: torch.device,
    lengths: tuple[int, ...] = LENGTHS,
    budget: float = BUDGET,
) -> Measured:
    """Time every layer at every length, one sequence at a time, in float32 and inference mode.

    budget: seconds in all. Short lengths come first, for all layers, so that a hitch costs no more
    than the longest. Torch's threads are used as they are set.
    """
    deadline = time.perf_counter() + budget
    runs = {layer.name: layer.build(sizes, device) for layer in LAYERS}
    inputs = torch.randn(max(lengths), sizes.d, generator=torch.Generator().manual_seed(0))
    inputs = inputs.to(device)
    times: dict[str, tuple[Timing, ...]] = {layer.name: () for layer in LAYERS}
    for n in lengths:
        for layer in LAYERS:
            left = deadline - time.perf_counter()
            if _expected(layer, sizes, times[layer.name], n) * (MIN_RUNS + 1) < left:
                times[layer.name] += (_timing(runs[layer.name], inputs[:n]),)
    return Measured(sizes, str(device), torch.get_num_threads(), times)


def _expected(layer: Layer, sizes: Sizes, times: tuple[Timing, ...], n: int) -> float:
    """Seconds that a run at n should take, growing as its formula does; the first is just run."""
    if not times:
        return -math.inf
    last = times[-1]
    growth = layer.operations.value(n, sizes) / layer.operations.value(last.n, sizes)
    return last.ms / 1000 * growth


def _timing(run: Run, x: Tensor) -> Timing:
    _seconds(run, x)  # the first run also chooses kernels and fills caches
    seconds = [_seconds(run, x) for _ in range(MIN_RUNS)]
    while sum(seconds) < ENOUGH and len(seconds) < MAX_RUNS:
        seconds.append(_seconds(run, x))
    return Timing(len(x), 1000 * statistics.median(seconds), len(seconds))


def _seconds(run: Run, x: Tensor) -> float:
    started = time.perf_counter()
    run(x)
    if x.device.type != "cpu":
        torch.accelerator.synchronize(x.device)  # it was only asked to run
    return time.perf_counter() - started
