"""Folders that Hugging Face's `save_pretrained` wrote, or that its hub holds."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint import CONFIG, About, Checkpoint, CheckpointError, Description
from transformer.files.foreign_text import clean, whole_text
from transformer.files.json_file import read_json
from transformer.formats.format import Format
from transformer.hugging_face.adapters.adapted import with_adapter
from transformer.hugging_face.adapters.adapter import Adapter
from transformer.hugging_face.adapters.reading import read_adapter
from transformer.hugging_face.adapters.settings import ADAPTER
from transformer.hugging_face.chat.templates import TEMPLATES
from transformer.hugging_face.choice import said_classes
from transformer.hugging_face.heads import HuggingFaceHeads
from transformer.hugging_face.kinds import FOLLOWS, asks, classifies, family_of, reads_two
from transformer.hugging_face.languages import target_language
from transformer.hugging_face.lengths import longest
from transformer.hugging_face.model import (
    DECODER,
    ENCODER,
    ENCODER_DECODER,
    ENCODER_DECODER_READER,
    HuggingFaceConfig,
    HuggingFaceModel,
)
from transformer.hugging_face.opening import (
    Examined,
    examine,
    open_config,
    open_model,
    open_tokenizer,
    require_whole,
)
from transformer.hugging_face.own_name import own_name
from transformer.hugging_face.pairing import ends_of_one, reads_pairs
from transformer.hugging_face.pooling import (
    module_files,
    most_tokens,
    pipeline_files,
    pipeline_of,
    pooling_of,
)
from transformer.hugging_face.refused import require_plain
from transformer.hugging_face.rules import settings_of
from transformer.hugging_face.sizes import WEIGHTS
from transformer.hugging_face.special_ids import special_ids
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.hugging_face.weights import open_weights
from transformer.inspection.circuits import NoHeads
from transformer.inspection.contents import Contents, Fit
from transformer.models.family import Family
from transformer.tokenizer import IdTokenizer, Tokenizer

LONGEST = 4096
"""Tokens of a text at most, whatever a model may say of itself."""
LIT_MODEL = "lit_model.pth"
SENTENCE = "The animal didn't cross the street because it was too tired."
PROMPTS = ("The animal didn't cross the street because", "Once upon a time")
FOLLOWING = ("B follows A", "B is random")
"""The classes of next sentence prediction, in the library's order."""
MASKED = "The animal didn't cross the {} because it was too {}."


def fits(path: Path) -> bool:
    """A folder whose config.json names a type of model, with weights in the library's form.

    litgpt leaves the config.json of the model that it began with beside weights in its own.
    """
    file = path / CONFIG
    if not file.is_file() or ((path / LIT_MODEL).is_file() and not _has_weights(path)):
        return False
    try:
        theirs = read_json(file)
    except CheckpointError:
        return False
    return isinstance(theirs, dict) and "model" not in theirs and "model_type" in theirs


def describe(path: Path, folder: Path | None = None) -> Description:
    """Describe it by configuration, tokenizer and tensors' names; of an adapter with it, too.

    folder: of a LoRA adapter. Raises CheckpointError.
    """
    theirs = open_config(path)
    vocab_size = _vocab_size(theirs)
    examined = _examined(path, theirs)
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    return _described(path, examined, open_tokenizer(path, vocab_size), adapter)


def load(path: Path, device: torch.device, folder: Path | None = None) -> Checkpoint:
    """Open it with the library. folder: of a LoRA adapter to apply. Raises CheckpointError."""
    theirs = open_config(path)
    vocab_size = _vocab_size(theirs)
    examined = _examined(path, theirs)
    tokenizer = open_tokenizer(path, vocab_size)
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    description = _described(path, examined, tokenizer, adapter)
    model = HuggingFaceModel(open_model(path, examined, device, adapter), description.config)  # type: ignore[arg-type]
    about, config, family = description.about, description.config, description.family
    return Checkpoint(path, about, config, family, model, tokenizer, device)


def contents(path: Path, folder: Path | None = None) -> Contents:
    """Its tensors and those that the library's class asks for; damaged parts are named.

    folder: of a LoRA adapter, with which the tensors are shown. Raises CheckpointError.
    """
    theirs = open_config(path)
    read_tokenizer = cache(partial(open_tokenizer, path, _vocab_size(theirs)))
    tensors = open_weights(path)
    try:
        examined = examine(path, theirs, tensors)
    except CheckpointError as error:
        why = _clause(path, error)
        fit, heads = Fit(list(tensors.stored)), NoHeads(f"No circuits: {CONFIG} {why}.")
        description = _unbuilt(path, theirs)
        return Contents(description, tensors, fit, heads, read_tokenizer, faults={CONFIG: why})
    adapter = None if folder is None else read_adapter(folder, examined.skeleton.model)
    try:
        description = _described(path, examined, read_tokenizer(), adapter)
    except CheckpointError:  # told where the vocabulary is shown
        description = _described(path, examined, IdTokenizer(_vocab_size(theirs)), adapter)
    faults = {}
    try:
        require_plain(path, theirs, examined.skeleton, examined.source)
    except CheckpointError as error:
        faults = {path.name: f"cannot run here: {_clause(path, error)}"}
    if adapter is not None:
        examined = with_adapter(examined, adapter)
    skeleton = examined.skeleton
    circuits = HuggingFaceHeads(examined.source, skeleton, list(description.family.attentions))
    fit, ties = skeleton.fit, skeleton.ties
    return Contents(description, examined.source, fit, circuits, read_tokenizer, ties, faults)


def _examined(path: Path, theirs: Any) -> Examined:
    """Raises CheckpointError for what would open as another model than it is."""
    examined = examine(path, theirs, open_weights(path))
    require_whole(path, examined)
    return examined


def _clause(path: Path, error: CheckpointError) -> str:
    return str(error).removeprefix(f"{path.name}: ").removeprefix(CONFIG).lstrip(": ").rstrip(".")


def _unbuilt(path: Path, theirs: Any) -> Description:
    """Describe a folder whose class cannot be built, by its configuration."""
    name = next(iter(said_classes(theirs)), theirs.model_type)
    family = ENCODER_DECODER_READER if theirs.is_encoder_decoder else ENCODER
    size = _vocab_size(theirs)
    config = HuggingFaceConfig(name, size, 1, 0, None, values=whole_text(theirs.to_dict()))
    return Description(_about(path, family, config, IdTokenizer(size), None, ()), config, family)


def _has_weights(path: Path) -> bool:
    return any(next(path.glob(pattern), None) for pattern in WEIGHTS)


def files(path: Path) -> Sequence[Path]:
    """All files of the folder itself, and those that say how it pools and how it chats."""
    pipeline = pipeline_of(path)
    around = () if pipeline == path else pipeline_files(pipeline)
    further = (*module_files(path), *sorted(path.glob(TEMPLATES)), *around)
    return [file for file in (*path.iterdir(), *further) if file.is_file()]


def _described(
    path: Path, examined: Examined, tokenizer: Tokenizer, adapter: Adapter | None = None
) -> Description:
    notes, size = examined.notes, _vocab_size(examined.config)
    n_pieces = tokenizer.n_pieces if isinstance(tokenizer, HuggingFaceTokenizer) else size
    if n_pieces > size:
        text = f"Its tokenizer has {n_pieces:,} pieces, and the model knows the first {size:,}."
        notes = (*notes, text)
    if adapter is None:
        return described(path, examined.skeleton.model, tokenizer, notes)
    others = (each for each in notes if not each.startswith(ADAPTER))
    notes = (*adapter.notes_on(path), *others)
    plain = described(path, examined.skeleton.model, tokenizer, notes)
    title = f"{plain.about.title}, with a {adapter.kind} adapter"
    return replace(plain, about=replace(plain.about, title=title))


def described(
    path: Path, model: Any, tokenizer: Tokenizer, notes: tuple[str, ...] = ()
) -> Description:
    """Describe it by a class with its configuration, and a tokenizer.

    path: of the folder. model: of the library, with values or without.
    """
    theirs, name, family = model.config, type(model).__name__, family_of(model)
    ids, lengths = special_ids(path, theirs, _vocab_size(theirs)), longest(model)
    writing: dict[str, Any] = {}
    if family.decodes:
        writing, unfollowed = settings_of(path, _vocab_size(theirs))
        notes = (*notes, *unfollowed, *ids.notes())
    mask = tokenizer.mask if isinstance(tokenizer, HuggingFaceTokenizer) else None
    start_ids = ids.starts if _starts(theirs, family) else ()
    source = target = None
    languages: tuple[str, ...] = ()
    if isinstance(tokenizer, HuggingFaceTokenizer) and family is ENCODER_DECODER:
        languages, source = tuple(tokenizer.languages), tokenizer.source_language
        target = target_language(tokenizer, start_ids)
        if target is None:
            start_ids, target = tokenizer.starting(start_ids), tokenizer.target_language
    most = None if family.decodes else most_tokens(path)
    config = HuggingFaceConfig(
        architecture=name,
        vocab_size=_vocab_size(theirs),
        max_len=min(_max_len(lengths.get("source"), tokenizer), most or LONGEST),
        max_target_len=_max_len(lengths.get("target"), tokenizer) if reads_two(model) else None,
        pad_id=next(iter(ids.anywhere("pad_token_id")), 0),
        eos_id=next(iter(ids.anywhere("eos_token_id")), None),
        eos_ids=ids.ends,
        writing=writing,
        start_ids=start_ids,
        languages=languages,
        templates=_template_names(tokenizer) if family is DECODER else (),
        source_language=source,
        target_language=target,
        mask_id=mask[0] if mask and asks(model) else None,
        classes=_classes(model),
        reads_pairs=reads_pairs(family, tokenizer),
        gives_positions=family is DECODER,
        ends=ends_of_one(family, tokenizer),
        pooling=None if family.decodes else pooling_of(path, theirs),
        is_exclusive=theirs.problem_type != "multi_label_classification",
        values=whole_text(theirs.to_dict()),
    )
    return Description(_about(path, family, config, tokenizer, mask, notes), config, family)


def _about(
    path: Path,
    family: Family,
    config: HuggingFaceConfig,
    tokenizer: Tokenizer,
    mask: tuple[int, str] | None,
    notes: tuple[str, ...],
) -> About:
    examples = PROMPTS if family is DECODER else (SENTENCE,)
    if config.mask_id is not None and mask:
        examples = (MASKED.format(mask[1], mask[1]), *examples)
    if isinstance(tokenizer, IdTokenizer):
        ids = [id for id in range(5, 13) if id < config.vocab_size]
        if family is ENCODER_DECODER_READER and config.eos_id is not None:
            ids.append(config.eos_id)  # it decides where a text ends
        examples = (" ".join(map(str, ids)),)
    kind = list(family.attentions)[-1]
    vocabulary = getattr(tokenizer, "kind", "")
    return About(title_of(path, config), "", vocabulary, examples, (kind, 0, 0), notes)


def title_of(path: Path, config: Any) -> str:
    """Name the model's class, after the folder's own name where that of its path says nothing."""
    name, title = own_name(path), f"{config.architecture}, Hugging Face"
    return f"{name} ({title})" if name else title


def _template_names(tokenizer: Tokenizer) -> tuple[str, ...]:
    """Names of its chat templates, the usual one first."""
    names = tokenizer.templates if isinstance(tokenizer, HuggingFaceTokenizer) else ()
    return tuple(sorted(names, key=lambda name: (name != "default", name)))


def _classes(model: Any) -> tuple[str, ...]:
    """The names of a classifier's classes; none where it puts a number on a text instead."""
    theirs = model.config
    if type(model).__name__.endswith(FOLLOWS):
        return FOLLOWING
    if not classifies(model) or theirs.problem_type == "regression" or theirs.num_labels < 2:
        return ()
    return tuple(clean(theirs.id2label.get(i, f"LABEL_{i}")) for i in range(theirs.num_labels))


def _starts(theirs: Any, family: Family) -> bool:
    """Tell whether a decoder begins with a token of its own."""
    if family is ENCODER_DECODER_READER:
        return bool(theirs.model_type != "mbart")
    return family is ENCODER_DECODER


def _vocab_size(theirs: Any) -> int:
    size = getattr(theirs.get_text_config(), "vocab_size", None)
    if not isinstance(size, int):
        raise CheckpointError(
            f"{CONFIG} names no vocab_size: {theirs.model_type} reads something else than text, "
            "and only models of text open here. It is recorded from Python, with record(module, "
            "inputs): docs/models.md."
        )
    return size


def _max_len(n_positions: int | None, tokenizer: Tokenizer) -> int:
    """The least of what the model, the tokenizer and this project allow."""
    longest = tokenizer.longest if isinstance(tokenizer, HuggingFaceTokenizer) else LONGEST
    return max(1, min(n_positions or LONGEST, longest, LONGEST))


FORMAT = Format(
    name="hugging_face",
    title="a folder of Hugging Face's, with config.json, weights and a tokenizer",
    fits=fits,
    describe=describe,
    load=load,
    files=files,
    contents=contents,
)
