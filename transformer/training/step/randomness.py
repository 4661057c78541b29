"""Random numbers of one thread, which only its seed decides, however threads take turns."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local

import torch

_own = local()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Within, `generator` gives this thread one of its own."""
    _own.generator = torch.Generator().manual_seed(seed)
    try:
        yield
    finally:
        _own.generator = None


def generator() -> torch.Generator | None:
    """This thread's, or None: torch's own, which all threads share."""
    of_thread: torch.Generator | None = getattr(_own, "generator", None)
    return of_thread
