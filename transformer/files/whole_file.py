"""Replace files whole: what a crash or a full disk leaves is the old file or the new one.

Each is written beside the one that it replaces, is on the disk before it takes its place, and is
removed where that fails.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from transformer.refusal import Refusal

PART = ".part"
"""The ending of a file's name, and of a folder's within its own, until it is whole."""


class Unwritten(Refusal, OSError):
    """Something that cannot be saved: a full disk, a folder that may not be written to."""


def write_whole(file: Path, content: bytes, draft_name: str = "") -> None:
    """Write beside the file, then move over it. Raises Unwritten; the old file is then untouched.

    The file's folder is made where there is none. draft_name: a name for this writer alone, where
    several processes may write the file at once.
    """
    draft = file.with_name(draft_name or file.name + PART)
    with _saving(file):
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())
            draft.replace(file)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """A folder to write into; at the end its files take their places in `folder`, a move each.

    Where something cannot be written, all of `folder` stays as it was. Raises Unwritten.
    """
    draft, is_new = folder / PART, not folder.exists()
    with _saving(folder):
        shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
        try:
            draft.mkdir(parents=True)
            yield draft
            for file in sorted(each for each in draft.rglob("*") if each.is_file()):
                place = folder / file.relative_to(draft)
                place.parent.mkdir(parents=True, exist_ok=True)
                file.replace(place)
        except BaseException:
            shutil.rmtree(folder if is_new else draft, ignore_errors=True)
            raise
        shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def _saving(place: Path) -> Iterator[None]:
    """Turn what goes wrong while something is written into a sentence that names it."""
    try:
        yield
    except Refusal:
        raise
    except OSError as error:
        why = (error.strerror or str(error) or type(error).__name__).rstrip(".")
        raise Unwritten(
            f"{place} cannot be written: {why}. What was there before is as it was."
        ) from error
