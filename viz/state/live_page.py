"""The page without a server that this server serves beside the app: made once, in a process of its
own, and kept in a folder for as long as neither the code nor a checkpoint changes.
"""

import atexit
import gzip
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from logging import getLogger
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock, Thread
from types import SimpleNamespace
from typing import Any, cast

import transformer
from transformer.checkpoint import CARD, FOLDER, checkpoints_folder, shipped_path
from viz.live.shelf import LISTS
from viz.run.request import about
from viz.run.settings import base_path, is_public, live
from viz.state.checkpoints import shipped_names

AT = "live"
"""The address of the page, below that of the app."""
APP = "../?app=yes"
"""The address of the app, relative to the page's."""
INDEX = "index.html"
SHIPPED = (
    *("en-de", "en-de-small", "en-de-1", "everyday", "shakespeare", "sentiment"),
    *("sentiment-mean", "copy"),
)
"""The checkpoints that come with the code: a public server hands out no other weights."""
COMPRESSED = (".html", ".js", ".css", ".json", ".md", ".svg")
WEEK = 7 * 86_400
"""Seconds for which a page is kept that no server begins with."""
_TREE = Path(transformer.__file__).parents[1]
_LOG = getLogger(__name__)


def live_address() -> str:
    """The path below which the page is, without a slash at its end."""
    return "/".join(["", *filter(None, (base_path(), AT))])


class LivePage:
    """The folder of the page, once it is there."""

    def __init__(self) -> None:
        self.folders: tuple[Path, ...] = ()
        """The newest first: who opened the page before still asks for files of an older one."""
        self.models: tuple[str, ...] = ()
        """The checkpoints that answer in it, the first one unless another is chosen."""
        self.has_failed = False
        self._lock, self._thread = Lock(), cast("Thread | None", None)
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    @property
    def is_there(self) -> bool:
        return bool(self.folders)

    def begin(self) -> None:
        """Make it, unless it is there, is being made, has failed or is not wanted."""
        with self._lock:
            is_over = self.is_there or self.has_failed or live() == "no"
            if not is_over and (self._thread is None or not self._thread.is_alive()):
                self._is_stopped = False
                self._thread = Thread(target=self._make, name="live page", daemon=True)
                self._thread.start()

    def end(self) -> None:
        """Make it no longer: the server ends."""
        self._is_stopped = True
        if self._process is not None:
            self._process.terminate()

    def _make(self) -> None:
        try:
            names = names_for_page()
            if not names:
                raise OSError("there is no checkpoint that the page's engine reads")
            # Whoever waits needs the page, which is there in seconds; what stands beside it takes
            # a minute or two.
            for without in (LISTS, ()):
                folder = self._made(names, without)
                older = [each for each in self.folders if each != folder]
                self.models, self.folders = names, (folder, *older)
        except Exception as error:  # the app goes on without it
            if not self._is_stopped:
                self.has_failed = True
                _LOG.error("The page without a server could not be made: %s", error)

    def _made(self, names: Sequence[str], without: Sequence[str]) -> Path:
        pages = _pages()
        whole = pages / key_of_page(names)
        alone = pages / f"{whole.name}-alone"
        folder = alone if without else whole
        if without and (whole / INDEX).is_file():  # nobody has it open: this server just began
            shutil.rmtree(alone, ignore_errors=True)
        for each in (whole, folder):
            if (each / INDEX).is_file():
                os.utime(each)  # it is in use
                return each
        making = Path(mkdtemp(prefix="making-", dir=pages))
        try:
            self._run(making, names, without)
            for path in [each for each in making.rglob("*") if each.suffix in COMPRESSED]:
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9))
            with suppress(OSError):  # another server made the same meanwhile
                making.rename(folder)
        finally:
            shutil.rmtree(making, ignore_errors=True)
        _forget_others(pages, folder)
        if not (folder / INDEX).is_file():
            raise OSError(f"{folder} cannot be written")
        return folder

    def _run(self, out: Path, names: Sequence[str], without: Sequence[str]) -> None:
        """Not in this process, where everybody who asks for an answer would wait for it."""
        command = [sys.executable, "-m", "viz", "site", str(out), "--app", APP]
        for name in names:
            command += ["--checkpoint", str(shipped_path(name).absolute())]
        if without:
            command += ["--without", ",".join(without)]
        own = {FOLDER: str(checkpoints_folder().absolute()), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            command,
            cwd=_TREE,
            env=os.environ | own,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        with suppress(OSError, AttributeError):  # not Unix, or it has ended
            os.setpriority(os.PRIO_PROCESS, self._process.pid, 19)
        _, errors = self._process.communicate()
        if self._process.returncode:
            raise OSError(errors.decode("utf-8", "replace").strip()[-500:] or "it was stopped")


def names_for_page() -> tuple[str, ...]:
    """The checkpoints that answer in the page: those that its engine runs, and that everybody may
    have. Nothing that a visitor has opened is among them.
    """
    from viz.live.models import not_read

    is_own = checkpoints_folder().resolve() != (_TREE / "checkpoints").resolve()
    if is_public() and is_own:
        return ()
    names = [name for name in shipped_names() if not is_public() or name in SHIPPED]
    described = [(name, about(name)) for name in names]
    read = [
        name
        for name, it in described
        if it is not None
        and it.about.examples
        and (shipped_path(name) / CARD).is_file()
        and not not_read(
            cast(Any, SimpleNamespace(path=shipped_path(name), about=it.about, config=it.config))
        )
    ]
    return tuple(sorted(read, key=lambda name: SHIPPED.index(name) if name in SHIPPED else 99))


def key_of_page(names: Sequence[str]) -> str:
    """Another text for another page: of the state of all files that it is made of."""
    total = sha256(repr((sys.version, tuple(names))).encode())
    folders = [_TREE / "viz", _TREE / "transformer", *map(shipped_path, names)]
    for path in sorted(path for folder in folders for path in _files(folder)):
        it = path.stat()
        total.update(f"{path}\n{it.st_size} {it.st_mtime_ns}\n".encode())
    return total.hexdigest()[:16]


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path


def _pages() -> Path:
    """The folder of pages: among one's caches, else one that ends with this process."""
    own = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    try:
        folder = own / "headscope" / "live"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    except (OSError, RuntimeError):  # read-only, or nobody's home
        pass
    folder = Path(mkdtemp(prefix="headscope-live-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _forget_others(pages: Path, folder: Path) -> None:
    """Remove pages that no server has begun with for a week."""
    for each in pages.iterdir():
        with suppress(OSError):
            if folder.stat().st_mtime - each.stat().st_mtime > WEEK:  # it was begun with just now
                shutil.rmtree(each, ignore_errors=True)


LIVE_PAGE = LivePage()
