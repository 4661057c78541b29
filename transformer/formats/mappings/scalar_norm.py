"""A notebook's encoder-decoder whose norms have one gain and one bias, after each sublayer.

x + norm(sublayer(x)); attention has no bias. The notebook has the parts and not the whole, so that
only the names of the parts are known. A layer is told by "enc" or "dec" and its number, its norms
by their order; of two attentions the one with "cross", "src", "enc" or "mem" in its name, or else
the second, is the cross-attention.
"""

import re
from collections import defaultdict

from transformer.config import ModelConfig
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, layered

SOURCE, TARGET = "source.embedding.weight", "target.embedding.weight"
OUTPUT, OUTPUT_BIAS = "output.linear.weight", "output.linear.bias"
EMBEDDINGS = Embeddings(SOURCE, TARGET, OUTPUT)
TABLES = ("source.pe", "target.pe")
LAYER = re.compile(r"(?:^|[._])(enc|dec)[a-z]*[._](?:[a-z_]+\.)*?(\d+)\.(.+)", re.I)
CLOSING = re.compile(r"(?:^|[._])(enc|dec)[a-z]*\.(?:[a-z_]+\.)*(gain|bias)", re.I)
CROSS = re.compile(r"cross|src|source|enc|mem", re.I)
TELLING = {"W_Q.weight": "attention", "gain": "norm", "linear_1.weight": "feed"}
"""A parameter that is once in each module of a kind -> the kind."""
STACKS = {"enc": "encoder", "dec": "decoder"}
SUBLAYERS = {"enc": ("self", "feed"), "dec": ("self", "cross", "feed")}
_ATTENTION = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}
_NORM = {"gain": "weight", "bias": "bias"}
_LAYER = {
    **layered("self. -> self_attention.", _ATTENTION),
    "feed.linear_1": "feed_forward.inner",
    "feed.linear_2": "feed_forward.outer",
    **layered("norm_self. -> self_residual.norm.", _NORM),
    **layered("norm_feed. -> feed_residual.norm.", _NORM),
}
_CROSS = {
    **layered("cross. -> cross_attention.", _ATTENTION),
    **layered("norm_cross. -> cross_residual.norm.", _NORM),
}
NAMES = {
    **layered("encoder.norm. -> encoder.norm.", _NORM),
    **layered("decoder.norm. -> decoder.norm.", _NORM),
    **layered("encoder.layers.*. -> encoder.layers.*.", _LAYER),
    **layered("decoder.layers.*. -> decoder.layers.*.", {**_LAYER, **_CROSS}),
}


def tells(weights: Weights) -> bool:
    """Its projections and its gains are called like nobody else's."""
    endings = ("W_Q.weight", "W_O.weight", ".gain", "linear_1.weight")
    return all(any(name.endswith(ending) for name in weights.tensors) for ending in endings)


def prepare(weights: Weights) -> Weights:
    """Every tensor under one name, however the parts were put together."""
    roles = _roles(weights)
    tensors = {}
    for name, tensor in weights.tensors.items():
        layer, closing = LAYER.search(name), CLOSING.fullmatch(name)
        if layer:
            side, number, part = layer[1].lower(), layer[2], layer[3]
            place, parameter = _cut(part)
            role = roles[side, number].get(place, place)
            tensors[f"{STACKS[side]}.layers.{number}.{role}.{parameter}"] = tensor
        elif closing:
            tensors[f"{STACKS[closing[1].lower()]}.norm.{closing[2]}"] = tensor
        elif name.endswith(("linear.weight", "linear.bias")):
            tensors[f"output.linear.{name.rpartition('.')[2]}"] = tensor
        elif not name.endswith((".embedding.weight", ".pe")):
            tensors[name] = tensor
    for ending, sides in ((".embedding.weight", (SOURCE, TARGET)), (".pe", TABLES)):
        each = [tensor for name, tensor in weights.tensors.items() if name.endswith(ending)]
        if not 1 <= len(each) <= 2:
            raise Misfit(f"has {len(each)} tensors whose names end in {ending}, not one per side")
        tensors |= dict(zip(sides, (each[0], each[-1]), strict=True))
    return weights.having(tensors)


def _cut(part: str) -> tuple[str, str]:
    """The module of a norm, an attention or a feed-forward network, and what is in it."""
    words = part.split(".")
    n = 2 if re.fullmatch(r".*(W_[QKVO]|linear_[12])\.(weight|bias)", part) else 1
    return ".".join(words[:-n]), ".".join(words[-n:])


def _roles(weights: Weights) -> dict[tuple[str, str], dict[str, str]]:
    """(side, layer) -> a module's place in it -> what it does."""
    places: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in weights.tensors:
        layer = LAYER.search(name)
        if layer is None:
            continue
        place, parameter = _cut(layer[3])
        if parameter in TELLING:
            places[layer[1].lower(), layer[2]][TELLING[parameter]].append(place)
    roles: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for key, each in places.items():
        attentions = sorted(each["attention"], key=lambda place: bool(CROSS.search(place)))
        roles[key] = dict(zip(attentions, ("self", "cross"), strict=False))
        norms = (f"norm_{sublayer}" for sublayer in SUBLAYERS[key[0]])
        roles[key] |= dict(zip(each["norm"], norms, strict=False))
        roles[key] |= dict.fromkeys(each["feed"][:1], "feed")
    return roles


def configure(weights: Weights) -> ModelConfig:
    """No shape says h, nor which tokens are special: 0 pads, 1 starts, 2 ends."""
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.feed.linear_1.weight")[0],
        n_heads=weights.heads("h"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=512,
        norm_order="sublayer",
        norm="scalar",
        norm_eps=1e-6,
        encoder_norm="encoder.norm.gain" in weights.tensors,
        decoder_norm="decoder.norm.gain" in weights.tensors,
        attention_bias="none",
        tied="none",
        pad_id=0,
        bos_id=1,
        eos_id=2,
    )


def order(config: ModelConfig) -> str:
    """Name what is taken for granted, for the title."""
    return "its parts in the order of the file"


MAPPING = CodeMapping(
    name="scalar_norm",
    title="Notebook with a scalar LayerNorm",
    tells=tells,
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    prepare=prepare,
    tables=TABLES,
    assumed=order,
)
