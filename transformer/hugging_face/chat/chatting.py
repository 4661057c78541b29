"""Chat templates of a folder: which there are, and the text that a model of conversations reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from transformer.checkpoint import Checkpoint, CheckpointError, check_open
from transformer.files.foreign_file import read_file, read_json
from transformer.files.foreign_text import clean, some_of
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.inputs import TEXT, InputError, Wanted, checks
from transformer.refusal import items_of, quoted
from transformer.tokenizer import TokenizerError
from transformer.vocabulary import source_side

# The turns of a conversation before a text: who spoke, and what was said.

Turn = tuple[str, str]
"""A role and a text."""
ROLES = ("user", "assistant", "system")
MOST = 100


def turn_of(text: str) -> Turn:
    """Read "user:TEXT". Raises InputError.

    >>> turn_of("assistant: It rains.")
    ('assistant', 'It rains.')
    """
    role, colon, words = text.partition(":")
    if not colon or role.strip() not in ROLES:
        raise InputError(f"{quoted(text)} is not a turn: write {':TEXT, '.join(ROLES)}:TEXT.")
    return role.strip(), words.removeprefix(" ")


def spell(turn: Turn) -> str:
    """Write a turn as `turn_of` reads it."""
    return ": ".join(turn)


def turns_of(messages: Iterable[Mapping[str, str]]) -> tuple[Turn, ...]:
    """Read messages as `apply_chat_template` takes them. Raises InputError."""
    turns = []
    for each in messages:
        message = each if isinstance(each, Mapping) else {}
        role, text = message.get("role"), message.get("content")
        if role not in ROLES or not isinstance(text, str):
            raise InputError(
                "A message is a dict with a role, one of "
                f"{', '.join(ROLES)}, and a content that is text: {quoted(str(each))} is none."
            )
        turns.append((role, text))
    if len(turns) > MOST:
        raise InputError(f"A conversation has at most {MOST} earlier turns; this one {len(turns)}.")
    return tuple(turns)


# Chat templates: the text that a model of conversations reads for what a user says.

NAMED = 8
"""The most templates that a sentence names."""
MESSAGES = Wanted(lambda value: items_of(value) is not None, "a list of earlier turns")


@checks(template=TEXT, system=TEXT, messages=MESSAGES)
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
    check_open(checkpoint)
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
    tokenizer = source_side(checkpoint.tokenizer)
    if not isinstance(tokenizer, HuggingFaceTokenizer):
        return ()
    return tokenizer.remarks(text, checkpoint.family.reads)


# The chat templates of a folder, by name: of its tokenizer's settings, or of files of their own.
#
# Those in files count alone, as for the library; one that is damaged is left out and named.

SETTINGS, USUAL = "tokenizer_config.json", "chat_template.jinja"
TEMPLATES = "additional_chat_templates/*.jinja"
DEFAULT = "default"
LARGEST = 2**24
"""Bytes of a file that is read: a longer template is not rendered either."""


def templates_of(path: Path) -> dict[str, str]:
    """Name -> template, the usual one being "default"; empty where there is none."""
    texts = {name: text for name, text in _entries(path) if name and isinstance(text, str)}
    return {name: text for name, text in texts.items() if text.strip()}


def template_notes(path: Path) -> Iterator[str]:
    """A sentence for the templates that are left out, where there are some."""
    lost = [name or "one without a name" for name, text in _entries(path) if not (name and text)]
    if lost:
        yield f"Of its chat templates {some_of(lost, 4)}: left out, as it holds no text in UTF-8."


@contextmanager
def without_damaged(path: Path) -> Iterator[Path]:
    """Give a folder that the library reads: it takes none with a template that it cannot decode.

    That is the folder itself, or one of links to its files that lies there for as long as needed.
    """
    if not any(text is None for _, text in _files(path)):
        yield path
        return
    with TemporaryDirectory() as folder:
        for file in path.iterdir():
            if file.is_file() and file.name != USUAL:
                (Path(folder) / file.name).symlink_to(file.absolute())
        yield Path(folder)


def _entries(path: Path) -> list[tuple[str, str | None]]:
    """Names with templates, either being empty where it is damaged."""
    files = _files(path)
    if files:
        return files
    try:
        value = read_json(path / SETTINGS).get("chat_template")
    except (CheckpointError, AttributeError):  # the library names what is wrong with it
        return []
    return [(name, text if isinstance(text, str) else None) for name, text in _named(value)]


def _files(path: Path) -> list[tuple[str, str | None]]:
    files = [(DEFAULT, path / USUAL)] if (path / USUAL).is_file() else []
    files += [(file.stem, file) for file in sorted(path.glob(TEMPLATES))]
    return [(clean(name), _text(file)) for name, file in files]


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a setting: a template, a table of them, or a list with their names."""
    if isinstance(value, dict):
        yield from ((clean(name), text) for name, text in value.items())
    elif isinstance(value, list):
        for each in value:
            entry = each if isinstance(each, dict) else {}
            yield clean(entry.get("name") or ""), entry.get("template")
    elif value is not None:
        yield DEFAULT, value


def _text(file: Path) -> str | None:
    try:
        return read_file(file, LARGEST).decode()
    except (CheckpointError, ValueError):
        return None
