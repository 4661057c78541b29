"""What an operator may set, by environment variables."""

import ipaddress
import os
from pathlib import Path

import streamlit as st


def checkpoints_folder() -> Path:
    """HEADSCOPE_CHECKPOINTS: the folder of checkpoint folders; `checkpoints` beside app.py."""
    default = Path(__file__).parents[2] / "checkpoints"
    return Path(os.environ.get("HEADSCOPE_CHECKPOINTS", default))


def opened_at_start() -> str:
    """HEADSCOPE_CHECKPOINT: a path, or a name on the hub, that everybody finds open."""
    return os.environ.get("HEADSCOPE_CHECKPOINT", "")


def allowed_folders() -> tuple[Path, ...] | None:
    """HEADSCOPE_FOLDERS: folders whose checkpoints may be opened by path, as in PATH.

    None where it is not set: then any folder may on one's own machine, and none on a server.
    """
    said = os.environ.get("HEADSCOPE_FOLDERS")
    if said is None:
        return None
    return tuple(Path(part).expanduser().resolve() for part in said.split(os.pathsep) if part)


def is_reached_by_others() -> bool:
    """Whether the server listens beyond this machine, as Streamlit does by default."""
    address = st.get_option("server.address")
    if address in ("localhost", "localhost."):
        return False
    try:
        return not ipaddress.ip_address(str(address)).is_loopback
    except ValueError:
        return True


def memory() -> int:
    """HEADSCOPE_MEMORY: MiB for answers, recordings and pictures of all sessions together; 1024.

    In bytes. Models are not counted.
    """
    return int(os.environ.get("HEADSCOPE_MEMORY", "1024")) * 2**20


def threads() -> int:
    """HEADSCOPE_THREADS: CPU threads per forward pass; 1, as many people share the machine."""
    return int(os.environ.get("HEADSCOPE_THREADS", "1"))
