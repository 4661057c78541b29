"""Arrays of any library, or the steps of `generate` -> one array a layer, without a batch axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from transformer.inputs import InputError, thing
from transformer.refusal import items_of

AXES = {"weights": "heads, queries, keys", "q": "heads, queries, d_head"}
AXES |= {"k": "heads, keys, d_head", "v": "heads, keys, d_value"}

# Sentences on arrays that are refused: the page without a server says them, too.
BATCH = "{name} has a batch axis, {shape}: give one text, as weights[:, 0]."
BATCH_OF_LAYER = (
    "{name} has a batch axis of {n} in each layer: give one text, as "
    "[layer[0] for layer in weights]."
)
BATCH_OF_STEP = (
    "{name} has a batch axis of {n} in each step: of a batch give one text, as "
    "[[layer[:1] for layer in step] for step in steps]; of beams, whose rows change places, "
    "nothing can be shown: write without them."
)
OTHER_AXES = "{name} is {shape}: its axes are layers, {axes}."
OTHER_AXES_OF_LAYER = "A layer of {name} is {shape}, where three axes belong."
UNLIKE = (
    "Layer {layer} of {name} is {shape}, and layer 0 is {first}: give one shape to all layers, and "
    "steps of `generate` as they came, each with all its layers."
)
NOTHING = "{name} is empty in layer {layer}, {shape}."
LOST = "{name} has NaN or infinity in layer {layer}, head {head}: there is nothing to show of it."
EAGER = "load the model with attn_implementation='eager', and ask for output_attentions=True"


def each_layer(kind: str, field: str, value: Any) -> list[Tensor]:
    """One array of three axes a layer. Raises InputError, of a batch by its name."""
    axes = AXES[field]
    name = kind if field == "weights" else f"{field} of {kind}"
    is_list = isinstance(value, tuple | list)
    layers: list[Tensor] = []
    if value is None or (is_list and all(isinstance(it, tuple | list) and not it for it in value)):
        pass  # as libraries return what they were not asked for
    elif _is_array(value) or not any(map(_is_array, items_of(value) or [])):
        whole = tensor_of(name, value)
        if whole.dim() == 5:
            raise InputError(BATCH.format(name=name, shape=list(whole.shape)))
        if whole.dim() != 4:
            raise InputError(OTHER_AXES.format(name=name, shape=list(whole.shape), axes=axes))
        layers = list(whole)
    else:
        layers = [_of_one(name, each) for each in value]
    for layer, each in enumerate(layers):
        if each.shape[:2] != layers[0].shape[:2] or each.size(2) != layers[0].size(2):
            own, first = list(each.shape), list(layers[0].shape)
            raise InputError(UNLIKE.format(layer=layer, name=name, shape=own, first=first))
        if not each.numel():
            raise InputError(NOTHING.format(name=name, layer=layer, shape=list(each.shape)))
        lost = (~each.isfinite()).flatten(1).any(1).nonzero().flatten().tolist()
        if lost:
            raise InputError(LOST.format(name=name, layer=layer, head=lost[0]))
    if not layers:
        raise InputError(f"{name} is empty: {EAGER}, where it is a model of Hugging Face's.")
    return layers


def _of_one(name: str, value: Any, batch: str = BATCH_OF_LAYER) -> Tensor:
    """An array of one layer, which libraries give with a batch of one. Raises InputError.

    batch: the sentence on a larger one.
    """
    if value is None:
        raise InputError(f"{name} has None in place of weights: {EAGER}.")
    each = tensor_of(name, value)
    if each.dim() == 4 and len(each) == 1:
        return each[0]
    if each.dim() == 4:
        raise InputError(batch.format(name=name, n=len(each)))
    if each.dim() != 3:
        raise InputError(OTHER_AXES_OF_LAYER.format(name=name, shape=list(each.shape)))
    return each


def _is_array(value: Any) -> bool:
    return value is None or isinstance(value, Tensor) or hasattr(value, "__array__")


def tensor_of(name: str, value: Any) -> Tensor:
    """A copy in float32, or of truths, on the CPU. Raises InputError."""
    try:
        if isinstance(value, Tensor):
            tensor = value.detach().to_dense() if value.is_sparse else value.detach()
        else:
            tensor = torch.from_numpy(np.array(value))
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} is not an array of numbers: {thing(value)}.") from error
    if tensor.is_meta or tensor.is_complex() or tensor.is_quantized:
        raise InputError(f"{name} holds no plain numbers: {tensor.dtype} on {tensor.device}.")
    if tensor.dtype == torch.bool:
        return tensor.cpu().clone()
    return tensor.to("cpu", torch.float32, copy=True)


# Steps of `generate`: a tuple of tuples, one a step; the first has the rows of the prompt.


def are_steps(value: Any) -> bool:
    """Tell whether these are steps: lists of layers, in place of layers."""
    steps = [] if _is_array(value) else items_of(value)
    return bool(steps) and all(
        isinstance(step, tuple | list) and any(map(_is_array, step)) for step in steps or ()
    )


def join_steps(kind: str, steps: Sequence[Sequence[Any]]) -> tuple[list[Tensor], int]:
    """Join the rows of all steps, [H, Q, K] a layer; and the number of those of the first.

    With a cache each step has one row more, without all of them anew. A window keeps the last keys,
    and a cache of fixed size has room for later ones.
    """
    n_layers = len(steps[0])
    every = [[_of_one(kind, each, BATCH_OF_STEP) for each in step] for step in steps]
    rows: list[list[Tensor]] = [[] for _ in range(n_layers)]
    n_rows = 0
    for t, step in enumerate(every):
        n = step[0].size(1) if step else 0
        if len(step) != n_layers or not n or (t and n not in (1, n_rows + 1)):
            raise InputError(
                f"Step {t} of {kind} has {len(step)} layers of {n} rows: each step behind the "
                f"first has {n_layers} of one row, or of all rows so far."
            )
        for layer, each in enumerate(step):
            new = each if t == 0 else each[:, -1:]
            before = max(0, n_rows + 1 - each.size(2)) if t and kind != "cross" else 0
            rows[layer].append(torch.nn.functional.pad(new, (before, 0)))
        n_rows += n if t == 0 else 1
    layers = []
    for of in rows:
        n_keys = max(each.size(2) for each in of)
        whole = torch.cat([torch.nn.functional.pad(it, (0, n_keys - it.size(2))) for it in of], 1)
        is_room = kind != "cross" and not bool(whole[:, :, n_rows:].any())
        layers.append(whole[:, :, :n_rows] if is_room else whole)
    return each_layer(kind, "weights", layers), every[0][0].size(1)
