"""The checkpoints on offer: the shipped ones, and those that were opened by path."""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import nullcontext
from functools import cache, lru_cache, partial
from itertools import chain
from logging import getLogger
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from transformer import CheckpointError
from transformer.checkpoint import (
    CONFIG,
    SNAPSHOTS,
    allowed_folders,
    checkpoints_folder,
    is_allowed,
    shipped_path,
)
from transformer.files.foreign_text import clean, write_whole
from transformer.files.regular_file import natural
from transformer.files.weights_file import ARRAYS
from transformer.fingerprint import size_of
from transformer.formats.adapter import own_adapter, pair_of
from transformer.formats.bare_arrays import NOT_TAKEN
from transformer.formats.bare_arrays import load as load_arrays
from transformer.formats.opening import find_format, format_of, is_there, locate
from transformer.formats.own_module import offered
from transformer.hugging_face.adapters.settings import SEPARATOR, adapted_path, parts_of
from transformer.refusal import Refusal
from viz.app_packages import draws_pages, st
from viz.labels import literal
from viz.run.cache import once_a_run
from viz.run.line import repeated
from viz.run.request import Request, is_loaded, open_checkpoint
from viz.run.settings import is_public, opened_at_start
from viz.state.state import session

# Checkpoints that a person may open beside the shipped ones, and where they are.
#
# On the person's own machine that is any folder. A server that others can reach opens nothing
# unless its operator names folders; links that lead out of these are not followed.

MOST = 200
"""Checkpoints that one folder of folders may list."""
OFF = (
    "Opening paths is off: others can reach this server. Its operator may allow folders with "
    "HEADSCOPE_FOLDERS."
)

NOT_FETCHED = "This server fetches no models, so {}, which the link names, is not opened."


NOT_HERE = (
    "This server opens checkpoints by path in folders of its operator's choice, and there is none "
    "at this path."
)
"""Said of everything else alike: of what lies outside, leads outside, or does not exist."""


def can_open() -> bool:
    """Tell whether anything may be opened by its path."""
    return allowed_folders() is not None or not is_public()


def is_at_home() -> bool:
    """Tell whether whatever lies on this machine may be opened, and the hub may be asked."""
    return allowed_folders() is None and not is_public()


def find(text: str, may_fetch: bool = True) -> Sequence[Path]:
    """The checkpoints that a path or a name on the hub stands for, a folder of folders being many.

    may_fetch: whether a name may be looked up on the hub. Raises CheckpointError in a sentence.
    """
    if not can_open():
        raise CheckpointError(OFF)
    near = allowed_folders() is None
    path = _either(text, partial(_located, may_fetch=may_fetch) if near else _among_allowed)
    check_allowed([path])
    paths = _checkpoints(path)
    for each in paths:
        check_allowed([each, *format_of(each).files(each)])
    return paths


def find_at_start(text: str) -> Sequence[Path]:
    """The same for what the operator named: no folder is closed to them."""
    return _checkpoints(_either(text, partial(_located, may_fetch=True)))


LARGEST_DROPPED = 8 << 20
"""Bytes of a file that a browser hands over."""


def largest_dropped() -> int:
    """Bytes that a file of attention weights may have which is dropped; 0: none is taken.

    It is kept in a folder of this process, which a server for others has no room for.
    """
    return LARGEST_DROPPED if is_at_home() else 0


@cache
def _dropped_folder() -> TemporaryDirectory[str]:
    """It is removed when the process ends."""
    return TemporaryDirectory(prefix="headscope-")


def open_dropped(name: str, content: bytes) -> str:
    """Keep a file of attention weights, and put it on offer. The name of it.

    Raises CheckpointError.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in ARRAYS or len(content) > largest_dropped():
        taken = {"endings": " or ".join(ARRAYS), "most": f"{largest_dropped():,}"}
        raise CheckpointError(NOT_TAKEN.format(name=clean(name), **taken))
    stem = re.sub(r"[^\w-]+", "_", Path(name).stem)[:60] or "arrays"
    folder = Path(_dropped_folder().name) / hashlib.sha256(content).hexdigest()[:16]
    path = folder / f"{stem}{suffix}"
    write_whole(path, content)
    try:
        load_arrays(path, torch.device("cpu"))  # what is wrong is said before it is on offer
    except Refusal:
        path.unlink()
        raise
    return keep_opened([path])


def check_allowed(paths: Iterable[Path]) -> None:
    """Raise CheckpointError for a path outside the allowed folders, wherever its links lead."""
    parts = chain.from_iterable(parts_of(each) or (each,) for each in paths)
    if not all(map(is_allowed, parts)):
        raise CheckpointError(NOT_HERE)


def is_checkpoint(path: Path) -> bool:
    """Tell whether some format fits."""
    try:
        return find_format(path) is not None
    except (CheckpointError, OSError):
        return False


def _either(text: str, locate: Callable[[str], Path]) -> Path:
    """The path of what was typed, or of both parts of BASE::ADAPTER. Raises CheckpointError."""
    base, _, folder = text.rpartition(SEPARATOR)
    try:
        return locate(text)
    except CheckpointError:
        if not base or not folder:
            raise
    return adapted_path(locate(base), locate(folder))


def _plain(text: str) -> str:
    """Leave out the quotes and spaces that come with a path from elsewhere."""
    return text.strip().strip("\"'")


def _located(text: str, may_fetch: bool) -> Path:
    """The absolute path of what was typed. Raises CheckpointError where there is nothing."""
    name = _plain(text)
    for each in (text, name):  # a name may end in a space
        path = locate(each, may_fetch and each == name).absolute()
        if each and all(map(is_there, parts_of(path) or (path,))):
            return path
    raise CheckpointError(f"There is no {name[:200]} on this machine: type the path of a folder.")


def _among_allowed(text: str) -> Path:
    """The path of what was typed, if it lies in an allowed folder. Nothing outside is looked at.

    Raises CheckpointError.
    """
    folders = allowed_folders() or ()
    for each in (text, _plain(text)):  # a name may end in a space
        path = Path(os.path.normpath(each))
        try:
            if any(path.is_relative_to(folder) for folder in folders) and path.exists():
                return path
        except (OSError, ValueError):
            pass
    raise CheckpointError(NOT_HERE)


def _checkpoints(path: Path) -> Sequence[Path]:
    """The path itself, or what lies in it. Raises CheckpointError where that is nothing.

    An adapter's base follows it, and a base is followed by itself with the adapter in its folder.
    """
    if is_checkpoint(path):
        return list(dict.fromkeys([path, *(pair_of(path) or ())]))
    try:
        inside = sorted(path.iterdir()) if path.is_dir() else []
    except OSError as error:
        raise CheckpointError(f"{path.name} cannot be read: {error.strerror}.") from error
    paths = [each for each in inside[: 10 * MOST] if is_checkpoint(each)][:MOST]
    if not paths:
        format_of(path)  # says what opens
    return [*paths, *filter(None, map(own_adapter, paths))]


# The checkpoints on offer: the shipped ones, and those that were opened by path.
#
# What somebody opened belongs to the session; the address names its path too, so that a link
# opens it again on a machine that has it.

_opened_here: dict[str, None] = {}


def checkpoint_names() -> list[str]:
    """All that may be chosen, whole or damaged, the first being the default.

    Shipped ones by the names of their folders, others by their paths.
    """
    opened = [str(path) for path in at_start()[0]]
    return [*opened, *shipped_names(), *session().opened]


@once_a_run
def shipped_names() -> list[str]:
    """The checkpoints that lie beside the app, or where the operator keeps them."""
    folder = checkpoints_folder()
    try:
        paths = sorted(folder.iterdir(), key=lambda path: natural(path.name))
    except OSError:
        return []
    offered = [path for path in paths if _is_on_offer(path)]
    names = sorted(
        (path.name for path in offered), key=lambda name: name != "en-de"
    )  # a stable one
    return [*names, *map(str, filter(None, map(own_adapter, offered)))]


def _is_on_offer(path: Path) -> bool:
    try:
        return (path / CONFIG).is_file() or is_checkpoint(path)
    except OSError:
        return False


def title(name: str) -> str:
    """Name a checkpoint on screen: its folder, with the one above where two are alike."""
    path = Path(name)
    if not path.is_absolute():
        return name
    if path.parent.name == SNAPSHOTS:
        return f"{path.parent.parent.name} step {path.stem.lstrip('0') or '0'}"
    if parts := parts_of(path):
        base, folder = parts
        return f"{base.name} with {'its adapter' if base == folder else folder.name}"
    names = [Path(each).name for each in checkpoint_names() if not parts_of(Path(each))]
    return path.name if names.count(path.name) == 1 else f"{path.parent.name}/{path.name}"


def keep_opened(paths: Sequence[Path]) -> str:
    """Add checkpoints to those of this session. Returns the name of the first one."""
    opened = session().opened
    names = [*map(str, at_start()[0]), *opened]
    opened += [str(path) for path in paths if str(path) not in names]
    if not is_public():  # else one visitor would learn what another has opened
        _opened_here.update(dict.fromkeys(map(str, paths)))
    return str(paths[0])


def opened_before() -> list[str]:
    """The paths that were opened since the server began, at home, in whatever session."""
    return [] if is_public() else list(_opened_here)


def is_here(name: str, names: Collection[str]) -> bool:
    """Tell whether a checkpoint is one of those that may be chosen, or lies at its path."""
    if name in names:
        return True
    try:
        return Path(name).is_absolute() and bool(find(name, may_fetch=False))
    except CheckpointError:
        return False


def open_linked(name: str | None) -> str | None:
    """Put on offer what an address names by its path. The name of it.

    A link fetches nothing from the hub: only a person does. Raises CheckpointError.
    """
    if name is None or name in checkpoint_names() or not Path(name).is_absolute():
        return name
    return keep_opened(find(name, may_fetch=False))


def pair_with(name: str) -> tuple[str, str] | None:
    """Return the names of a base and of itself with an adapter, one of which a checkpoint is.

    None where there is no other, or it may not be opened.
    """
    try:
        pair = pair_of(shipped_path(name))
    except CheckpointError:  # the list says it
        return None
    if pair is None:
        return None
    base, adapted = (_name_of(each) for each in pair)
    may = can_open() or {base, adapted} <= set(checkpoint_names())
    return (base, adapted) if may else None


def _name_of(path: Path) -> str:
    is_shipped = path.parent == checkpoints_folder() and not parts_of(path)
    return path.name if is_shipped else str(path)


def load(request: Request) -> None:
    """Load the checkpoint, with a word about it where that takes long.

    Raises as `open_checkpoint`.
    """
    if is_loaded(request):
        return
    name = request.checkpoint
    size = f"{size_of(shipped_path(name)) / 1e6:,.0f} MB"
    says = f"Loading {literal(title(name))}, {size}"
    with st.spinner(says) if draws_pages() else nullcontext():  # nobody sees one in a shell
        repeated(name, request.text, lambda: open_checkpoint(request))


def at_start() -> tuple[tuple[Path, ...], str | None]:
    """The checkpoints that the app was started with, or why these cannot be opened.

    Modules that `explore` was given come first.
    """
    named, problem = _named_at_start()
    return (*offered(), *named), problem


@lru_cache(maxsize=1)
def _named_at_start() -> tuple[tuple[Path, ...], str | None]:
    text = opened_at_start()
    if not text:
        return (), None
    try:
        return tuple(find_at_start(text)), None
    except CheckpointError as error:
        if is_public():  # the path is nobody else's affair
            getLogger(__name__).error("What HEADSCOPE_CHECKPOINT names: %s", error)
            return (), "The checkpoint that this server was started with cannot be opened."
        return (), str(error)


def own_default() -> str | None:
    """Return the path that the app was started with, where it is what is shown first; else None.

    None on a public server, too: a path of its machine is nobody else's affair.
    """
    named = _named_at_start()[0]
    return str(named[0]) if named and not offered() and not is_public() else None


def caption_of(request: Request, name: str) -> str:
    """Return the caption of a copied figure: the checkpoint, and what is shown of it, by name."""
    return f"{title(request.checkpoint)} · {name}"
