"""The manifest of a folder of parts: what they are of, so that nothing else is added to them."""

import hashlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from transformer.checkpoint import CheckpointError
from transformer.files.json_file import read_json
from transformer.files.whole_file import write_whole
from transformer.fingerprint import fingerprint
from transformer.inputs import InputError
from transformer.refusal import quoted

MANIFEST = "_manifest.json"
"""Whatever reads a folder as one table leaves out names that begin with a line or a dot."""
PACKAGES = ("headscope", "torch", "pyarrow")
"""Packages whose versions decide what stands in a part, to the bit."""
SOURCE = "source tree"
"""In place of a version, of code that is not installed."""


def versions() -> dict[str, str]:
    """Return the versions of the packages that decide what stands in a part."""
    return {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return SOURCE


def manifest_of(checkpoint: Path, data: Path, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest of parts: of this checkpoint, this file and these options.

    options: whatever else decides what stands in the parts, as JSON has it, such as the size of
    shards and the version of their columns. Raises CheckpointError, InputError.
    """
    try:
        digest = hashlib.sha256(data.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{data} cannot be read: {error.strerror}.") from error
    manifest = {
        "checkpoint": fingerprint(checkpoint),
        "data": digest,
        "options": dict(options),
        "versions": versions(),
    }
    return json.loads(json.dumps(manifest))  # as it is read again: lists, not tuples


WORDS = {
    "checkpoint": "another checkpoint",
    "data": "another file",
    "options": "other options",
    "versions": "other versions",
}
"""Entry of a manifest -> what is said where a folder's is another one."""


def make_folder(folder: Path) -> None:
    """Make the folder, where there is none, before anything is computed. Raises InputError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        why = "" if os.access(folder, os.W_OK | os.X_OK) else "Permission denied"
    except (OSError, ValueError) as error:
        is_taken = isinstance(error, FileExistsError)
        why = "a file is there" if is_taken else getattr(error, "strerror", None) or str(error)
    if why:
        raise InputError(
            f"{folder} cannot be the folder of the parts ({why}): --out must name a folder that "
            "may be written to, or a new one."
        )


def options_in(folder: Path) -> Mapping[str, Any]:
    """Return the options that a folder's manifest has; none where there is none, or it is bad."""
    try:
        there = read_json(folder / MANIFEST) if (folder / MANIFEST).exists() else None
    except CheckpointError:
        return {}  # `begin` says so
    options = there.get("options") if isinstance(there, dict) else None
    return options if isinstance(options, dict) else {}


def begin(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a new folder, or compare that of one which is continued.

    Raises InputError where parts are there that are of something else, and Unwritten.
    """
    compare(folder, manifest)
    file = folder / MANIFEST
    if not file.exists():
        write_whole(file, (json.dumps(manifest, indent=2) + "\n").encode())


def compare(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Compare the manifest of a folder, if it has any. Raises InputError as `begin`."""
    file = folder / MANIFEST
    if not file.exists():
        if any(folder.glob("part-*.parquet")):
            raise InputError(f"{folder} has parts and no {MANIFEST}: give --out another name.")
        return
    try:
        there = read_json(file)
    except CheckpointError as error:
        raise InputError(f"{error} Give --out another name.") from error
    for name, words in WORDS.items():
        before = there.get(name) if isinstance(there, dict) else None
        if before != manifest[name]:
            raise InputError(
                f"{folder} is of {words}{_difference(before, manifest[name])}: give --out "
                "another name."
            )


def _difference(before: object, now: object) -> str:
    """Return the first option or version that is another one, in brackets."""
    if not (isinstance(before, dict) and isinstance(now, dict)):
        return ""
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            if isinstance(before.get(name), list) and isinstance(now.get(name), list):
                one = min({*before[name]} ^ {*now[name]}, default="in another order")
                return f" ({name}: {quoted(one, 30)} stands in only one)"
            was, value = (quoted(each.get(name), 30) for each in (before, now))
            return f" ({name}: {was}, and {value} now)"
    return ""
