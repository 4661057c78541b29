"""A recording as bytes, to be sent from where a model is to where pictures are drawn.

Layout: MAGIC | u32 length of the JSON | JSON | the arrays, one after the other. There is no pickle
in it, and a reader believes nothing: every length and shape is compared with the bytes that are
there before anything is made of it. What whoever has the checkpoint has, too, stays out: W_O and
its bias, tables of positions, and the encodings and sums that follow from them. So do logits of a
writer, which are made anew of its last layer's states.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.recording.calls import AttentionCall
from transformer.recording.data import PositionalEncoding, Recording
from transformer.recording.decisions import PooledClassification
from transformer.refusal import Refusal
from transformer.token import Token

MAGIC = b"HSR1"
DTYPES = {str(it).removeprefix("torch."): it for it in (torch.float32, torch.float16)}
DTYPES |= {"bfloat16": torch.bfloat16, "bool": torch.bool, "int64": torch.int64}
TENSORS = ("q", "k", "v", "mask", "bias", "added", "low")
"""Fields of a call that are tensors or None."""
PLAIN = {"scale": float, "is_causal": bool, "has_output": bool, "is_safe": bool, "is_random": bool}
"""Its fields that are not."""


class WireError(Refusal, ValueError):
    """Bytes that are no recording of this checkpoint, or a recording that cannot be sent."""


@dataclass
class _Arrays:
    """Arrays by their number."""

    entries: list[Any] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """id of a tensor -> its number: layers share masks."""

    def add(self, tensor: Tensor | None) -> int | None:
        if tensor is None:
            return None
        number = self.numbers.setdefault(id(tensor), len(self.entries))
        if number < len(self.entries):
            return number
        plain = tensor.detach().cpu().contiguous()  # of a view not its whole storage
        self.entries.append([str(plain.dtype).removeprefix("torch."), list(plain.shape)])
        self.bodies.append(plain.flatten().view(torch.uint8).numpy().tobytes())
        return number


def to_bytes(recording: Recording, checkpoint: Checkpoint, mark: str) -> bytes:
    """Return a recording of a model of ours as bytes. mark: the checkpoint's fingerprint.

    Raises WireError for a recording of any other model.
    """
    if checkpoint.family.is_watched:
        raise WireError(f"Recordings of {checkpoint.name} are not sent: record where it is shown.")
    arrays, texts = _Arrays(), _Texts()
    header = {
        "checkpoint": mark,
        "source": texts.add(recording.source),
        "target": texts.add(recording.target),
        "attentions": {
            kind: {
                "queries": texts.add(each.queries),
                "keys": texts.add(each.keys),
                "produced": None if each.produced is None else texts.add(each.produced),
                "calls": [_call_entry(call, arrays) for call in each.calls],
            }
            for kind, each in recording.attentions.items()
        },
        "positions": {
            side: _position_entry(each, checkpoint, arrays, texts)
            for side, each in recording.positions.items()
        },
        "vocabulary": recording.logits.size(-1),
        "states": arrays.add(recording.last_states),
        "classification": _classification_entry(recording, arrays),
        "texts": texts.entries,
    }
    values = {"header": header, "arrays": arrays.entries}
    text = json.dumps(values, separators=(",", ":")).encode()
    return b"".join([MAGIC, struct.pack("<I", len(text)), text, *arrays.bodies])


@dataclass
class _Texts:
    """Texts by their number: most kinds share their rows and columns."""

    entries: list[Any] = field(default_factory=list)
    numbers: dict[tuple[Token, ...], int] = field(default_factory=dict)

    def add(self, tokens: tuple[Token, ...]) -> int:
        if tokens not in self.numbers:
            self.numbers[tokens] = len(self.entries)
            self.entries.append([list(astuple(token)) for token in tokens])
        return self.numbers[tokens]


def _call_entry(call: AttentionCall, arrays: _Arrays) -> dict[str, Any]:
    entry = {name: arrays.add(getattr(call, name)) for name in TENSORS}
    sample = call.sample
    return {
        **entry,
        **{name: getattr(call, name) for name in PLAIN},
        "replaced": {str(head): arrays.add(z) for head, z in call.replaced.items()},
        "sample": sample and [arrays.add(sample.queries), arrays.add(sample.values)],
    }


def _classification_entry(recording: Recording, arrays: _Arrays) -> list[int | None] | None:
    """Keep all but the last layer's own weights. Raises WireError for another kind of decision."""
    result = recording.classification
    if result is None:
        return None
    if not isinstance(result, PooledClassification):
        raise WireError("A decision that pools no outputs is not sent: record where it is shown.")
    return [arrays.add(each) for each in (recording.logits, result.outputs, result.real)]


def _position_entry(
    each: PositionalEncoding, checkpoint: Checkpoint, arrays: _Arrays, texts: _Texts
) -> dict[str, Any]:
    """Keep what an edit changed: all else follows from the tokens and the model."""
    tables = tables_of(checkpoint)
    modules = range(len(modules_of(checkpoint, "embedding")))
    own = (i for i in modules if _equal(embedded(checkpoint, i, each.tokens), each.embeddings))
    module = next(own, None)
    follows = _equal(each.encodings, each.table[: len(each.encodings)])
    is_sum = _equal(each.embeddings + each.encodings, each.sum)
    return {
        "tokens": texts.add(each.tokens),
        "table": next(i for i, table in enumerate(tables) if _equal(table, each.table)),
        "module": module,
        "embeddings": arrays.add(each.embeddings) if module is None else None,
        "encodings": None if follows else arrays.add(each.encodings),
        "sum": None if is_sum else arrays.add(each.sum),
        "scheme": each.scheme,
    }


def _equal(first: Tensor, second: Tensor) -> bool:
    return first.shape == second.shape and torch.equal(first, second)


def modules_of(checkpoint: Checkpoint, role: str) -> list[Any]:
    """Modules of a role, such as "positions", in the model's own order."""
    place = checkpoint.family.kept[role]
    return [module for path, module in checkpoint.model.named_modules() if fnmatchcase(path, place)]


def tables_of(checkpoint: Checkpoint) -> list[Tensor]:
    """Tables of positions, as recordings have them."""
    modules = modules_of(checkpoint, "positions")
    return [module.table.detach().float().cpu() for module in modules]


@torch.inference_mode()
def embedded(checkpoint: Checkpoint, number: int, tokens: Sequence[Token]) -> Tensor:
    """Embeddings of tokens by one of the model's embeddings [T, D], as recordings have them."""
    ids = torch.tensor([[token.id for token in tokens]], device=checkpoint.device)
    rows: Tensor = modules_of(checkpoint, "embedding")[number].forward(ids)  # without its hooks
    return rows[0].float().cpu()
