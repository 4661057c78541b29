"""The library raises errors of many kinds over files: here each of them becomes one sentence."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.extras import require
from transformer.files.foreign_text import clean, reason


@contextmanager
def in_a_sentence(path: Path, what: str) -> Iterator[None]:
    """Turn any error that the library raises over a file into a CheckpointError.

    Raises NotInstalled where the library is not here.
    """
    require("hf")
    try:
        from transformers.utils import logging

        quiet: Any = logging
        quiet.set_verbosity_error()
        quiet.disable_progress_bar()
        yield
    except CheckpointError:
        raise
    except ImportError as error:
        raise CheckpointError(
            f"{path.name} is in Hugging Face's format and needs a package that is not here: "
            f"{_reason(path, error)}."
        ) from error
    except Exception as error:
        reason = _reason(path, error)
        raise CheckpointError(f"{path.name}: {what} cannot be read: {reason}.") from error


def _reason(path: Path, error: Exception) -> str:
    """Return the library's words, without the folders that the checkpoint lies in."""
    parents = {path.absolute().parent, path.resolve().parent}
    return reason(error, without=[f"{parent}{os.sep}" for parent in parents])


@contextmanager
def building(path: Path, config: Any) -> Iterator[None]:
    """Act as `in_a_sentence`; a name that the library does not know is named with its field."""
    with in_a_sentence(path, CONFIG):
        try:
            yield
        except KeyError as error:
            words = str(error.args[0]).split() if error.args else []
            for field, value in config.to_dict().items():
                if isinstance(value, str) and value in words:
                    raise CheckpointError(
                        f"{path.name}: {CONFIG}: {field} is {clean(value)!r}, which the library "
                        "does not know: write what the model was trained with."
                    ) from error
            raise
