"""Recordings that were saved, and bare arrays of attention: a checkpoint of one text, no model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import nn

from transformer.checkpoint import About, Checkpoint, CheckpointError, Description
from transformer.files.tensors import list_tensors
from transformer.files.weights_file import ARRAYS, names_in_zip
from transformer.formats.format import Format
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError
from transformer.inspection.tensor_statistics import Contents
from transformer.models.family import Family, ForcedPass, Ids
from transformer.recording import Recording
from transformer.recording.arrays import OURS, from_weights
from transformer.recording.opening import load_recording
from transformer.recording.packing import HEADER
from transformer.token import Token
from transformer.tokenizer import Side, TokenizerError
from transformer.words import text_of, words_of

NO_MODEL = "This file holds arrays of one text, without a model: {}."
_ANEW = NO_MODEL.format("nothing can be computed anew")
LOOK = NO_MODEL.format("it can be looked at, and nothing in it changed")
TITLE = "attention without a model"
NO_ATTENTION = "is a recording without attention"
NOT_TAKEN = "{name} is not opened here: files of {endings} are taken, of at most {most} bytes."
"""An answer to a file that somebody drops, which has another ending or too many bytes."""
MOST_SHOWN = 2_000
"""Characters of the text that stand in the place of a sentence."""


class NoModel(nn.Module):
    """The recording, in the place where a model would stand."""

    def __init__(self, recording: Recording) -> None:
        super().__init__()
        self.recording = recording

    def forward(self, *inputs: Any, **named: Any) -> NoReturn:
        """Raises InputError."""
        raise InputError(_ANEW)


def _forced(config: Any, source: Ids, target: Ids | None) -> ForcedPass:
    raise InputError(_ANEW)


FAMILY = Family(
    name="arrays",
    title="Arrays without a model",
    build=lambda config: nn.Identity(),
    attentions={},
    forced_pass=_forced,
    target="none",
    reads="text",
    kept={},
    recorded=lambda model: model.recording,
)


@dataclass(frozen=True)
@in_a_line
class ArraysConfig:
    """The sizes of the arrays."""

    kinds: tuple[tuple[str, int, int], ...]
    """Each kind with its layers and heads."""
    vocab_size: int
    max_len: int
    pad_id: int = -1
    eos_id: int | None = None
    eos_ids: frozenset[int] = frozenset()

    def to_dict(self) -> dict[str, Any]:
        sizes = {kind: {"n_layers": n, "n_heads": heads} for kind, n, heads in self.kinds}
        return {**sizes, "max_len": self.max_len}


class OneText:
    """The tokens of the text that the arrays are of; no other text can be split."""

    kind = "own"

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._of = {token.id: token for token in tokens}
        text = self.decode([token.id for token in tokens])
        self.text = text or " ".join(token.piece for token in tokens) or "-"

    @property
    def vocab_size(self) -> int:
        return max(self._of, default=0) + 1

    def encode(self, text: str, side: Side = "source") -> list[int]:
        """The ids of its one text. Raises TokenizerError for another."""
        if text.strip() != self.text:
            raise TokenizerError(NO_MODEL.format("no other sentence can be read"))
        return [token.id for token in self._tokens]

    def decode(self, ids: Sequence[int]) -> str:
        tokens = [self._of[id] for id in ids if not self._of[id].special]
        text = text_of(tokens).strip()
        return (text if " " in text else " ".join(words_of(tokens)))[:MOST_SHOWN].strip()

    def token(self, id: int) -> Token:
        return self._of[id]

    def save(self, folder: Path) -> None:
        """Nothing is kept of it."""


def fits(path: Path) -> bool:
    """Tell whether a file holds a recording, or arrays under the names of kinds."""
    if path.suffix not in ARRAYS or not path.is_file():
        return False
    try:
        names = names_in_zip(path) if path.suffix == ".npz" else [*list_tensors(path, path.name)]
    except CheckpointError:  # other formats say what is wrong with it
        return False
    return HEADER in names or any(map(OURS.fullmatch, names))


def load(path: Path, device: torch.device) -> Checkpoint:
    """Open it on the CPU, whatever device there is. Raises CheckpointError."""
    try:
        is_whole = path.suffix == ".npz" and HEADER in names_in_zip(path)
        recording = load_recording(path) if is_whole else from_weights(path)
    except InputError as error:
        raise CheckpointError(str(error)) from error
    attentions = recording.attentions
    if not attentions:
        raise CheckpointError(f"{path.name} {NO_ATTENTION}.")
    first = [*attentions.values()][-1]
    tokenizer = OneText(recording.source or first.keys)
    kinds = tuple((kind, of.n_layers, of.n_heads) for kind, of in attentions.items())
    longest = max(len(of.keys) for of in attentions.values())
    return Checkpoint(
        path=path,
        about=About(
            title=TITLE,
            recipe="",
            tokenizer=tokenizer.kind,
            examples=(tokenizer.text,),
            opens_at=(first.kind, 0, 0),
            notes=(
                LOOK,
                *recording.notes,
            ),
        ),
        config=ArraysConfig(kinds, tokenizer.vocab_size, max(longest, len(recording.source))),
        family=replace(FAMILY, attentions=dict.fromkeys(attentions)),
        model=NoModel(recording),
        tokenizer=tokenizer,
        device=torch.device("cpu"),
    )


def describe(path: Path) -> Description:
    """Describe it by its arrays, which are read. Raises CheckpointError."""
    opened = load(path, torch.device("cpu"))
    return Description(opened.about, opened.config, opened.family)


def contents(path: Path) -> Contents:
    """Raises CheckpointError: there are no weights of a model."""
    raise CheckpointError(f"{path.name}: {NO_MODEL.format('there are no tensors to inspect')}")


FORMAT = Format(
    name="bare_arrays",
    title="a recording that was saved, or arrays of attention weights (.npz, .safetensors)",
    fits=fits,
    describe=describe,
    load=load,
    files=lambda path: (path,),
    contents=contents,
)
