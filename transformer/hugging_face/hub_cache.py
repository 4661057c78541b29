"""The cache that the hub's library keeps on this machine: read, never fetched into."""

import os
import re
from pathlib import Path

SNAPSHOTS = "snapshots"
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_REVISION = re.compile(r"[\w.-]+(/[\w.-]+)*")


def cached(name: str, revision: str = "") -> Path | None:
    """Return the folder of a repository's snapshot, "organisation/model"; None where it is not.

    revision: a branch, a tag or a commit; empty: main. Layout: models--organisation--model with
    refs/REVISION, a file that holds a commit, and snapshots/COMMIT.
    """
    revision = revision or "main"
    if not (_NAME.fullmatch(name) and _REVISION.fullmatch(revision)) or ".." in name + revision:
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
