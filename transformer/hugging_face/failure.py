"""The library raises errors of many kinds over files: here each of them becomes one sentence."""

import inspect
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.extras import require
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import clean, reason, some_of
from transformer.files.weights import Misfit
from transformer.hugging_face.tokenizer import FOLLOW, SETTINGS, WHOLE, opens_by_itself
from transformer.hugging_face.writing.settings import read_settings
from transformer.vocabulary import can_read

_OF_A_FIELD = "StrictDataclassFieldValidationError"
"""The library's error for a setting of another type, whose words name its own classes."""


LARGEST_READ = 2**28
"""Bytes that a file of a vocabulary may have."""


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
    except (CheckpointError, Misfit):
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
    if type(error).__name__ == _OF_A_FIELD:
        what, match, _ = str(error.__cause__).partition(" doesn't match any type")
        return clean(what, 200) + " is nothing that the library takes" * bool(match)
    form = "it is of another form than the library reads: "
    is_form = isinstance(error, AttributeError | TypeError)
    parents = {path.absolute().parent, path.resolve().parent, Path(gettempdir())}
    return form * is_form + reason(error, without=[f"{parent}{os.sep}" for parent in parents])


@contextmanager
def building(path: Path, config: Any) -> Iterator[None]:
    """Act as `in_a_sentence`; a name that the library does not know is named with its field."""
    with in_a_sentence(path, CONFIG):
        try:
            yield
        except KeyError as error:
            for field, value in _settings(config.to_dict()):
                if _is_about(error, value):
                    raise CheckpointError(
                        f"{path.name}: {CONFIG}: {field} is {clean(value)!r}, which the library "
                        "does not know: write what the model was trained with."
                    ) from error
            raise
        except AssertionError as error:  # of torch's table, which does not name the setting
            size, pad = (getattr(config, name, None) for name in ("vocab_size", "pad_token_id"))
            if not (isinstance(size, int) and isinstance(pad, int) and pad >= size):
                raise
            raise CheckpointError(
                f"{path.name}: {CONFIG}: pad_token_id is {pad:,}, and the vocabulary of {size:,} "
                f"ends at {size - 1:,}: write a token of it, or null."
            ) from error


def require_type(path: Path, values: Mapping[str, Any]) -> None:
    """Raise CheckpointError without a type: the library would guess one from the folder's name."""
    if isinstance(values.get("model_type"), str):
        return
    import transformers

    names = values.get("architectures")
    named = (getattr(transformers, str(name), None) for name in names or ())
    types = (getattr(getattr(cls, "config_class", None), "model_type", None) for cls in named)
    own = next(filter(None, types), None)
    what = f"{json.dumps(own)}, which is that of its architectures" if own else "the model's own"
    raise CheckpointError(f'{path.name}: {CONFIG} names no "model_type": write {what}.')


def _settings(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Names and values, also of those that lie in others."""
    for name, value in values.items():
        yield str(name), value
        if isinstance(value, Mapping):
            yield from _settings(value)


def _is_about(error: KeyError, value: object) -> bool:
    """Tell whether it names a value by itself, or a text among its words."""
    key = error.args[0] if error.args else None
    is_simple = isinstance(value, str | int | float) and not isinstance(value, bool)
    is_word = isinstance(value, str) and bool(value) and value in str(key).split()
    return is_word or (is_simple and type(key) is type(value) and key == value)


_PAIR = ("vocab_file", "merges_file")
"""Neither of which is read without the other, where a class has both."""


def require_vocabulary(path: Path) -> None:
    """Raise CheckpointError for files that a tokenizer lacks, or that it cannot be made of."""
    missing = sorted(_absent_files(path))
    if missing:
        are, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        raise CheckpointError(
            f"{path.name}: {some_of(missing, 4)} {are} missing, and its tokenizer cannot do "
            f"without {them}: copy {them} from where the folder came from."
        )
    for file in sorted({*path.glob("*token*.json"), *path.glob("vocab*.json")}):
        read_json(file, LARGEST_READ)
    settings, cls = read_settings(path / SETTINGS), tokenizer_class(path)
    is_read = settings is not None or not (path / SETTINGS).exists()
    if is_read and isinstance(cls, type) and opens_by_itself(path / WHOLE):
        raise CheckpointError(
            f"{path.name}: the library makes no {cls.__name__} of its {WHOLE}: {FOLLOW}."
        )


_ANY = ("tokenizer.json", "tokenizer.model")
"""Files that the library makes a tokenizer of whatever its class."""
_UNKNOWN = (*_ANY, "vocab.json", "vocab.txt")


def has_vocabulary(folder: Path) -> bool:
    """Tell whether a folder has files that its class of tokenizers reads, or needs none.

    Of others the library makes one without pieces, and says nothing.
    """
    cls: Any = tokenizer_class(folder)
    own = getattr(cls, "vocab_files_names", None)
    names = _UNKNOWN if own is None else {*_ANY, *own.values()} - {SETTINGS, "merges.txt"}
    is_named = (folder / SETTINGS).is_file() and own == {}
    is_of_code = is_named and "models" in cls.__module__.split(".")  # ByT5: its pieces are bytes
    return is_of_code or any(can_read(folder / name) for name in names)


def _absent_files(path: Path) -> Iterator[str]:
    cls: Any = tokenizer_class(path)
    if cls is None or (path / WHOLE).is_file():
        return
    parameters = inspect.signature(cls.__init__).parameters
    files = cls.vocab_files_names
    is_half = any((path / files.get(name, "")).is_file() for name in _PAIR)
    is_two = bool((read_settings(path / SETTINGS) or {}).get("separate_vocabs"))  # Marian's
    for name, file in files.items():
        is_asked = name in parameters and parameters[name].default is inspect.Parameter.empty
        is_asked = is_asked or (is_two and name == "target_vocab_file")
        if (is_asked or (is_half and name in _PAIR)) and not (path / file).is_file():
            yield file


def tokenizer_class(path: Path) -> object:
    """The class that the folder names, or that its type of model has; None: there is none."""
    from transformers.models.auto import tokenization_auto

    theirs: Any = tokenization_auto
    own = (read_settings(path / SETTINGS) or {}).get("tokenizer_class")
    kind = (read_settings(path / CONFIG) or {}).get("model_type")
    name = own or theirs.TOKENIZER_MAPPING_NAMES.get(kind)
    return theirs.tokenizer_class_from_name(name) if isinstance(name, str) else None
