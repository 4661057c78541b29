"""A recording as bytes, to be sent from where a model is to where pictures are drawn, and read
there.
"""

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor, nn

from transformer.checkpoint import Checkpoint
from transformer.editing.ours import places
from transformer.models.token_model import TokenWriter
from transformer.recording.calls import AttentionCall, Sample, WeightsCall
from transformer.recording.data import (
    Attention,
    PooledClassification,
    PositionalEncoding,
    Recording,
)
from transformer.recording.hooks import Observer, observing
from transformer.refusal import Refusal, quoted
from transformer.token import Token

# A recording as bytes, to be sent from where a model is to where pictures are drawn.
#
# Layout: MAGIC | u32 length of the JSON | JSON | the arrays, one after the other. There is no
# pickle in it, and a reader believes nothing: every length and shape is compared with the bytes
# that are there before anything is made of it. What whoever has the checkpoint has, too, stays
# out: W_O and its bias, tables of positions, and the encodings and sums that follow from them. So
# do logits of a writer, which are made anew of its last layer's states.

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
        "vocabulary": recording.require_logits().size(-1),
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
    return [arrays.add(each) for each in (recording.require_logits(), result.outputs, result.real)]


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


# The reader of recordings as bytes: whatever a header claims is compared with what is there.

BROKEN = (KeyError, TypeError, ValueError, IndexError, RuntimeError, OverflowError, AttributeError)
"""Errors of whatever is read of a header that is none."""
NOTHING = torch.empty(0, dtype=torch.uint8)


def from_bytes(content: bytes, checkpoint: Checkpoint, mark: str) -> Recording:
    """Return the recording that `to_bytes` sent of the same checkpoint.

    Its logits are computed anew of its last states; without those it has none [0, V].

    Raises WireError for whatever is none, and for one of other weights.
    """
    try:
        header, tensors = _opened(content)
        if header["checkpoint"] != mark:
            raise WireError(
                f"The recording is of other weights than {checkpoint.name} has here: "
                f"{quoted(header['checkpoint'], 16)}."
            )
        return _Reader(header, tensors, checkpoint).recording()
    except BROKEN as error:
        if isinstance(error, WireError):
            raise
        raise WireError(f"The bytes are not a recording: {type(error).__name__}.") from error
    except RecursionError as error:
        raise WireError("The bytes are not a recording: its header has no end.") from error


def _opened(content: bytes) -> tuple[dict[str, Any], list[Tensor]]:
    start = len(MAGIC) + 4
    if content[: len(MAGIC)] != MAGIC or len(content) < start:
        raise WireError("The bytes are not a recording.")
    (length,) = struct.unpack_from("<I", content, len(MAGIC))
    if start + length > len(content):
        raise WireError("The recording ends within its header.")
    values = json.loads(content[start : start + length])
    sizes = []
    for name, shape in values["arrays"]:
        if not all(type(n) is int and 0 <= n < 2**31 for n in shape) or len(shape) > 4:
            raise WireError(f"The recording claims an array of shape {quoted(shape)}.")
        sizes.append(math.prod(shape) * DTYPES[name].itemsize)
    if start + length + sum(sizes) != len(content):
        raise WireError("The recording claims arrays of another size than it has.")
    tensors, at = [], start + length
    for (name, shape), size in zip(values["arrays"], sizes, strict=True):
        body = bytearray(content[at : at + size])
        flat = torch.frombuffer(body, dtype=torch.uint8) if size else NOTHING
        if name == "bool" and size and int(flat.max()) > 1:
            raise WireError("The recording has a truth that is neither yes nor no.")
        tensors.append(flat.view(DTYPES[name]).reshape(shape))
        at += size
    return values["header"], tensors


@dataclass
class _Reader:
    """A header whose numbers of arrays and texts are looked up, and whose shapes agree."""

    header: dict[str, Any]
    tensors: list[Tensor]
    checkpoint: Checkpoint

    def recording(self) -> Recording:
        modules = places(self.checkpoint.model, self.checkpoint.family)
        with observing(self.checkpoint, Observer()):  # so that each knows its projection
            pass
        if set(self.header["attentions"]) != set(modules):
            raise WireError("The recording has other kinds of attention than the model.")
        attentions = {
            kind: self.attention(kind, entry, [module for _, module in modules[kind]])
            for kind, entry in self.header["attentions"].items()
        }
        positions = {side: self.position(it) for side, it in self.header["positions"].items()}
        target, decision = self.text(self.header["target"]), self.classification()
        logits, states = self.logits(len(target), decision)
        return Recording(
            source=self.text(self.header["source"]),
            target=target,
            attentions=MappingProxyType(attentions),
            positions=MappingProxyType(positions),
            logits=logits,
            classification=decision,
            last_states=states,
        )

    @torch.inference_mode()
    def logits(
        self, n_target: int, decision: PooledClassification | None
    ) -> tuple[Tensor, Tensor | None]:
        """Return logits [T, V], of the same rows in one product as in the pass, and the states."""
        states, model = self.on_device(self.header["states"]), self.checkpoint.model
        if decision is not None:
            return self.on_device(self.header["classification"][0]), None
        if states is None:
            return torch.empty(0, _number(self.header["vocabulary"])), None
        fits = states.dim() == 2 and states.is_floating_point() and len(states) >= n_target
        if not fits or not isinstance(model, TokenWriter) or states.size(1) != model.config.d_model:
            raise WireError("The recording has last states that do not fit the model.")
        weight = next(model.parameters())
        logits = model.logits(states[None].to(weight.dtype))[0]
        return logits[-n_target:] if n_target else logits, states

    def classification(self) -> PooledClassification | None:
        entry = self.header["classification"]
        if entry is None:
            return None
        logits, outputs, real = map(self.tensor, entry)
        config: Any = self.checkpoint.config
        classify: Any = self.checkpoint.model.get_submodule(self.checkpoint.family.kept["classify"])
        weight, bias = (each.detach().float().cpu() for each in (classify.weight, classify.bias))
        fits = [
            logits.shape == bias.shape and logits.is_floating_point(),
            outputs.dim() == 2 and outputs.is_floating_point(),
            outputs.size(-1) == weight.size(1),
            real.shape == outputs.shape[:1] and real.dtype == torch.bool,
        ]
        if not all(fits):
            raise WireError("The recording has a decision that does not fit the model.")
        return PooledClassification(
            config.classes, logits.float(), config.pooling, outputs, weight, bias, real
        )

    def attention(self, kind: str, entry: Any, modules: Sequence[nn.Module]) -> Attention:
        queries, keys = self.text(entry["queries"]), self.text(entry["keys"])
        produced = None if entry["produced"] is None else self.text(entry["produced"])
        pairs = zip(entry["calls"], modules, strict=True)
        calls = tuple(self.call(each, module) for each, module in pairs)
        for call in calls:
            check_shapes(call, len(queries), len(keys))
        return Attention(kind, queries, keys, calls, produced)

    def call(self, entry: Any, module: nn.Module) -> AttentionCall:
        plain = {}
        for name, kind in PLAIN.items():
            if type(entry[name]) is not kind or (kind is float and not math.isfinite(entry[name])):
                raise WireError(f"The recording has {quoted(entry[name])} as {name}.")
            plain[name] = entry[name]
        output = vars(module)["projection"]
        is_linear = isinstance(output, nn.Linear)
        sample = None
        if entry["sample"] is not None:
            queries, values = map(self.tensor, entry["sample"])
            bias = output.bias if is_linear else None
            sample = Sample(queries, values.to(self.checkpoint.device), bias)
        return AttentionCall(
            **{name: self.on_device(entry[name]) for name in TENSORS},
            **plain,
            replaced={int(head): self.on_device(i) for head, i in entry["replaced"].items()},
            projection=output.weight if is_linear else None,
            sample=sample,
        )

    def position(self, entry: Any) -> PositionalEncoding:
        tokens = self.text(entry["tokens"])
        table = tables_of(self.checkpoint)[_number(entry["table"])]
        shape = len(tokens), table.size(1)
        own = self.maybe(entry["encodings"])
        encodings = table[: len(tokens)] if own is None else own
        if entry["module"] is None:
            embeddings = self.tensor(entry["embeddings"])
        else:
            embeddings = embedded(self.checkpoint, _number(entry["module"]), tokens)
        total = self.maybe(entry["sum"])
        result = embeddings + encodings if total is None else total
        if encodings.shape != shape or len(embeddings) != len(tokens) or len(result) != len(tokens):
            raise WireError("The recording has positions of another text.")
        if type(entry["scheme"]) is not str:
            raise WireError("The recording has positions without a name.")
        return PositionalEncoding(tokens, embeddings, encodings, table, result, entry["scheme"])

    def tensor(self, number: Any) -> Tensor:
        return self.tensors[_number(number)]

    def on_device(self, number: Any) -> Any:
        tensor = self.maybe(number)
        return None if tensor is None else tensor.to(self.checkpoint.device)

    def maybe(self, number: Any) -> Any:
        return None if number is None else self.tensor(number)

    def text(self, number: Any) -> tuple[Token, ...]:
        return tuple(map(_token, self.header["texts"][_number(number)]))


def _number(value: Any) -> int:
    if type(value) is not int or value < 0:  # -1 would be the last one
        raise WireError(f"The recording has {quoted(value)} for a number.")
    return value


def _token(values: Any) -> Token:
    token = Token(*values)
    text, flag = (str, type(None)), (bool, type(None))
    kinds = ((int,), (str,), (bool,), flag, (bool,), text, text, flag)
    for value, kind in zip(values, kinds, strict=True):
        if type(value) not in kind:
            raise WireError(f"The recording has a token with {quoted(value)}.")
    return token


def check_shapes(call: AttentionCall, n_queries: int, n_keys: int) -> None:
    """Raise WireError unless all tensors of a call fit each other and its tokens."""
    n_heads, n_groups = call.q.size(0), call.k.size(0)
    d_key, d_value = call.q.size(-1), call.v.size(-1)
    cells, addends = (n_heads, n_queries, n_keys), (call.bias, call.added, call.low)
    fits = [
        call.q.shape == (n_heads, n_queries, d_key),
        call.k.shape == (n_groups, n_keys, d_key),
        call.v.shape == (n_groups, n_keys, d_value),
        n_groups > 0 and n_heads > 0 and n_heads % n_groups == 0,
        all(each.is_floating_point() for each in (call.q, call.k, call.v)),
        not isinstance(call, WeightsCall) or call.given.shape == cells,
        call.mask is None or (call.mask.dtype == torch.bool and _spreads(call.mask, cells)),
        all(it is None or (it.is_floating_point() and _spreads(it, cells)) for it in addends),
        call.projection is None or call.projection.size(1) == n_heads * d_value,
    ]
    for head, z in call.replaced.items():
        fits.append(0 <= head < n_heads and z.shape == (n_queries, d_value))
    if call.sample is not None:
        rows, values = call.sample.queries, call.sample.values
        fits.append(rows.dtype == torch.int64 and rows.dim() == 1 and values.is_floating_point())
        fits.append(values.dim() > 1 and values.size(-2) == len(rows))
        fits.append(bool(((rows >= 0) & (rows < n_queries)).all()))
        if call.projection is not None:
            fits.append(values.shape == (len(rows), call.projection.size(0)))
        else:
            fits.append(values.shape == (n_heads, len(rows), d_value))
    if not all(fits):
        raise WireError("The recording has arrays that do not fit each other.")


def _spreads(tensor: Tensor, cells: tuple[int, int, int]) -> bool:
    """Tell whether it is [1 or H, 1 or Q, K]."""
    pairs = zip(tensor.shape, cells, strict=False)
    return (
        tensor.dim() == 3
        and all(size in (1, n) for size, n in pairs)
        and tensor.size(-1) == cells[-1]
    )
