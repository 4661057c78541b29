"""Replace a file whole: what a crash leaves is the old file or the new one, never a part."""

import os
from pathlib import Path


def write_whole(file: Path, content: bytes) -> None:
    """Write beside the file, then move over it. Raises OSError; the old file is then untouched."""
    draft = file.with_name(file.name + ".part")
    with draft.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(file)
