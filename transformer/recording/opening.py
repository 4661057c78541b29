"""load_recording(): a recording that was saved, opened without its model and without trust."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from torch import Tensor

from transformer.device import usual_state
from transformer.files.foreign_file import place
from transformer.files.weights import Misfit
from transformer.files.weights_file import read_arrays
from transformer.inputs import PATH, InputError, checks
from transformer.positions.encodings import Rotary
from transformer.recording.calls import AttentionCall, Sample, WeightsCall
from transformer.recording.check import Checked
from transformer.recording.data import (
    Attention,
    Classification,
    Masked,
    PooledClassification,
    PositionalEncoding,
    Recording,
    Unseen,
)
from transformer.recording.packing import FORMAT, HEADER, LEFT_OUT, OTHER_TYPES, type_name
from transformer.recording.vector import Dense, Pooling, TextVector
from transformer.recording.wire import BROKEN, check_shapes
from transformer.refusal import quoted
from transformer.token import Candidate, Token

CLASSES: Mapping[str, Any] = {
    each.__name__: each
    for each in (
        *(Attention, AttentionCall, Candidate, Checked, Classification, Dense, Masked),
        *(PooledClassification, Pooling, PositionalEncoding, Recording, Rotary, Sample),
        *(TextVector, Token, Unseen, WeightsCall),
    )
}
"""The parts of a recording: a file names no others."""
OTHER_FORMAT = "is a recording of format {format}, and {own} is read"
NOT_WHOLE = "is not a whole recording: save it again"


@usual_state()
@checks(path=PATH)
def load_recording(path: str | Path) -> Recording:
    """Open a recording that `Recording.save` wrote: on the CPU, without its model.

    path: an .npz file of at most 1 GiB.

    Returns a `Recording` with the weights, views and numbers of what was saved, `checked` included.
    Nothing in the file is run. Raises InputError where it is none, is not whole, or is larger.
    """
    file = Path(path)
    try:
        arrays = read_arrays(file)
    except Misfit as error:
        raise InputError(f"{place(file)} {error}.") from error
    header = arrays.get(HEADER)
    if not isinstance(header, str):
        raise InputError(
            f"{place(file)} is not a recording: from_weights opens arrays by themselves."
        )
    try:
        values = json.loads(header)
        if values["format"] != FORMAT:
            what = OTHER_FORMAT.format(format=quoted(values["format"]), own=FORMAT)
            raise InputError(f"{place(file)} {what}.")
        recording, checked = (_read(values[name], arrays) for name in ("recording", "checked"))
        if type(recording) is not Recording or type(checked) is not Checked:
            raise ValueError("it holds something else")
        for attention in recording.attentions.values():
            for call in attention.calls:
                check_shapes(call, len(attention.queries), len(attention.keys))
    except (*BROKEN, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{place(file)} {NOT_WHOLE}.") from error
    vars(recording)["checked"] = _checked(recording, checked)
    return recording


def _checked(recording: Recording, saved: Checked) -> Checked:
    """The check of what the file holds, and what the pass has shown, which only `saved` knows.

    A file that says of itself that it is right is believed no more than its numbers are.
    """
    own = recording.checked
    return replace(
        own,
        is_right=saved.is_right if own.is_right else own.is_right,
        contradictions=saved.contradictions,
        unproven=saved.unproven,
        names=saved.names,
    )


def _read(value: Any, arrays: Mapping[str, Tensor | str]) -> Any:
    """Make a value of what JSON has. Raises whatever BROKEN has for what does not fit."""
    if isinstance(value, list):
        return tuple(_read(each, arrays) for each in value)
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _tensor(arrays[value["array"]], value["type"])
    if "pairs" in value:
        return MappingProxyType({key: _read(each, arrays) for key, each in value["pairs"]})
    part = CLASSES[value["is"]]
    of = {name: _read(each, arrays) for name, each in value["of"].items()}
    hints = _hints(part)
    for name, each in of.items():
        if name in LEFT_OUT or not _fits(each, hints[name]):
            raise ValueError(f"{name} of {part.__name__} is something else")
    return part(**of)


def _tensor(array: Tensor | str, name: str) -> Tensor:
    if isinstance(array, str):
        raise ValueError("a text stands where numbers belong")
    for dtype, bits in OTHER_TYPES.items():
        if type_name(dtype) == name and array.dtype == bits:
            return array.view(dtype)
    if type_name(array.dtype) != name:
        raise ValueError("numbers are of another type")
    return array


@cache
def _hints(part: type) -> Mapping[str, Any]:
    every = get_type_hints(part)
    return {each.name: every[each.name] for each in fields(part)}


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of the type that a field declares."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in inside)
    if origin is Literal:
        return value in inside
    if origin is tuple and inside[-1] is not Ellipsis:
        pairs = zip(value, inside, strict=False)
        return (
            isinstance(value, tuple)
            and len(value) == len(inside)
            and all(_fits(each, of) for each, of in pairs)
        )
    if origin in (tuple, Sequence):
        return isinstance(value, tuple) and all(_fits(each, inside[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, inside[0]) and _fits(each, inside[1]) for key, each in value.items()
        )
    if hint is float:
        return type(value) in (int, float)
    if hint in (int, bool, str, NoneType):
        return type(value) is hint
    return isinstance(value, hint)
