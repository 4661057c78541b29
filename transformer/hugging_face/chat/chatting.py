"""Chat templates: the text that a model of conversations reads for what a user says."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from transformer.checkpoint import Checkpoint
from transformer.files.foreign_text import clean, some_of
from transformer.hugging_face.chat.turns import turns_of
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.inputs import InputError
from transformer.tokenizer import TokenizerError

NAMED = 8
"""The most templates that a sentence names."""


def chatting(
    checkpoint: Checkpoint,
    template: str = "default",
    system: str = "",
    messages: Sequence[Mapping[str, str]] = (),
) -> Checkpoint:
    """The same model, for texts that a chat template wraps; nothing is loaded again.

    template: of `checkpoint.config.templates`. system: the message that a conversation begins with;
    empty: none. messages: earlier turns, each {"role": "user", "content": "…"}, as the library's
    apply_chat_template takes them. A text is then what a user says next, and the model is asked for
    the answer. A template is a stranger's program: it runs in a sandbox, in a process with limits
    of time and memory. Raises InputError for a template that is not there, or a message that is
    none.
    """
    config, tokenizer = checkpoint.config, checkpoint.tokenizer
    templates = getattr(config, "templates", ())
    if not isinstance(tokenizer, HuggingFaceTokenizer) or not templates:
        raise InputError(f"{checkpoint.name} has no chat template: its texts are read as typed.")
    if template not in templates:
        names = some_of(templates, NAMED)
        raise InputError(f"{checkpoint.name} has no template {clean(template)!r}, but {names}.")
    earlier = (*((("system", system),) if system else ()), *turns_of(messages))
    return replace(checkpoint, tokenizer=tokenizer.for_chat(template, earlier))


def text_read(checkpoint: Checkpoint, text: str) -> str:
    """Return a text as its chat template has it; without one, as it is. Raises InputError."""
    if not isinstance(checkpoint.tokenizer, HuggingFaceTokenizer):
        return text
    try:
        return checkpoint.tokenizer.written(text)
    except TokenizerError as error:
        raise InputError(str(error)) from error


def remarks(checkpoint: Checkpoint, text: str) -> tuple[str, ...]:
    """Say which special tokens of a text that is read would be there twice."""
    tokenizer = checkpoint.tokenizer
    if not isinstance(tokenizer, HuggingFaceTokenizer):
        return ()
    return tokenizer.remarks(text, checkpoint.family.reads)
