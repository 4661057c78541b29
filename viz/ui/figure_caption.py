"""The caption of a figure: all that a reader needs who sees only the paper, in sentences."""

import re
from typing import Any

from transformer.analysis.reading import Reading, lenses, read
from transformer.decoding.options import MAX_LEN
from transformer.edits import parse
from viz.edit_words import edit_text
from viz.labels import counted, number
from viz.map_words import capitalised, uncapitalised
from viz.run.request import Request, about
from viz.state.checkpoints import title
from viz.state.fingerprints import DIGITS
from viz.state.page import Pane
from viz.state.requests import method_of
from viz.ui.branches.decisions import decided_texts

_NUMBERED = re.compile(r"\b(L\d|layer \d|H\d|head \d)")


def caption(
    pane: Pane,
    name: str,
    says: str,
    sha256: str,
    picture: Any = None,
    is_of_checkpoint: bool = True,
) -> str:
    """Say what is drawn, of which checkpoint, of which text, and how it is read.

    says: the picture's own sentences. picture: where it is one that an answer is enough for.
    """
    request = pane.request if pane.result is None else pane.answer.request
    of = f", of the checkpoint {title(request.checkpoint)}{known_as(request, sha256)}"
    first = name + of * is_of_checkpoint
    if pane.result is not None:
        first += f", reading “{request.text}”{_pair(request)}{_chat(request)}{_written(pane)}"
    parts = [] if says.startswith(first) else [f"{first}."]  # not twice the same
    if is_of_checkpoint and (description := about(request.checkpoint)):
        parts += description.about.notes
    if request.edits:
        parts.append(f"Changed in the model: {edited(pane)}.")
    if says:
        parts.append(capitalised(says).rstrip(".") + ".")
    parts += _read(pane, picture)
    whole = " ".join(parts)
    counted = " Layers and heads are counted from 0." if _NUMBERED.search(whole) else ""
    return whole + counted


def known_as(request: Request, sha256: str) -> str:
    """Name a checkpoint and the beginning of its files' hash, in brackets."""
    description = about(request.checkpoint)
    parts = [description.about.title] if description else []
    parts += [f"SHA-256 {sha256[:DIGITS]}"] if sha256 else []
    return f" ({', '.join(parts)})" if parts else ""


def _pair(request: Request) -> str:
    return f" and “{request.pair}” as a pair" if request.pair else ""


def _chat(request: Request) -> str:
    if request.chat is None:
        return ""
    template, system, turns = request.chat
    earlier = ", ".join(f"“{text}”" for text in (system, *(text for _, text in turns)) if text)
    return f" in its chat template “{template}”" + (f" after {earlier}" if earlier else "")


def _written(pane: Pane) -> str:
    request, decoding = pane.answer.request, pane.answer.decoding
    if request.follows is not None:
        written = pane.beside.answer.decoding if pane.beside is not None else None
        text = f" “{written.text}”" if written else " the output"
        return f" and made to write{text}, as {_whose(request, request.follows)} does"
    if decoding is None:
        return ""
    text = f"“{decoding.text}”" if decoding.text else "nothing"
    return f" and writing {text} ({how_decoded(request)}{_decided(pane)})"


def _decided(pane: Pane) -> str:
    """Say what a person decided of the output, in the words of the chips."""
    texts = decided_texts(pane.checkpoint, pane.answer.request)
    return "".join(f"; {uncapitalised(text)}" for text in texts)


def _whose(request: Request, follows: Request) -> str:
    is_same = request.checkpoint == follows.checkpoint
    return "the unchanged model" if is_same else title(follows.checkpoint)


def how_decoded(request: Request) -> str:
    """The method and its numbers, also those that were not chosen.

    Who has the figure may have another version, with other defaults. What is off unless somebody
    asks for it is left out.
    """
    method = method_of(request)
    chosen = dict(request.options)
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


def edited(pane: Pane) -> str:
    """All that is changed in the model of a pane, in the words of its buttons."""
    if pane.result is None:
        return "; ".join(pane.request.edits)
    texts = []
    for edit in map(parse, pane.answer.request.edits):
        of = f" (of “{edit.text}”)" if edit.text else ""
        texts.append(f"{edit_text(edit, pane.recording)}{of}")
    return "; ".join(texts)


def _read(pane: Pane, picture: Any) -> list[str]:
    """Say how the maps of a picture were read, as the page does beside them."""
    reading: Reading | None = getattr(picture, "reading", None)
    if reading is None:
        return []
    sentences = [] if reading.words else ["Rows and columns are single tokens."]
    if reading.lens != "weight":
        lens = uncapitalised(lenses()[reading.lens].title)
        sentences.append(f"Shown is the {lens} in place of the weight.")
    kinds = getattr(picture, "kinds", (pane.selection.kind,))
    notes = (note for kind in kinds for note in read(pane.recording, kind, reading).notes)
    return [*sentences, *(f"{capitalised(note)}." for note in dict.fromkeys(notes))]
