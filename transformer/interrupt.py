"""Ctrl-C while a command is still being imported: it ends at once, without a traceback.

To import this is enough; `transformer` does so before anything else.
"""

import multiprocessing
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

STOPPED = 130
"""The exit status of what Ctrl-C has ended, as shells have it."""
COMMANDS = ("transformer", "viz", "headscope")
"""The names by which a shell runs us, after `python -m` or as a script."""


def is_command() -> bool:
    """Tell whether this process is one of our commands, and no worker of one."""
    words = sys.orig_argv
    by_module = words[words.index("-m") + 1 :] if "-m" in words else []
    name = by_module[0] if by_module else Path(sys.argv[0]).stem
    return name in COMMANDS and multiprocessing.parent_process() is None


def end_quietly() -> None:
    """Let Ctrl-C end this process without a word, if it is a command that is being imported.

    An exception would not do: parts of libraries that are written in C turn it into another one.
    """
    is_first = threading.current_thread() is threading.main_thread()
    if is_first and is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_again() -> None:
    """From here on Ctrl-C is a KeyboardInterrupt, as usual."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(STOPPED)


end_quietly()
