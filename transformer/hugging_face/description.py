"""Descriptions of models of the library: what they read and write, and how they are named."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from transformer.checkpoint import About, Checkpoint, Description, check_open
from transformer.files.foreign_text import clean, some_of, whole_text
from transformer.hugging_face.choice import said_classes
from transformer.hugging_face.kinds import (
    DECODER,
    ENCODER,
    ENCODER_DECODER,
    ENCODER_DECODER_READER,
    FOLLOWS,
    asks,
    classifies,
    family_of,
    reads_two,
)
from transformer.hugging_face.model import (
    HuggingFaceConfig,
    HuggingFaceModel,
    ends_of_one,
    reads_pairs,
)
from transformer.hugging_face.notes import own_name, reading_notes
from transformer.hugging_face.pooling import most_tokens, pooling_of
from transformer.hugging_face.sizes import longest, vocab_size_of
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.hugging_face.writing.settings import Writing, writing_of
from transformer.hugging_face.writing.special_ids import special_ids
from transformer.inputs import TEXT, InputError, checks
from transformer.models.family import Family
from transformer.old_spelling import respelled
from transformer.tokenizer import IdTokenizer, Tokenizer
from transformer.vocabulary import sides_of, source_side

# The languages that a translator of many reads and writes (mBART, M2M100, NLLB).

NAMED = 8
"""The most languages that a sentence names."""


@respelled(source_language="source", target_language="target")
@checks(source_language=TEXT.or_none, target_language=TEXT.or_none)
def translating(
    checkpoint: Checkpoint, source_language: str | None = None, target_language: str | None = None
) -> Checkpoint:
    """Give the same model, told which languages it reads and writes; nothing is loaded again.

    checkpoint: a translator of many languages of Hugging Face's (mBART, M2M100, NLLB); open, or its
        name or path.
    source_language, target_language: of `checkpoint.config.languages`, spelled as there, such as
        "en_XX" or "deu_Latn"; None: as the checkpoint says.

    Returns a `Checkpoint` that shares the weights. Raises CheckpointError, and InputError for a
    language that it does not know and for a model that is told none.
    """
    check_open(checkpoint)
    config, tokenizer = checkpoint.config, checkpoint.tokenizer
    if (
        not isinstance(config, HuggingFaceConfig)
        or not isinstance(tokenizer, HuggingFaceTokenizer)
        or not isinstance(checkpoint.model, HuggingFaceModel)
        or not config.languages
    ):
        raise InputError(f"{checkpoint.name} is not told its languages: leave them out.")
    for code in (source_language, target_language):
        if code is not None and code not in config.languages:
            names = some_of(config.languages, NAMED)
            raise InputError(f"{checkpoint.name} does not know the language {code!r}, but {names}.")
    source, target = (
        source_language or config.source_language,
        target_language or config.target_language,
    )
    text = tokenizer.for_languages(source, target)
    config = replace(
        config,
        source_language=source,
        target_language=target,
        start_ids=text.starting(config.start_ids),
    )
    model = HuggingFaceModel(checkpoint.model.inner, config).eval()
    return replace(checkpoint, config=config, tokenizer=text, model=model)


def target_language(tokenizer: HuggingFaceTokenizer, start_ids: tuple[int, ...]) -> str | None:
    """The language whose token decoding starts with; None where it starts with no such token."""
    ids = {id: code for code, id in tokenizer.languages.items()}
    return next((ids[id] for id in start_ids if id in ids), None)


# Descriptions of models of the library: what they read and write, and how they are named.

LONGEST = 4096
"""Tokens of a text at most, whatever a model may say of itself."""
SENTENCE = "The animal didn't cross the street because it was too tired."
PROMPTS = ("The animal didn't cross the street because", "Once upon a time")
FOLLOWING = ("B follows A", "B is random")
"""The classes of next sentence prediction, in the library's order."""
MASKED = "The animal didn't cross the {} because it was too {}."


def described(
    path: Path, model: Any, tokenizer: Tokenizer, notes: tuple[str, ...] = ()
) -> Description:
    """Describe it by a class with its configuration, and a tokenizer.

    path: of the folder. model: of the library, with values or without.
    """
    theirs, name, family = model.config, type(model).__name__, family_of(model)
    ids, lengths = special_ids(path, theirs, vocab_size_of(theirs)), longest(model)
    writing = Writing()
    if family.decodes:
        writing = writing_of(path, vocab_size_of(theirs))
        notes = (*notes, *writing.notes, *ids.notes())
    notes = (*notes, *reading_notes(model, family, tokenizer))
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
        vocab_size=vocab_size_of(theirs),
        max_len=min(_max_len(lengths.get("source"), tokenizer), most or LONGEST),
        max_target_len=_max_len(lengths.get("target"), tokenizer) if reads_two(model) else None,
        pad_id=next(iter(ids.anywhere("pad_token_id")), 0),
        eos_id=next(iter(ids.anywhere("eos_token_id")), None),
        eos_ids=ids.ends,
        writing=writing.settings,
        start_ids=start_ids,
        languages=languages,
        templates=_template_names(tokenizer) if family is DECODER else (),
        source_language=source,
        target_language=target,
        mask_id=mask[0] if mask and asks(model) else None,
        classes=_classes(model),
        numbers=_numbers(model),
        reads_pairs=reads_pairs(family, tokenizer),
        gives_positions=family is DECODER,
        ends=ends_of_one(family, tokenizer),
        pooling=None if family.decodes else pooling_of(path, theirs),
        is_exclusive=theirs.problem_type != "multi_label_classification",
        values=whole_text(theirs.to_dict()),
    )
    about = _about(path, family, config, tokenizer, mask, notes)
    return Description(replace(about, decoding=writing.defaults), config, family)


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
    read = source_side(tokenizer)
    if isinstance(read, IdTokenizer):
        ids = [id for id in range(5, 13) if id < read.vocab_size]
        if family is ENCODER_DECODER_READER and config.eos_id is not None:
            ids.append(config.eos_id)  # it decides where a text ends
        examples = (" ".join(map(str, ids)),)
    kind = list(family.attentions)[-1]
    vocabulary = getattr(read, "kind", "")
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
    return _labels(theirs) if classifies(model) and not _is_regression(theirs) else ()


def _numbers(model: Any) -> tuple[str, ...]:
    """The names of the numbers that it puts on a text, as a judge of relevance does."""
    if not classifies(model) or not _is_regression(model.config):
        return ()
    labels = _labels(model.config)
    return ("score",) if labels == ("LABEL_0",) else labels


def _is_regression(theirs: Any) -> bool:
    """Tell whether its labels are numbers; one alone is, unless it holds or does not."""
    is_alone = theirs.num_labels == 1 and theirs.problem_type != "multi_label_classification"
    return is_alone or theirs.problem_type == "regression"


def _labels(theirs: Any) -> tuple[str, ...]:
    """Their names, each once: a name that several have gets the place of each behind it."""
    names = [clean(theirs.id2label.get(i, f"LABEL_{i}")) for i in range(theirs.num_labels)]
    n_of, result = Counter(names), []
    for i, name in enumerate(names):
        own = name if n_of[name] == 1 else f"{name} ({i})"
        while n_of[own] > (own == name):
            own += "'"
        result.append(own)
    return tuple(result)


def _starts(theirs: Any, family: Family) -> bool:
    """Tell whether a decoder begins with a token of its own."""
    if family is ENCODER_DECODER_READER:
        return bool(theirs.model_type != "mbart")
    return family is ENCODER_DECODER


def _max_len(n_positions: int | None, tokenizer: Tokenizer) -> int:
    """The least of what the model, the tokenizer and this project allow."""
    longest = min(map(_longest, sides_of(tokenizer)))
    return max(1, min(n_positions or LONGEST, longest, LONGEST))


def _longest(tokenizer: Tokenizer) -> int:
    return tokenizer.longest if isinstance(tokenizer, HuggingFaceTokenizer) else LONGEST


def described_by_config(path: Path, theirs: Any) -> Description:
    """Describe a folder whose class cannot be built, by its configuration."""
    name = next(iter(said_classes(theirs)), theirs.model_type)
    family = ENCODER_DECODER_READER if theirs.is_encoder_decoder else ENCODER
    size = vocab_size_of(theirs)
    config = HuggingFaceConfig(name, size, 1, 0, None, values=whole_text(theirs.to_dict()))
    return Description(_about(path, family, config, IdTokenizer(size), None, ()), config, family)
