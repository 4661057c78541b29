"""A connection that is read while somebody waits for it, however slowly it speaks."""

import io
import socket
import time
from collections.abc import Callable
from typing import Any

LOOK = 0.25
"""Seconds between two looks at whether somebody still waits."""
SILENCE, LONGEST = 30.0, 120.0
"""Seconds without a byte, and for one thing that is said, after which it is taken for dead."""


class Listening(io.RawIOBase):
    """The bytes of a socket. check: raises where nobody waits any more."""

    def __init__(self, line: socket.socket, check: Callable[[], object] | None = None) -> None:
        self._line, self._check = line, check
        self.begin()

    def begin(self) -> None:
        """Give the next thing that is said its time."""
        self._ends = time.monotonic() + LONGEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what is there. Raises TimeoutError, OSError, and what `check` raises."""
        silent = time.monotonic() + SILENCE
        self._line.settimeout(LOOK)
        while True:
            if self._check is not None:
                self._check()
            try:
                n = self._line.recv_into(buffer)
            except TimeoutError:
                n = None
            now = time.monotonic()
            if now > self._ends:
                raise TimeoutError("it speaks too slowly")
            if n is not None:
                return n
            if now > silent:
                raise TimeoutError("it says nothing any more")


class Line:
    """A socket as `http.client` uses it, which reads as `Listening` does."""

    def __init__(self, line: socket.socket, check: Callable[[], object] | None = None) -> None:
        self._line, self.listening = line, Listening(line, check)

    def sendall(self, data: Any) -> None:
        self._line.settimeout(SILENCE)
        self._line.sendall(data)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return what reads; the socket is not closed with it."""
        return io.BufferedReader(self.listening)

    def close(self) -> None:
        """Do nothing: `http.client` says so once it has the head, and bytes follow."""
