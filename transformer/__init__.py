"""Transformers and what they leave behind: checkpoints, decodings, recordings.

>>> from transformer import decode, load_checkpoint, record
"""

from transformer import interrupt  # noqa: F401  torch alone takes a second, in which Ctrl-C is heard

# isort: split
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, overload

from torch import nn

from transformer.by_name import by_name
from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.decoding import Decoding, InputError
from transformer.decoding import decode as decode_open
from transformer.edits import Edit, EditError
from transformer.formats.opening import load_checkpoint
from transformer.hugging_face.chat.chatting import chatting as chatting_open
from transformer.hugging_face.description import translating as translating_open
from transformer.hugging_face.model import pairing as pairing_open
from transformer.own_module.opening import from_module
from transformer.recording import Attention, PositionalEncoding, Recording
from transformer.recording.arrays import from_weights
from transformer.recording.opening import load_recording
from transformer.recording.ours import record as record_open
from transformer.refusal import Refusal
from transformer.token import Token
from transformer.watch import record_module
from transformer.watch.kinds.attention import Tokens

# isort: split
from transformer.analysis.ablation import Sweep  # needs decoding, which is loaded by now
from transformer.analysis.ablation import sweep as sweep_open
from transformer.analysis.patching import Patching
from transformer.analysis.patching import patch as patch_open
from transformer.analysis.reading import Reading
from transformer.causes import Contrast, Evidence
from transformer.causes import contrast as contrast_open
from transformer.causes import evidence as evidence_open
from transformer.corpus.align import Alignment
from transformer.corpus.align import align as align_open
from transformer.corpus.labels import Label, labels
from transformer.corpus.survey import survey as survey_open
from transformer.corpus.surveyed import Survey

__all__ = [
    "Alignment",
    "Attention",
    "Checkpoint",
    "CheckpointError",
    "Contrast",
    "Decoding",
    "Edit",
    "EditError",
    "Evidence",
    "InputError",
    "Label",
    "Patching",
    "PositionalEncoding",
    "Reading",
    "Recording",
    "Refusal",
    "Survey",
    "Sweep",
    "Token",
    "align",
    "chatting",
    "contrast",
    "decode",
    "evidence",
    "from_module",
    "from_weights",
    "labels",
    "load_checkpoint",
    "load_recording",
    "pairing",
    "patch",
    "record",
    "survey",
    "sweep",
    "translating",
]


# Each is given an open checkpoint, or its name.
align = by_name(align_open)
chatting = by_name(chatting_open)
contrast = by_name(contrast_open)
decode = by_name(decode_open)  # type: ignore[arg-type]  # its options may have any name
evidence = by_name(evidence_open)
pairing = by_name(pairing_open)
patch = by_name(patch_open)
survey = by_name(survey_open)
sweep = by_name(sweep_open)
translating = by_name(translating_open)


@overload
def record(
    checkpoint: Checkpoint | str | Path,
    text: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] | None = (),
) -> Recording: ...
@overload
def record(
    module: nn.Module,
    inputs: Any,
    tokens: Tokens | None = None,
    edits: Iterable[Edit | str] | None = (),
) -> Recording: ...
def record(*args: Any, **named: Any) -> Recording:
    """Run a model once and keep what its attentions saw.

    For a checkpoint, or its name: a text, and a target as text or tokens. For any torch module: its
    inputs, a tensor, a tuple or a dict, and optionally the tokens at its positions, as strings.
    edits: what to change for this run, such as "head-off:cross.2.3". What it holds stays as it was,
    but W_O and what `checked` computes are of the model's own matrices: ask before it is trained
    on. Raises InputError.
    """
    if "module" in named or (args and isinstance(args[0], nn.Module)):
        return record_module(*args, **named)
    return by_name(record_open)(*args, **named)
