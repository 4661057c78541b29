"""Checkpoints by their name on Hugging Face's hub, fetched once and then read from its cache."""

import os
import re
from pathlib import Path

from transformer.checkpoint import CheckpointError
from transformer.extras import require

# Checkpoints by their name on Hugging Face's hub, fetched once and then read from its cache.

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILES = ("*.json", "*.txt", "*.model", "*.spm", "*.safetensors")
_OLDER = ("pytorch_model*.bin",)
"""Fetched where a repository has no safetensors."""


def is_hub_name(text: str) -> bool:
    """Tell whether it may be one: "organisation/model".

    >>> is_hub_name("Helsinki-NLP/opus-mt-en-de"), is_hub_name("/models/mine")
    (True, False)
    """
    return _NAME.fullmatch(text) is not None and ".." not in text


def from_hub(name: str) -> Path:
    """The folder of a checkpoint on the hub. Raises CheckpointError where it cannot be had."""
    require("hf", f"check the path: there is no {name} on this machine")
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
        folder = Path(snapshot_download(name, allow_patterns=list(_FILES), etag_timeout=5))
        if not next(folder.glob("*.safetensors"), None):
            folder = Path(snapshot_download(name, allow_patterns=[*_FILES, *_OLDER]))
        return folder
    except Exception as error:  # the network's, the hub's and the disk's errors are of many kinds
        raise CheckpointError(
            f"{name} is not a folder here, and Hugging Face's hub cannot be reached or has no such "
            "model: check the name and the connection, or copy the folder here and open its path."
        ) from error


# The cache that the hub's library keeps on this machine: read, never fetched into.

SNAPSHOTS = "snapshots"
_HUB_CACHE_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_REVISION = re.compile(r"[\w.-]+(/[\w.-]+)*")


def cached(name: str, revision: str = "") -> Path | None:
    """Return the folder of a repository's snapshot, "organisation/model"; None where it is not.

    revision: a branch, a tag or a commit; empty: main. Layout: models--organisation--model with
    refs/REVISION, a file that holds a commit, and snapshots/COMMIT.
    """
    revision = revision or "main"
    if (
        not (_HUB_CACHE_NAME.fullmatch(name) and _REVISION.fullmatch(revision))
        or ".." in name + revision
    ):
        return None
    folder = _folder() / f"models--{name.replace('/', '--')}"
    try:
        commit = (folder / "refs" / revision).read_text("ascii").strip()
    except (OSError, ValueError):  # no such ref: it may be the commit
        commit = revision
    snapshot = folder / SNAPSHOTS / commit
    return snapshot if re.fullmatch(r"[\w.-]+", commit) and snapshot.is_dir() else None


def _folder() -> Path:
    """The cache's folder, by the variables that the hub's library reads."""
    if folder := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(folder).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    return Path(os.environ.get("HF_HOME") or cache).expanduser() / "hub"
