"""A run's folder belongs to one process at a time: two would overwrite each other's state."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformer.training.task import TrainingError

LOCK = "lock"
"""An empty file, which stays in the folder."""
_HELD = errno.EACCES, errno.EAGAIN


@contextmanager
def own_folder(folder: Path) -> Iterator[None]:
    """Hold the folder, which is made where there is none. Raises TrainingError where another does.

    The system lets go of it when this process ends, even if it is killed. Its forks hold nothing:
    with `flock` one that outlives it would.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK).open("ab")
    except OSError as error:
        raise TrainingError(f"{folder} cannot be written to: {error.strerror}.") from error
    with lock:
        try:
            import fcntl

            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass  # Windows has none: there nobody is told
        except OSError as error:  # any other: the file system has no locks
            if error.errno in _HELD:
                raise TrainingError(
                    f"Another training is at work in {folder}: wait for its end, or choose another "
                    "folder with --work."
                ) from error
        yield
