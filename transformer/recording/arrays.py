"""from_weights(): attention that other code computed -> a Recording, without a model."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor

from transformer.device import usual_state
from transformer.files.foreign_file import place
from transformer.files.weights import Misfit
from transformer.files.weights_file import read_arrays
from transformer.inputs import InputError, thing
from transformer.recording.calls import AttentionCall, WeightsCall
from transformer.recording.check import GIVEN, NUMBERS
from transformer.recording.data import Attention, Recording
from transformer.recording.layers import EAGER, are_steps, each_layer, join_steps, tensor_of
from transformer.recording.packing import HEADER
from transformer.refusal import items_of, quoted
from transformer.token import Token
from transformer.watch.kinds.attention import as_tokens, numbered
from transformer.watch.kinds.kind import ROLES, note_on_sums

# Names of arrays: ours, and those of libraries that keep attention weights.

OURS = re.compile(r"(encoder_self|decoder_self|cross)(?:\.(\d{1,4}))?(?:\.(weights|q|k|v|mask))?")
"""The names in a file: "cross", of one layer "cross.3", of q, k and v "cross.q" or "cross.3.q"."""
LIBRARY = {
    "encoder_attentions": "encoder_self",
    "decoder_attentions": "decoder_self",
    "cross_attentions": "cross",
    "attentions": "",
}
"""The names of Hugging Face's outputs -> kinds; "" where a text reads itself, by either."""
HOOK = re.compile(r"(blocks|encoder|decoder)\.(\d{1,4})\.(attn|cross_attn)\.hook_pattern")
"""The names of TransformerLens' caches."""
HOOKED = {
    ("blocks", "attn"): "",
    ("encoder", "attn"): "encoder_self",
    ("decoder", "attn"): "decoder_self",
    ("decoder", "cross_attn"): "cross",
}
FIELDS = ("weights", "q", "k", "v", "mask", "scale")

# Sentences on arrays that are refused: the page without a server says them, too.
KIND = "{what} of attention: name arrays {kinds}."
NO_KIND, NOT_A_KIND = "There is no kind", "{name} is not a kind"
TWICE = "There are two arrays of {kind}: {kind} and {kind}.… : keep one."
MISSING = "Layer {layer} of {name} is missing: there are {layers}."
BELOW = "{name} has numbers below 0 in layer {layer}: give what the softmax gave, and no scores."
GIVEN_SO = "they were given"
ONE_ROW = (
    "{name} has one row in each of {n} layers: if these are steps of `generate`, give them as they "
    "came, each with all its layers."
)
OTHER_TOKENS = "{kind} has {n} {side}, and there are {n_tokens} tokens for them."


@usual_state()
def from_weights(
    weights: Any,
    queries: Iterable[str | Token] | None = None,
    keys: Iterable[str | Token] | None = None,
) -> Recording:
    """Make a recording of attention that other code computed: no model is needed.

    weights: kind -> its weights, where a kind is "encoder_self", "decoder_self" or "cross". Weights
        are an array [L, H, Q, K], or a list of one array [H, Q, K] a layer, of numpy, of torch or
        plain numbers; or a dict with "q" [L, H, Q, d_head] and "k" [L, G, K, d_head], of H or fewer
        heads, and if they are known "v" [L, G, K, d_value], "mask" (True = may attend, [Q, K] or
        [H, Q, K]) and "scale" (1 / sqrt(d_head) when left out); "weights" may stand beside "v",
        too. Taken as they are: outputs of Hugging Face's models with `output_attentions`, of
        `generate` too, a cache of TransformerLens, and the path of an .npz or .safetensors file
        with arrays of these names.
    queries, keys: the tokens of rows and columns, as strings or Tokens; of a text that reads itself
        one of both. Beside cross-attention `keys` are the source's, and `queries` the target's.
        Left out, the tokens are numbers.

    Returns a `Recording`. Rows need not sum to 1: its `notes` say so. In "decoder_self" later
    tokens are masked where all their weights are 0. Of q and k the weights are softmax(scale q
    k^T) (Vaswani et al. 2017, section 3.2.1). What only a model gives, such as `logits`, is None.
    Raises InputError, of a batch, of NaN, and of shapes that do not fit.
    """
    kinds, texts = _kinds_in(weights)
    every = {kind: _layers_of(kind, value) for kind, value in kinds.items()}
    every = {kind or _self_kind(of.calls): of for kind, of in every.items()}
    layers = {kind: every[kind] for kind in ROLES if kind in every}
    rows, columns = (_text(name, it) for name, it in (("queries", queries), ("keys", keys)))
    if rows is None and columns is None:
        rows, columns = texts
    attentions = {
        kind: _attention(kind, of, *_sides(kind, layers, rows, columns))
        for kind, of in layers.items()
    }
    notes = [note_on_sums(kind, each.calls, GIVEN_SO) for kind, each in attentions.items()]
    for kind, of in layers.items():
        n, is_row = len(of.calls), of.calls[0].q.size(1) == 1
        if is_row and n > 1 and not of.n_first and isinstance(of.calls[0], WeightsCall):
            notes.append(ONE_ROW.format(name=kind, n=n))
    source, target = _source_and_target(attentions, layers)
    return Recording(
        source=source,
        target=target,
        attentions=MappingProxyType(attentions),
        positions=MappingProxyType({}),
        logits=None,
        notes=tuple(filter(None, notes)),
    )


@dataclass(eq=False)
class _Layers:
    """The attention of one kind in all layers."""

    calls: list[AttentionCall]
    n_first: int = 0
    """Rows of the first step, where they came step by step, as `generate` gives them; else 0."""


# What holds the arrays: a mapping, a file, another library's object.


Texts = tuple[tuple[Token, ...] | None, tuple[Token, ...] | None]


def _kinds_in(weights: Any) -> tuple[dict[str, Any], Texts]:
    """Kind -> its arrays as they came, "" where a text reads itself; and tokens beside them."""
    if isinstance(weights, str | Path):
        try:
            weights = read_arrays(Path(weights))
        except Misfit as error:
            raise InputError(f"{place(Path(weights))} {error}.") from error
    if not hasattr(weights, "keys") or not hasattr(weights, "__getitem__"):
        raise InputError(
            "from_weights: weights must be a dict of kinds, such as {'cross': weights}, or the "
            f"path of a file, not {thing(weights)}."
        )
    names = [str(name) for name in weights.keys()]  # noqa: SIM118 (it may be no mapping)
    hooks = {name: match for name in names if (match := HOOK.fullmatch(name))}
    if hooks:
        kinds: dict[str, dict[int, Any]] = {}
        for name, match in hooks.items():
            kind = HOOKED.get((match[1], match[3]))
            if kind is not None:
                kinds.setdefault(kind, {})[int(match[2])] = weights[name]
        return {kind: _in_order(kind, of) for kind, of in kinds.items()}, (None, None)
    library = {name: weights[name] for name in LIBRARY if name in names}
    every = {LIBRARY[name]: it for name, it in library.items() if it is not None and len(it)}
    if every:
        return every, (None, None)
    if library or hasattr(weights, "to_tuple"):  # as Hugging Face's outputs have
        what = ", ".join(library) or f"this {type(weights).__name__}"
        raise InputError(f"There are no weights in {what}: {EAGER}.")
    if HEADER in names:
        raise InputError("This is a recording that was saved: load_recording opens it.")
    ours = {name: match for name in names if (match := OURS.fullmatch(name))}
    others = [name for name in names if name not in ours and name != "tokens"]
    if others or not ours:
        what = NOT_A_KIND.format(name=quoted(others[0])) if others else NO_KIND
        raise InputError(KIND.format(what=what, kinds=", ".join(ROLES)))
    texts = _texts_in(weights["tokens"]) if "tokens" in names else (None, None)
    return _ours(weights, ours), texts


def _texts_in(text: Any) -> Texts:
    """The tokens of rows and columns in a file of weights that the app saved, which is JSON."""
    try:
        kinds = {kind: each for kind, each in json.loads(text).items() if kind in ROLES}
        pieces = {
            kind: [as_tokens([token["piece"] for token in each[side]]) for side in _SIDES]
            for kind, each in kinds.items()
        }
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            "'tokens' is not JSON of tokens, as the app saves it beside weights: leave it out, and "
            "give queries and keys."
        ) from error
    none = (None, None)
    rows, columns = pieces.get("cross") or pieces.get("decoder_self") or none
    own = pieces.get("encoder_self") or none
    return (rows or own[0], (own[1] if "cross" not in pieces else None) or columns)


_SIDES = ("queries", "keys")


def _ours(weights: Any, names: Mapping[str, re.Match[str]]) -> dict[str, Any]:
    """Put together what names with dots hold apart."""
    result: dict[str, Any] = {}
    fields: dict[str, dict[str, dict[int | None, Any]]] = {}
    for name, (kind, layer, field) in ((name, each.groups()) for name, each in names.items()):
        if layer is None and field is None:
            result[kind] = weights[name]
            continue
        of = fields.setdefault(kind, {}).setdefault(field or "weights", {})
        of[None if layer is None else int(layer)] = weights[name]
    for kind, parts in fields.items():
        if kind in result:
            raise InputError(TWICE.format(kind=kind))
        result[kind] = {
            field: of[None] if None in of else _in_order(kind, of) for field, of in parts.items()
        }
    return result


def _in_order(kind: str, layers: Mapping[Any, Any]) -> list[Any]:
    """The layers by their numbers, 0, 1, ... Raises InputError where one is missing."""
    missing = sorted({*range(len(layers))} - {*layers})
    if missing:
        name = kind or "the attention"
        raise InputError(MISSING.format(layer=missing[0], name=name, layers=sorted(layers)))
    return [layers[i] for i in range(len(layers))]


# One kind: its layers, from whatever holds them.


def _layers_of(kind: str, value: Any) -> _Layers:
    name = kind or "attentions"
    if isinstance(value, Mapping):
        return _Layers(_from_fields(name, value))
    if are_steps(value):
        layers, n_first = join_steps(name, value)
        return _Layers(_with_weights(name, layers, {}), n_first)
    return _Layers(_with_weights(name, each_layer(name, "weights", value), {}))


def _from_fields(kind: str, value: Mapping[str, Any]) -> list[AttentionCall]:
    unknown = [field for field in value if field not in FIELDS]
    if unknown or not ("weights" in value or {"q", "k"} <= {*value}):
        what = f", not {quoted(unknown[0])}" if unknown else ""
        raise InputError(
            f"{kind} is a dict of 'weights', or of 'q' and 'k', and 'v', 'mask', 'scale'{what}."
        )
    arrays = {
        field: each_layer(kind, field, value[field])
        for field in ("weights", "q", "k", "v")
        if value.get(field) is not None
    }
    sizes = {field: len(of) for field, of in arrays.items()}
    if len({*sizes.values()}) > 1:
        of_each = ", ".join(f"{n} of {field}" for field, n in sizes.items())
        raise InputError(f"{kind} has arrays of other numbers of layers: {of_each}.")
    if "weights" in arrays:
        return _with_weights(kind, arrays["weights"], arrays)
    mask, scale = value.get("mask"), value.get("scale")
    calls = []
    for layer, (q, k) in enumerate(zip(arrays["q"], arrays["k"], strict=True)):
        v = arrays["v"][layer] if "v" in arrays else k.new_zeros(*k.shape[:2], 0)
        n_heads, n_queries, d_head = q.shape
        if n_heads % len(k) or k.size(-1) != d_head or v.shape[:2] != k.shape[:2]:
            raise InputError(
                f"q {list(q.shape)}, k {list(k.shape)} and v {list(v.shape)} of layer {layer} of "
                f"{kind} do not fit: q has as many heads as k and v, or some for each of theirs, "
                "and as long ones as k."
            )
        cells = (n_heads, n_queries, k.size(1))
        closed = _causal(*cells[1:]) if kind == "decoder_self" else None
        open_cells = closed if mask is None else _mask(kind, mask, cells)
        factor = d_head**-0.5 if scale is None else _factor(kind, scale)
        calls.append(AttentionCall(q, k, v, open_cells, factor, False, has_output=False))
    return calls


def _with_weights(
    kind: str, layers: Sequence[Tensor], beside: Mapping[str, Sequence[Tensor]]
) -> list[AttentionCall]:
    """Calls of weights [H, Q, K]; beside: the values, where they are known."""
    calls: list[AttentionCall] = []
    causal = _causal(*layers[0].shape[1:])
    is_causal = kind in ("decoder_self", "attentions") and not any(
        bool(each[:, ~causal[0]].any()) for each in layers
    )
    for layer, each in enumerate(layers):
        if bool((each < 0).any()):
            raise InputError(BELOW.format(name=kind, layer=layer))
        n_heads, _, n_keys = each.shape
        v = beside["v"][layer] if "v" in beside else each.new_zeros(n_heads, n_keys, 0)
        if n_heads % len(v) or v.size(1) != n_keys:
            raise InputError(
                f"v {list(v.shape)} of layer {layer} of {kind} does not fit weights "
                f"{list(each.shape)}."
            )
        q, k = each.new_zeros(*each.shape[:2], 0), each.new_zeros(*v.shape[:2], 0)
        mask = causal if is_causal else None
        call = WeightsCall(q, k, v, mask, 1.0, False, has_output=False, given=each)
        calls.append(call)
    return calls


def _causal(n_queries: int, n_keys: int) -> Tensor:
    """The cells up to each row's own token, rows being the last of the keys: bool [1, Q, K]."""
    return torch.ones(1, n_queries, n_keys, dtype=torch.bool).tril(n_keys - n_queries)


def _mask(kind: str, value: Any, cells: tuple[int, int, int]) -> Tensor:
    mask = tensor_of(f"mask of {kind}", value)
    if mask.dtype != torch.bool:
        raise InputError(f"The mask of {kind} is of True and False, True where it may attend.")
    mask = mask[None] if mask.dim() == 2 else mask
    if mask.dim() != 3 or any(
        n not in (1, size) for n, size in zip(mask.shape, cells, strict=True)
    ):
        raise InputError(f"The mask of {kind} is {list(mask.shape)}, where {list(cells)} belongs.")
    return mask.expand(-1, -1, cells[-1])


def _factor(kind: str, value: Any) -> float:
    number = tensor_of(f"scale of {kind}", value)
    if number.numel() != 1 or not bool(number.isfinite().all()):
        raise InputError(f"The scale of {kind} is one number, not {quoted(value)}.")
    return float(number)


def _self_kind(calls: Sequence[AttentionCall]) -> str:
    """The kind of a text that reads itself: a decoder's, where nothing later is read."""
    is_decoder = calls[0].mask is not None and calls[0].k.size(1) > 1
    return "decoder_self" if is_decoder else "encoder_self"


# Tokens of rows and columns.


def _text(name: str, tokens: Any) -> tuple[Token, ...] | None:
    if tokens is None:
        return None
    pieces = items_of(tokens)
    if pieces is None:
        raise InputError(f"{name} are the tokens, in a list of strings, not {thing(tokens)}.")
    return as_tokens(pieces)


def _sides(
    kind: str,
    kinds: Iterable[str],
    rows: tuple[Token, ...] | None,
    columns: tuple[Token, ...] | None,
) -> Texts:
    """The tokens of its rows and columns: two texts where some kind reads another one."""
    if kind == "cross":
        return rows, columns
    if len({*kinds}) > 1:
        text = columns if kind == "encoder_self" else rows
        return text, text
    return rows or columns, columns or rows


def _attention(
    kind: str,
    layers: _Layers,
    rows: tuple[Token, ...] | None,
    columns: tuple[Token, ...] | None,
) -> Attention:
    n_queries, n_keys = layers.calls[0].allowed().shape[1:]
    produced = None
    if rows is not None and layers.n_first and len(rows) == n_queries + 1:
        # What `generate` returns has one token more than was read: each row wrote the next.
        rows, produced = rows[:-1], rows[1:]
        columns = rows if kind != "cross" else columns
    if rows is not None and rows is columns and n_queries < n_keys == len(rows):
        rows = rows[-n_queries:]  # the last of a text whose others were read before
    for of, name, n in ((rows, "rows", n_queries), (columns, "columns", n_keys)):
        if of is not None and len(of) != n:
            raise InputError(OTHER_TOKENS.format(kind=kind, n=n, side=name, n_tokens=len(of)))
    return Attention(
        kind=kind,
        queries=numbered(n_queries) if rows is None else rows,
        keys=numbered(n_keys) if columns is None else columns,
        calls=tuple(layers.calls),
        produced=produced,
        rows_by=NUMBERS if rows is None else GIVEN,
        columns_by=NUMBERS if columns is None else GIVEN,
    )


def _source_and_target(
    attentions: Mapping[str, Attention], layers: Mapping[str, _Layers]
) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The text that was read, and the one that was written or is read beside it."""
    cross, own = attentions.get("cross"), attentions.get("decoder_self")
    encoder, written = attentions.get("encoder_self"), cross or own
    read = cross or encoder
    if written is None or read is None:  # one text, with which a generator begins
        (only,) = attentions.values()
        if only.produced is None:
            return only.keys, ()
        n_first = next(iter(layers.values())).n_first
        return only.keys[:n_first], only.produced[n_first - 1 :]
    return read.keys, written.queries if written.produced is None else written.produced
