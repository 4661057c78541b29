"""The heads of Hugging Face models whose projections have well-known names, for circuits."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeGuard

from torch import Tensor

from transformer.files.foreign_text import some_of
from transformer.files.tensors import TensorSource
from transformer.hugging_face.skeleton import Skeleton
from transformer.inspection.circuits import CircuitError, Ends, Head, Table

NAMED = 4
CROSS = ("encoder_attn", "encdecattention", "cross")
"""Parts of the names, in small letters, of modules in which a decoder attends to an encoder."""
SCALES = ("scaling", "scale", "inv_norm_factor", "softmax_scale")
"""Names of the factor of q·k in the library's attentions."""
UNSCALED = ("gpt_neo",)
"""Types of model whose attention multiplies by nothing and does not say so."""
CLIPS = "clip_qkv"
"""The setting by which queries, keys and values are cut off at a size."""
NO_PART = re.compile(r"sinks|\w*bias|(query|key|value)_global|(w2e|e2w|e2e)_query")
"""Parts of an attention that no product of its matrices meets: biases, or of other tokens."""
EMBEDDING_SCALES = ("embedding_multiplier", "scale_emb")
OUTPUT_SCALES = {"residual_multiplier": 1, "logit_scale": 1, "logits_scaling": -1}
"""Settings that what a head adds to the logits is multiplied by, and by which power of them."""


@dataclass(frozen=True)
class Style:
    """The names and the layout that one line of models has for the projections of an attention."""

    inputs: tuple[str, ...]
    """The names of queries, keys and values; one where they are one matrix."""
    output: str
    layout: Literal["parts", "groups"] = "parts"
    """One matrix is all queries, then keys, then values; or each key head with its queries."""
    transposed: bool = False
    """True: weights are [in, out]."""


STYLES = (
    Style(("self.query", "self.key", "self.value"), "output.dense"),  # BERT, RoBERTa, ELECTRA
    Style(("q_lin", "k_lin", "v_lin"), "out_lin"),  # DistilBERT
    Style(("attn.q", "attn.k", "attn.v"), "attn.o"),  # MPNet
    Style(("q_proj", "k_proj", "v_proj"), "o_proj"),  # Llama, Mistral, Qwen, Gemma
    Style(("q_proj", "k_proj", "v_proj"), "out_proj"),  # BART, Marian, OPT, GPT-J, GPT-Neo
    Style(("q", "k", "v"), "o"),  # T5
    Style(("c_attn",), "c_proj", transposed=True),  # GPT-2
    Style(("query_key_value",), "dense", "groups"),  # GPT-NeoX, BLOOM, Falcon
    Style(("qkv_proj",), "o_proj"),  # Phi-3
    Style(("Wqkv",), "Wo"),  # ModernBERT
    Style(("Wqkv",), "out_proj"),  # MPT
)


class HuggingFaceHeads:
    """A model of the library, found in its tensors by their names."""

    def __init__(self, tensors: TensorSource, skeleton: Skeleton, kinds: Sequence[str]) -> None:
        self._tensors, self._skeleton = tensors, skeleton
        self._model = skeleton.model
        self._places = _places(skeleton.stored_as, kinds)

    def n_layers(self, kind: str) -> int:
        return len(self._places.get(kind, ()))

    def layer(self, kind: str, layer: int) -> Sequence[Head]:
        places = self._places.get(kind, ())
        if layer >= len(places):
            raise CircuitError(
                f"No circuits: where {type(self._model).__name__} keeps the projections of its "
                "heads is not known here."
            )
        place, style = places[layer]
        left_out = self._left_out(place, style)
        read = [self._read(f"{place}.{name}.weight") for name in (*style.inputs, style.output)]
        matrices = [each.mT if style.transposed else each for each in read]  # each [out, in]
        heads = split(matrices, style, self._n_heads(kind), self._scale(place))
        return [replace(each, left_out=left_out) for each in heads]

    def _left_out(self, place: str, style: Style) -> tuple[str, ...]:
        """Name the norms beside an attention's projections.

        Raises CircuitError for what makes its queries, keys and values other than products.
        """
        names = (*style.inputs, style.output)
        inner = names[0].rpartition(".")[0]
        module = self._model.get_submodule(f"{place}.{inner}".rstrip("."))
        for each in (module, *module.children(), getattr(module, "config", None)):
            if getattr(each, CLIPS, None) is not None:
                raise CircuitError(
                    "No circuits: this model cuts off its queries, keys and values "
                    f"({CLIPS} {getattr(each, CLIPS):g}), which no product of its matrices shows."
                )
        norms, others = [], [name for name, _ in module.named_parameters(recurse=False)]
        for name, each in module.named_children():
            path = f"{inner}.{name}".lstrip(".")
            if any(f"{part}.".startswith(f"{path}.") for part in names):
                continue
            if "norm" in type(each).__name__.lower():
                norms.append(name)
            elif "Embedding" not in type(each).__name__ and any(True for _ in each.parameters()):
                others.append(name)
        if unknown := [name for name in others if not NO_PART.fullmatch(name)]:
            raise CircuitError(
                f"No circuits: the attention of this model has {some_of(unknown, NAMED)} beside "
                "its projections, and what that does to a head is not known here."
            )
        return tuple(norms)

    def ends(self, kind: str) -> Ends:
        is_cross = kind == "cross"
        source = self._embedding("encoder" if kind == "encoder_self" or is_cross else "decoder")
        if kind == "encoder_self":
            return Ends(source, source, Table(source.values), reads_itself=True)
        queries = None if is_cross else source
        return Ends(queries, source, self._output(), reads_itself=False)

    def _embedding(self, side: str) -> Table:
        """The token embeddings of a stack, as it scales them."""
        stack = self._model
        if self._model.config.is_encoder_decoder:
            stack = getattr(self._model, f"get_{side}")()
        module = stack.get_input_embeddings()
        scales = [getattr(module, name, None) for name in ("scalar_embed_scale", "embed_scale")]
        scales.append(getattr(stack, "embed_scale", None))
        config = self._model.config.get_text_config()
        scales += [getattr(config, name, None) for name in EMBEDDING_SCALES]
        scale = next((float(each) for each in scales if _is_number(each)), 1.0)
        return Table(self._read(self._weight_of(module)), scale)

    def _output(self) -> Table:
        module = self._model.get_output_embeddings()
        if module is None:
            raise CircuitError("No circuits: this model has no matrix that writes tokens.")
        config = self._model.config.get_text_config()
        scale = config.d_model**-0.5 if getattr(config, "scale_decoder_outputs", False) else 1.0
        for name, power in OUTPUT_SCALES.items():
            value = getattr(config, name, None)
            scale *= float(value) ** power if _is_number(value) and value else 1.0
        return Table(self._read(self._weight_of(module)), scale)

    def _weight_of(self, module: Any) -> str:
        modules = self._model.named_modules(remove_duplicate=False)
        return next(f"{name}.weight" for name, each in modules if each is module)

    def _n_heads(self, kind: str) -> int:
        config = self._model.config.get_text_config()
        side = "encoder" if kind == "encoder_self" else "decoder"
        both = config.num_attention_heads
        n_heads = getattr(config, f"{side}_attention_heads", both)
        if not isinstance(n_heads, int):
            raise CircuitError("No circuits: this model's layers differ in their heads.")
        return n_heads

    def _scale(self, place: str) -> float | None:
        """Return the attention's own scale; None where it has none."""
        if self._model.config.model_type in UNSCALED:
            return 1.0
        module = self._model.get_submodule(place)
        scales = (getattr(m, name, None) for m in (module, *module.children()) for name in SCALES)
        return next((float(each) for each in scales if _is_number(each)), None)

    def _read(self, name: str) -> Tensor:
        if name not in self._skeleton.stored_as:
            raise CircuitError(f"No circuits: the tensor {name} is missing.")
        (values,) = self._tensors.read(self._skeleton.stored_as[name])
        return values


def _is_number(value: Any) -> TypeGuard[float]:
    """Tell a factor from a flag: GPT's attention has `scale = True`."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def split(
    matrices: Sequence[Tensor], style: Style, n_heads: int, scale: float | None
) -> list[Head]:
    """One attention's matrices [out, in] as heads; keys and values may serve several queries.

    matrices: of queries, keys, values and output; or all of the first three in one, and output.
    scale: None: 1 / sqrt(d_key). Raises CircuitError for sizes that do not go together.
    """
    *inputs, output = (matrix.double() for matrix in matrices)
    try:
        if len(inputs) == 1:
            inputs = _apart(inputs[0], output.size(1), style, n_heads)
        q, k, v = inputs
        q = q.unflatten(0, (n_heads, -1))  # [H, d_key, D]
        k = k.unflatten(0, (-1, q.size(1)))  # [G, d_key, D], G dividing H
        v = v.unflatten(0, (k.size(0), -1))  # [G, d_value, D]
        o = output.unflatten(1, (n_heads, v.size(1)))  # [D, H, d_value]
    except RuntimeError as error:
        shapes = ", ".join(str(list(matrix.shape)) for matrix in matrices)
        raise CircuitError(
            f"No circuits: matrices of these shapes cannot be split into {n_heads} heads: {shapes}."
        ) from error
    shared = n_heads // k.size(0)
    scale = q.size(1) ** -0.5 if scale is None else scale
    return [
        Head(q[h].mT, k[h // shared].mT, v[h // shared].mT, o[:, h].mT, scale)
        for h in range(n_heads)
    ]


def _apart(fused: Tensor, n_output: int, style: Style, n_heads: int) -> list[Tensor]:
    """One matrix as queries, keys and values; a head's queries and values are of one size."""
    d_head = n_output // n_heads
    n_groups = (fused.size(0) // d_head - n_heads) // 2
    if style.layout == "parts":
        keys = n_groups * d_head
        return list(fused.split([n_heads * d_head, keys, keys]))
    grouped = fused.unflatten(0, (n_groups, -1, d_head))  # [G, H/G + 2, d, D]
    parts = grouped[:, :-2], grouped[:, -2], grouped[:, -1]
    return [part.flatten(0, -2) for part in parts]


def _places(names: Mapping[str, str], kinds: Sequence[str]) -> dict[str, list[tuple[str, Style]]]:
    """kind -> where its attentions are, layer by layer."""
    result: dict[str, dict[int, tuple[str, Style]]] = {}
    for style in STYLES:
        first, *others = (f".{name}.weight" for name in (*style.inputs, style.output))
        for name in names:
            place = name.removesuffix(first)
            if place == name or not all(place + other in names for other in others):
                continue
            kind, layer = _kind(place, kinds), _layer(place)
            if kind is not None and layer is not None:
                result.setdefault(kind, {}).setdefault(layer, (place, style))
    return {kind: [layers[i] for i in sorted(layers)] for kind, layers in result.items()}


def _kind(place: str, kinds: Sequence[str]) -> str | None:
    """Tell which attention a module is; None for one between stacks of a model with only one."""
    parts = place.split(".")
    is_cross = any(name in place.lower() for name in CROSS)
    if len(kinds) == 1:
        return None if is_cross else kinds[0]
    return "cross" if is_cross else "decoder_self" if "decoder" in parts else "encoder_self"


def _layer(place: str) -> int | None:
    return next((int(part) for part in place.split(".") if part.isdigit()), None)
