"""The sentences of a caption that an app's figure and a notebook's share."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from transformer.analysis.reading import Reading, lenses, read
from transformer.decoding.method import MAX_LEN, Method
from transformer.edits import parse
from transformer.fingerprint import DIGITS
from transformer.recording import Recording
from transformer.recording.check import IDS, how_named
from viz.edit_words import edit_text
from viz.labels import counted, number
from viz.map_words import capitalised, uncapitalised

_NUMBERED = re.compile(r"\b(L\d|layer \d|H\d|head \d)")


def of_checkpoint(name: str, about: str) -> str:
    """Return the words that say whose figure it is. about: as `known_as` gives it."""
    return f", of the checkpoint {name}{about}"


def known_as(title: str, sha256: str) -> str:
    """Name a checkpoint and the beginning of its files' hash, in brackets."""
    parts = [title] if title else []
    parts += [f"SHA-256 {sha256[:DIGITS]}"] if sha256 else []
    return f" ({', '.join(parts)})" if parts else ""


def reading(text: str) -> str:
    """Say what was read."""
    return f", reading “{text}”"


def writing(text: str, how: str) -> str:
    """Say what was written, and by which decoding."""
    return f" and writing {f'“{text}”' if text else 'nothing'} ({how})"


def how_decoded(method: Method, chosen: Mapping[str, Any]) -> str:
    """The method and its numbers, also those that were not chosen.

    Who has the figure may have another version, with other defaults. What is off unless somebody
    asks for it is left out.
    """
    most = chosen.get(MAX_LEN.name)
    numbers = [] if most is None else [f"at most {counted(int(most), 'token', 'tokens')}"]
    for option in method.options:
        value = chosen.get(option.name, option.default)
        is_off = option.is_off_by_default and value == option.default
        if option.name != MAX_LEN.name and not is_off:
            numbers.append(f"{uncapitalised(option.title)} {number(value, 6, 'g')}")
    name = uncapitalised(method.title)
    name += "" if method.title.endswith(("search", "ing")) else " decoding"
    return f"{name} with {', '.join(numbers)}" if numbers else name


def changed(edits: str) -> str:
    """Say what is changed in the model."""
    return f"Changed in the model: {edits}."


def how_changed(edits: Iterable[str], recording: Recording) -> str:
    """Edits, as they are spelled, in the words of their buttons."""
    texts = []
    for edit in map(parse, edits):
        of = f" (of “{edit.text}”)" if edit.text else ""
        texts.append(f"{edit_text(edit, recording)}{of}")
    return "; ".join(texts)


def sentence(text: str) -> str:
    """The text with a capital at its start and a full stop at its end."""
    return capitalised(text).rstrip(".") + "."


def how_read(recording: Recording, picture: Any, kind: str, state: Mapping[str, Any]) -> list[str]:
    """Say how the maps of a picture were read; nothing where none are drawn.

    kind: where the picture does not say which. state: as of its `data`.
    """
    reading: Reading | None = getattr(picture, "reading", None)
    kinds = picture.mapped(recording, **state) if hasattr(picture, "mapped") else (kind,)
    if reading is None or not kinds:
        return []
    sentences = [] if reading.words else ["Rows and columns are single tokens."]
    if reading.lens != "weight":
        lens = uncapitalised(lenses()[reading.lens].title)
        sentences.append(f"Shown is the {lens} in place of the weight.")
    attentions = [recording.attentions[each] for each in kinds]
    followed = [it for it in attentions if (it.rows_by, it.columns_by) != (IDS, IDS)]
    sentences += [f"{capitalised(how)}." for how in how_named(followed)]
    notes = (note for each in kinds for note in read(recording, each, reading).notes)
    return [*sentences, *(f"{capitalised(note)}." for note in dict.fromkeys(notes))]


def whole(sentences: Iterable[str]) -> str:
    """The caption, which says how layers and heads are counted where it names one."""
    text = " ".join(sentences)
    return text + " Layers and heads are counted from 0." * bool(_NUMBERED.search(text))
