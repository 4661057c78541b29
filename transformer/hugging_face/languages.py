"""The languages that a translator of many reads and writes (mBART, M2M100, NLLB)."""

from dataclasses import replace

from transformer.checkpoint import Checkpoint
from transformer.files.foreign_text import some_of
from transformer.hugging_face.model import HuggingFaceConfig, HuggingFaceModel
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.inputs import InputError

NAMED = 8
"""The most languages that a sentence names."""


def translating(
    checkpoint: Checkpoint, source: str | None = None, target: str | None = None
) -> Checkpoint:
    """The same model, told which language it reads and which it writes; nothing is loaded again.

    source, target: of `checkpoint.config.languages`; None leaves it at what the checkpoint says.
    Raises InputError for a language that it does not know.
    """
    config, tokenizer = checkpoint.config, checkpoint.tokenizer
    if (
        not isinstance(config, HuggingFaceConfig)
        or not isinstance(tokenizer, HuggingFaceTokenizer)
        or not isinstance(checkpoint.model, HuggingFaceModel)
        or not config.languages
    ):
        raise InputError(f"{checkpoint.name} is not told its languages: leave them out.")
    for code in (source, target):
        if code is not None and code not in config.languages:
            names = some_of(config.languages, NAMED)
            raise InputError(f"{checkpoint.name} does not know the language {code!r}, but {names}.")
    source, target = source or config.source_language, target or config.target_language
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
