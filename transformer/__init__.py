"""Transformers and what they leave behind: checkpoints, decodings, recordings.

>>> from transformer import decode, load_checkpoint, record
"""

from transformer import interrupt  # noqa: F401  torch alone takes a second, in which Ctrl-C is heard

# isort: split
from collections.abc import Iterable, Sequence
from inspect import signature
from pathlib import Path
from typing import Any, get_overloads, overload

from torch import nn

from transformer.by_name import by_name
from transformer.checkpoint import Checkpoint, CheckpointError
from transformer.decoding import Decoding, InputError
from transformer.decoding import decode as decode_open
from transformer.decoding.method import OptionError
from transformer.device import DeviceError
from transformer.edits import Edit, EditError
from transformer.files.foreign_text import Unwritten
from transformer.formats.opening import load_checkpoint
from transformer.hugging_face.chat.chatting import chatting as chatting_open
from transformer.hugging_face.description import translating as translating_open
from transformer.hugging_face.model import pairing as pairing_open
from transformer.inputs import check_call
from transformer.own_module.opening import from_module
from transformer.recording import Attention, PositionalEncoding, Recording
from transformer.recording.arrays import from_weights
from transformer.recording.calls import NotRecorded
from transformer.recording.data import NoSuchHead, NoSuchKind, NoSuchName, UnlikeLayers
from transformer.recording.opening import load_recording
from transformer.recording.ours import record as record_open
from transformer.recording.packing import Unsaved
from transformer.refusal import Refusal
from transformer.token import Token
from transformer.watch import record_module
from transformer.watch.kinds.attention import Tokens

# isort: split
from transformer.analysis.ablation import Sweep  # needs decoding, which is loaded by now
from transformer.analysis.ablation import sweep as sweep_open
from transformer.analysis.corpus_sweep import Worth
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
from transformer.corpus.sweep import CorpusSweep
from transformer.corpus.sweep import sweep_corpus as sweep_corpus_open

__all__ = [
    "Alignment",
    "Attention",
    "Checkpoint",
    "CheckpointError",
    "Contrast",
    "CorpusSweep",
    "Decoding",
    "DeviceError",
    "Edit",
    "EditError",
    "Evidence",
    "InputError",
    "Label",
    "NoSuchHead",
    "NoSuchKind",
    "NoSuchName",
    "NotRecorded",
    "OptionError",
    "Patching",
    "PositionalEncoding",
    "Reading",
    "Recording",
    "Refusal",
    "Survey",
    "Sweep",
    "Token",
    "UnlikeLayers",
    "Unsaved",
    "Unwritten",
    "Worth",
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
    "sweep_corpus",
    "translating",
]
__version__ = "0.2.0"


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
sweep_corpus = by_name(sweep_corpus_open)
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

    Two calls: record(checkpoint, text, target=None, edits=()) of what `load_checkpoint` opens, and
    record(module, inputs, tokens=None, edits=()) of any torch module.

    checkpoint: open, or its name or path.
    text: the source, or what is read.
    target: what is written, as text or tokens, such as `.target` of a decoding; None: the model
        writes nothing, or a prompt is recorded by itself.
    module: it runs as it is: put it in eval() if dropout should rest.
    inputs: a batch of one: a tensor, a tuple of arguments or a dict of named ones.
    tokens: the pieces at its positions, as strings, or a dict of those of "source" and "target";
        None: positions are numbered.
    edits: changes of the model for this run, such as "head-off:cross.2.3". A module then runs
        twice, since the first pass shows which attention is which.

    Returns a `Recording`: `.attentions`, kind ("encoder_self", "decoder_self", "cross") ->
    `Attention`, whose `.weights(layer, head)` are [Q, K], `.weights(layer)` [H, Q, K] and
    `.weights()` [L, H, Q, K], rows that sum to 1, or less beside a sink; `.source`, S tokens;
    `.target`, T tokens; `.logits` [T, V]; `.positions`; `.checked`, its numbers against what the
    model returned. What it holds stays as it was, but W_O and what `checked` computes are of the
    model's own matrices: ask before it is trained on. Raises CheckpointError, InputError, of an
    edit EditError, and DeviceError where the device fails.

    >>> record("en-de", "It rains.", "Es regnet.").attentions["cross"].weights(2)  # doctest: +SKIP
    >>> record(model, ids, tokens=["It", "rains", "."])  # doctest: +SKIP
    """
    if "module" in named or (args and isinstance(args[0], nn.Module | type)):
        check_call("record", record_module, *args, **named)
        return record_module(*args, **named)
    return by_name(record_open)(*args, **named)


def __dir__() -> list[str]:
    """Every public name, without what they are made of."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


# Readers of help() see the names of a checkpoint's call instead of *args.
record.__signature__ = signature(get_overloads(record)[0])  # type: ignore[attr-defined]
