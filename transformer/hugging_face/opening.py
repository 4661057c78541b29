"""Opening a folder in Hugging Face's format: configuration, tokenizer and weights.

Code that a folder brings along is never run (`trust_remote_code=False`), pickled weights are read
as weights only, and nothing is fetched.
"""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import some_of
from transformer.files.tensor_files import RenamedTensors
from transformer.files.tensors import (
    TensorSource,
    Unread,
    unwrapped,
    without_common,
    without_second,
)
from transformer.hugging_face.adapters.lora import Adapter
from transformer.hugging_face.chat.chatting import templates_of, without_damaged
from transformer.hugging_face.choice import (
    choose,
    require_fit,
    require_parts,
    require_plain,
    unread_poolers,
)
from transformer.hugging_face.failure import (
    building,
    has_vocabulary,
    in_a_sentence,
    require_type,
    require_vocabulary,
)
from transformer.hugging_face.loading import (
    Placement,
    checked_values,
    keep_until_gone,
    weights_files,
)
from transformer.hugging_face.notes import notes_on
from transformer.hugging_face.sizes import (
    LARGEST,
    check_files,
    check_largest,
    check_size,
    check_sizes,
    source_size_of,
    vocab_size_of,
)
from transformer.hugging_face.skeleton import Skeleton
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer, in_two
from transformer.tokenizer import IdTokenizer, Tokenizer
from transformer.vocabulary import PairTokenizer, unread


def open_config(path: Path) -> Any:
    """The library's configuration. Raises CheckpointError."""
    check_files(path)
    with in_a_sentence(path, CONFIG):
        # Before the library does: some of its classes make lists of these lengths at once.
        values = read_json(path / CONFIG)
        check_sizes(path, values)
        require_type(path, values)
        from transformers import AutoConfig

        config = AutoConfig.from_pretrained(path, **_LOCAL)
    return _checked(path, config)


def config_of(path: Path, values: dict[str, Any]) -> Any:
    """The same from values that name their model_type. Raises CheckpointError."""
    with in_a_sentence(path, "its settings"):
        check_sizes(path, values)
        from transformers import AutoConfig

        config = AutoConfig.for_model(**values)
    return _checked(path, config)


def _checked(path: Path, config: Any) -> Any:
    config.return_dict = True
    # The library's own choice: a folder may name a kernel, code that would be fetched and run.
    config._attn_implementation = None
    inner = config.get_text_config()
    check_largest(path, {name: getattr(inner, name, None) for name in LARGEST})
    return config


@dataclass(frozen=True, eq=False)
class Examined:
    """All that is known of a folder before a value of its weights is read."""

    config: Any
    """The library's configuration."""
    source: TensorSource
    """Its tensors, under the names that its class has for them."""
    skeleton: Skeleton
    notes: tuple[str, ...]


def examine(path: Path, config: Any, source: TensorSource) -> Examined:
    """Choose the class that the tensors fit. source: as it was saved. Raises CheckpointError."""
    files = [file.name for file in weights_files(path)]
    every = unwrapped(source.stored)
    shapes = {name: source.stored[was].shape for name, was in every.items()}
    own, others = without_second(shapes, some_of(files, 1))
    names: dict[str, str] = {name: every[name] for name in own}
    first: tuple[RenamedTensors, Skeleton, str] | None = None
    while names:
        inside = RenamedTensors(source, names)
        skeleton, why = choose(path, config, inside.stored)
        first = first or (inside, skeleton, why)
        if skeleton.fit.unexpected | skeleton.fit.uncounted < inside.stored.keys():
            break
        names = without_common(names)
    else:  # nothing fits, whatever is left out
        assert first is not None
        inside, skeleton, why = first
    notes = [*filter(None, [why]), *source.notes, *others, *notes_on(path, config, skeleton, files)]
    return Examined(config, inside, skeleton, tuple(notes))


def require_whole(path: Path, examined: Examined) -> None:
    """Refuse weights that would open wrong, at sight of them. Raises CheckpointError."""
    require_parts(path, examined.source)
    check_size(path, examined.skeleton.model)
    require_plain(path, examined.config, examined.skeleton, examined.source)
    require_fit(path, examined.config, examined.skeleton, examined.source)


def build_model(
    path: Path, config: Any, cls: Any, tensors: Mapping[str, Unread], placement: Placement
) -> nn.Module:
    """The library's class with just these tensors, which fit it. Raises CheckpointError."""
    with building(path, config):
        model, report = _filled(cls, config, tensors, placement)
    _require_taken(path, report, ())
    return model


def open_model(
    path: Path, examined: Examined, placement: Placement, adapter: Adapter | None = None
) -> nn.Module:
    """The model with its weights, ready to run. Raises CheckpointError."""
    require_whole(path, examined)
    cls, config = type(examined.skeleton.model), copy.deepcopy(examined.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # its weights are whole: `require_whole`
    with in_a_sentence(path, "the weights"), examined.source.unread() as unread:
        values = checked_values(path.name, unread, placement.dtype)
        model, report = _filled(cls, config, values, placement)
    _require_taken(path, report, unread_poolers(examined.skeleton))
    if adapter is not None:
        adapter.apply(model)
    return model


def _filled(
    cls: Any, config: Any, tensors: Mapping[str, Unread], placement: Placement
) -> tuple[nn.Module, dict[str, Any]]:
    """The model and the library's report. Each tensor is read, made what the model keeps and let
    go before the next few: there is no second copy, and no random values are ever made.

    The values are given and not the path: the library maps files, and one that is cut meanwhile
    would end the process (SIGBUS); and it would add an adapter that lies there, if peft is here.
    """
    with placement.options() as options:
        model, report = cls.from_pretrained(
            None,
            state_dict=tensors,
            config=config,
            dtype=placement.dtype,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # told by `require_fit`, by name
            **options,
            **_LOCAL,
        )
        keep_until_gone(model, options.get("offload_folder"))
    opened: nn.Module = model.requires_grad_(False).eval()
    return opened if options else opened.to(placement.device), report


def _require_taken(path: Path, report: dict[str, Any], unread: Iterable[str]) -> None:
    """Raise CheckpointError where the library took less than its class asks for."""
    lacks = {*report["missing_keys"]} - {*unread}
    if report["mismatched_keys"] or lacks or report["error_msgs"]:
        strange = [*sorted(lacks), *sorted(map(str, report["mismatched_keys"]))]
        raise CheckpointError(f"{path.name}: the library does not take {some_of(strange, 3)}.")


def open_tokenizer(path: Path, config: Any) -> Tokenizer:
    """The folder's own tokenizer; token ids where it has none. Raises CheckpointError.

    config: the library's, with the sizes of what is read and of what is written.
    """
    read, written = source_size_of(config), vocab_size_of(config)
    if not has_vocabulary(path):
        advice = unread(path)
        ids = IdTokenizer(written, advice)
        return ids if read == written else PairTokenizer(IdTokenizer(read, advice), ids)
    with in_a_sentence(path, "its tokenizer"), without_damaged(path) as folder:
        from transformers import AutoTokenizer

        templates = templates_of(path) or None
        try:
            inner = AutoTokenizer.from_pretrained(folder, chat_template=templates, **_LOCAL)
        except Exception:
            require_vocabulary(path)
            raise
        sides = in_two(inner, folder)
    if sides is not None:
        source, target = sides
        return PairTokenizer(
            HuggingFaceTokenizer(source, read), HuggingFaceTokenizer(target, written)
        )
    if read == written:
        return HuggingFaceTokenizer(inner, written)
    # One tokenizer beside two vocabularies is of the side that has as many pieces.
    if abs(len(inner) - read) <= abs(len(inner) - written):
        return PairTokenizer(HuggingFaceTokenizer(inner, read), IdTokenizer(written))
    return PairTokenizer(IdTokenizer(read), HuggingFaceTokenizer(inner, written))


_LOCAL: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}
