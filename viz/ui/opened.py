"""Which checkpoints are on offer: the shipped ones, and those that were opened by path.

What somebody opened belongs to the session; the address names its path too, so that a link opens
it again on a machine that has it.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import streamlit as st

from transformer import CheckpointError
from transformer.checkpoint import CONFIG, SNAPSHOTS
from viz.ui.opening import find, find_at_start, is_checkpoint
from viz.ui.settings import checkpoints_folder, opened_at_start

ADDRESS = "open"
"""In the address: the path of the chosen checkpoint, where it is none of the shipped ones."""
_OPENED = "opened_paths"


def checkpoint_names() -> list[str]:
    """All that may be chosen, whole or damaged, the first being the default.

    Shipped ones by the names of their folders, others by their paths.
    """
    started, problem = at_start()
    opened = [str(path) for path in started if problem is None]
    opened += st.session_state.get(_OPENED, [])
    return [*opened[: len(started)], *shipped_names(), *opened[len(started) :]]


def shipped_names() -> list[str]:
    """The checkpoints that lie beside the app, or where the operator keeps them."""
    folder = checkpoints_folder()
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    names = [
        name for name in found if (folder / name / CONFIG).is_file() or is_checkpoint(folder / name)
    ]
    return sorted(names, key=lambda name: name != "en-de")


def title(name: str) -> str:
    """What a checkpoint is called on screen: its folder, with the one above where two are alike."""
    path = Path(name)
    if not path.is_absolute():
        return name
    if path.parent.name == SNAPSHOTS:
        return f"{path.parent.parent.name} step {path.stem.lstrip('0') or '0'}"
    names = [Path(each).name for each in checkpoint_names()]
    return path.name if names.count(path.name) == 1 else f"{path.parent.name}/{path.name}"


def keep_opened(paths: Sequence[Path]) -> str:
    """Put checkpoints on offer for this session; the name of the first one."""
    known = [str(path) for path in at_start()[0]] + st.session_state.get(_OPENED, [])
    new = [str(path) for path in paths if str(path) not in known]
    st.session_state[_OPENED] = [*st.session_state.get(_OPENED, []), *new]
    return str(paths[0])


def open_from_address(suffix: str = "") -> str | None:
    """Open what a link names, once. The name of it; None where there is nothing new.

    suffix: of a second checkpoint on the page. Raises CheckpointError. A link fetches nothing
    from the hub: only a person does.
    """
    said = st.query_params.get(ADDRESS + suffix)
    once = f"opened_by_address{suffix}"
    if not said or st.session_state.get(once) == said or said in checkpoint_names():
        return None
    st.session_state[once] = said
    return keep_opened(find(said, may_fetch=False))


def write_address(name: str, suffix: str = "") -> None:
    """Name the path of the chosen checkpoint in the address, where its name is not enough."""
    key = ADDRESS + suffix
    if not Path(name).is_absolute():
        if key in st.query_params:
            del st.query_params[key]
    elif st.query_params.get(key) != name:
        st.query_params[key] = name


@lru_cache(maxsize=1)
def at_start() -> tuple[tuple[Path, ...], str | None]:
    """What the app was started with, or the sentence that says why it cannot be opened."""
    said = opened_at_start()
    if not said:
        return (), None
    try:
        return tuple(find_at_start(said)), None
    except CheckpointError as error:
        return (), str(error)
