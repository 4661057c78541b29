"""When what happens: the learning rate and the steps at which snapshots are kept."""


def rate(step: int, steps: int, warmup_steps: int, decay_fraction: float) -> float:
    """The factor on the learning rate at a step: up, level, and down to zero.

    Unlike AIAYN's inverse square root (section 5.3) it ends at zero, which is worth about as much
    as doubling the steps of a short run, and its level part lets `steps` be changed on resuming.
    """
    decay_steps = max(1, round(steps * decay_fraction))
    return min(1.0, (step + 1) / max(1, warmup_steps), max(0, steps - step) / decay_steps)


def snapshot_steps(steps: int, n: int, first: int = 20) -> list[int]:
    """At most n log-spaced steps: 0, first, ..., steps; fewer where a run is too short for n."""
    if n < 2:
        return []
    first = min(first, steps)
    ratio = (steps / first) ** (1 / max(1, n - 2))
    spaced = [round(first * ratio**i) for i in range(n - 2)]
    return sorted({0, *spaced, steps})
