"""The schedule: the learning rate and the steps at which snapshots are kept."""


def rate(step: int, steps: int, warmup_steps: int, decay_fraction: float) -> float:
    """The factor on the learning rate at a step: up, level, and down to zero.

    Unlike AIAYN's inverse square root (section 5.3) it ends at zero, which is worth about as much
    as doubling the steps of a short run, and its level part lets `steps` be changed on resuming.
    """
    decay_steps = max(1, round(steps * decay_fraction))
    return min(1.0, (step + 1) / max(1, warmup_steps), max(0, steps - step) / decay_steps)


def inverse_square_root(step: int, d_model: int, warmup_steps: int) -> float:
    """AIAYN's learning rate at a step, counted from 1 (section 5.3, equation 3).

    d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5): it grows linearly over warmup_steps,
    then falls with the inverse square root of the step. Its peak, where both are equal, is
    (d_model * warmup_steps)^-0.5 at step warmup_steps.

    >>> f"{inverse_square_root(4000, d_model=512, warmup_steps=4000):.6f}"
    '0.000699'
    """
    return float(d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5))


def snapshot_steps(steps: int, n: int, first: int = 20) -> list[int]:
    """At most n log-spaced steps: 0, first, ..., steps; fewer where a run is too short for n."""
    if n < 2:
        return []
    first = min(first, steps)
    ratio = (steps / first) ** (1 / max(1, n - 2))
    spaced = [round(first * ratio**i) for i in range(n - 2)]
    return sorted({0, *spaced, steps})
