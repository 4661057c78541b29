"""Tutorials and notebooks: The Annotated Transformer, PyTorch's and bentrevett's, and two of no
name.
"""

import re
from collections import defaultdict

from transformer.config import ModelConfig
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import (
    TORCHTEXT,
    CodeMapping,
    Embeddings,
    Names,
    holds,
    layered,
)

# The Annotated Transformer (Harvard NLP; Rush 2018, Huang et al. 2022).
#
# x + sublayer(norm(x)), and a norm that closes each stack: a_2 (x - mean) / (deviation + eps) +
# b_2 with the unbiased deviation.

ANNOTATED_EMBEDDINGS = Embeddings(
    "src_embed.0.lut.weight", "tgt_embed.0.lut.weight", "generator.proj.weight"
)
_ANNOTATED_ATTENTION = {
    f"linears.{i}": part for i, part in enumerate(("query", "key", "value", "output"))
}
_ANNOTATED_NORM = {"a_2": "weight", "b_2": "bias"}
_ANNOTATED_LAYER = {
    **layered("self_attn. -> self_attention.", _ANNOTATED_ATTENTION),
    **layered("sublayer.0.norm. -> self_residual.norm.", _ANNOTATED_NORM),
    "feed_forward.w_1": "feed_forward.inner",
    "feed_forward.w_2": "feed_forward.outer",
}
ANNOTATED_NAMES = {
    **layered("encoder.norm. -> encoder.norm.", _ANNOTATED_NORM),
    **layered("decoder.norm. -> decoder.norm.", _ANNOTATED_NORM),
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {**_ANNOTATED_LAYER, **layered("sublayer.1.norm. -> feed_residual.norm.", _ANNOTATED_NORM)},
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **_ANNOTATED_LAYER,
            **layered("src_attn. -> cross_attention.", _ANNOTATED_ATTENTION),
            **layered("sublayer.1.norm. -> cross_residual.norm.", _ANNOTATED_NORM),
            **layered("sublayer.2.norm. -> feed_residual.norm.", _ANNOTATED_NORM),
        },
    ),
}


def configure_annotated(weights: Weights) -> ModelConfig:
    """No shape says the heads h. Ids as `build_vocabulary` sets them: 0 start, 1 end, 2 padding."""
    return ModelConfig(
        **ANNOTATED_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.feed_forward.w_1.weight")[0],
        n_heads=weights.heads("h"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=5000,
        norm_order="pre",
        norm="deviation",
        norm_eps=1e-6,
        tied="none",
        pad_id=2,
        bos_id=0,
        eos_id=1,
    )


ANNOTATED_MAPPING = CodeMapping(
    name="annotated",
    title="The Annotated Transformer",
    tells=holds("encoder.layers.0.self_attn.linears.0.weight", "src_embed.0.lut.weight"),
    names=ANNOTATED_NAMES,
    embeddings=ANNOTATED_EMBEDDINGS,
    configure=configure_annotated,
    tables=("src_embed.1.pe", "tgt_embed.1.pe"),
    frames_source=(True, True),
)


# torch.nn.Transformer as PyTorch's translation tutorial has it (Seq2SeqTransformer).
#
# The tutorial: "Language Translation with nn.Transformer". Its norms follow each sublayer, and
# the encoder and the decoder end in one more.

TORCH_TRANSFORMER_EMBEDDINGS = Embeddings(
    "src_tok_emb.embedding.weight", "tgt_tok_emb.embedding.weight", "generator.weight"
)
_SPLIT = ("query", "key", "value")
_TORCH_TRANSFORMER_ATTENTION: Names = {
    "in_proj_weight": tuple(f"{part}.weight" for part in _SPLIT),
    "in_proj_bias": tuple(f"{part}.bias" for part in _SPLIT),
    "out_proj": "output",
}
_TORCH_TRANSFORMER_FEED = {"linear1": "feed_forward.inner", "linear2": "feed_forward.outer"}
_SELF = layered("self_attn. -> self_attention.", _TORCH_TRANSFORMER_ATTENTION) | {
    "norm1": "self_residual.norm"
}
TORCH_TRANSFORMER_NAMES = {
    "transformer.encoder.norm": "encoder.norm",
    "transformer.decoder.norm": "decoder.norm",
    **layered(
        "transformer.encoder.layers.*. -> encoder.layers.*.",
        {**_SELF, **_TORCH_TRANSFORMER_FEED, "norm2": "feed_residual.norm"},
    ),
    **layered(
        "transformer.decoder.layers.*. -> decoder.layers.*.",
        {
            **_SELF,
            **layered("multihead_attn. -> cross_attention.", _TORCH_TRANSFORMER_ATTENTION),
            **_TORCH_TRANSFORMER_FEED,
            "norm2": "cross_residual.norm",
            "norm3": "feed_residual.norm",
        },
    ),
}


def configure_torch_transformer(weights: Weights) -> ModelConfig:
    """No shape says nhead. Ids as in the tutorial: 0 unknown, 1 padding, 2 start, 3 end."""
    return ModelConfig(
        **TORCH_TRANSFORMER_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("transformer.encoder.layers.0.linear1.weight")[0],
        n_heads=weights.heads("nhead", "n_head", "num_heads"),
        n_encoder_layers=weights.layers("transformer.encoder.layers.*."),
        n_decoder_layers=weights.layers("transformer.decoder.layers.*."),
        max_len=5000,
        encoder_norm=True,
        decoder_norm=True,
        tied="none",
        pad_id=1,
        bos_id=2,
        eos_id=3,
    )


TORCH_TRANSFORMER_MAPPING = CodeMapping(
    name="torch_transformer",
    title="torch.nn.Transformer (PyTorch's translation tutorial)",
    tells=holds(
        "transformer.encoder.layers.0.self_attn.in_proj_weight", "src_tok_emb.embedding.weight"
    ),
    names=TORCH_TRANSFORMER_NAMES,
    embeddings=TORCH_TRANSFORMER_EMBEDDINGS,
    configure=configure_torch_transformer,
    tables=("positional_encoding.pos_embedding",),
    frames_source=(True, True),
)


# bentrevett/pytorch-seq2seq, tutorial 6, as the notebook saves it: a state dict, tut6-model.pt.
#
# Norms follow each sublayer; encoder and decoder each learn positions of their own.

SEQ2SEQ_TUTORIAL_SOURCE, SEQ2SEQ_TUTORIAL_TARGET = (
    "encoder.tok_embedding.weight",
    "decoder.tok_embedding.weight",
)
SEQ2SEQ_TUTORIAL_EMBEDDINGS = Embeddings(
    SEQ2SEQ_TUTORIAL_SOURCE, SEQ2SEQ_TUTORIAL_TARGET, "decoder.fc_out.weight"
)
SEQ2SEQ_TUTORIAL_TABLES = ("encoder.pos_embedding.weight", "decoder.pos_embedding.weight")
_SEQ2SEQ_TUTORIAL_ATTENTION = {"fc_q": "query", "fc_k": "key", "fc_v": "value", "fc_o": "output"}
_SEQ2SEQ_TUTORIAL_LAYER = {
    **layered("self_attention. -> self_attention.", _SEQ2SEQ_TUTORIAL_ATTENTION),
    "self_attn_layer_norm": "self_residual.norm",
    "ff_layer_norm": "feed_residual.norm",
    "positionwise_feedforward.fc_1": "feed_forward.inner",
    "positionwise_feedforward.fc_2": "feed_forward.outer",
}
SEQ2SEQ_TUTORIAL_NAMES = {
    SEQ2SEQ_TUTORIAL_TABLES[0]: "source_positions.table",
    SEQ2SEQ_TUTORIAL_TABLES[1]: "positions.table",
    **layered("encoder.layers.*. -> encoder.layers.*.", _SEQ2SEQ_TUTORIAL_LAYER),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **_SEQ2SEQ_TUTORIAL_LAYER,
            **layered("encoder_attention. -> cross_attention.", _SEQ2SEQ_TUTORIAL_ATTENTION),
            "enc_attn_layer_norm": "cross_residual.norm",
        },
    ),
}


def prepare_seq2seq_tutorial(weights: Weights) -> Weights:
    """Tables of one length, the shorter one's: positions beyond it have nothing to meet."""
    n = min(weights.shape(name)[0] for name in SEQ2SEQ_TUTORIAL_TABLES)
    return weights.having(
        {**weights.tensors, **{name: weights.tensors[name][:n] for name in SEQ2SEQ_TUTORIAL_TABLES}}
    )


def configure_seq2seq_tutorial(weights: Weights) -> ModelConfig:
    """No shape says n_heads."""
    return ModelConfig(
        **SEQ2SEQ_TUTORIAL_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.positionwise_feedforward.fc_1.weight")[0],
        n_heads=weights.heads("n_heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=weights.shape(SEQ2SEQ_TUTORIAL_TABLES[1])[0],
        positions="learned",
        source_positions=True,
        tied="none",
        **TORCHTEXT,
    )


SEQ2SEQ_TUTORIAL_MAPPING = CodeMapping(
    name="seq2seq_tutorial",
    title="bentrevett/pytorch-seq2seq (tutorial 6)",
    tells=holds("encoder.layers.0.self_attention.fc_q.weight", SEQ2SEQ_TUTORIAL_SOURCE),
    names=SEQ2SEQ_TUTORIAL_NAMES,
    embeddings=SEQ2SEQ_TUTORIAL_EMBEDDINGS,
    configure=configure_seq2seq_tutorial,
    prepare=prepare_seq2seq_tutorial,
    frames_source=(True, True),
)


# A notebook's encoder-decoder whose norms have one gain and one bias, after each sublayer.
#
# x + norm(sublayer(x)); attention has no bias. The notebook has the parts and not the whole, so
# that only the names of the parts are known. A layer is told by "enc" or "dec" and its number,
# its norms by their order; of two attentions the one with "cross", "src", "enc" or "mem" in its
# name, or else the second, is the cross-attention.

SCALAR_NORM_SOURCE, SCALAR_NORM_TARGET = "source.embedding.weight", "target.embedding.weight"
SCALAR_NORM_OUTPUT, OUTPUT_BIAS = "output.linear.weight", "output.linear.bias"
SCALAR_NORM_EMBEDDINGS = Embeddings(SCALAR_NORM_SOURCE, SCALAR_NORM_TARGET, SCALAR_NORM_OUTPUT)
SCALAR_NORM_TABLES = ("source.pe", "target.pe")
LAYER = re.compile(r"(?:^|[._])(enc|dec)[a-z]*[._](?:[a-z_]+\.)*?(\d+)\.(.+)", re.I)
CLOSING = re.compile(r"(?:^|[._])(enc|dec)[a-z]*\.(?:[a-z_]+\.)*(gain|bias)", re.I)
CROSS = re.compile(r"cross|src|source|enc|mem", re.I)
TELLING = {"W_Q.weight": "attention", "gain": "norm", "linear_1.weight": "feed"}
"""A parameter that is once in each module of a kind -> the kind."""
STACKS = {"enc": "encoder", "dec": "decoder"}
SUBLAYERS = {"enc": ("self", "feed"), "dec": ("self", "cross", "feed")}
_SCALAR_NORM_ATTENTION = {"W_Q": "query", "W_K": "key", "W_V": "value", "W_O": "output"}
_SCALAR_NORM_NORM = {"gain": "weight", "bias": "bias"}
_SCALAR_NORM_LAYER = {
    **layered("self. -> self_attention.", _SCALAR_NORM_ATTENTION),
    "feed.linear_1": "feed_forward.inner",
    "feed.linear_2": "feed_forward.outer",
    **layered("norm_self. -> self_residual.norm.", _SCALAR_NORM_NORM),
    **layered("norm_feed. -> feed_residual.norm.", _SCALAR_NORM_NORM),
}
_CROSS = {
    **layered("cross. -> cross_attention.", _SCALAR_NORM_ATTENTION),
    **layered("norm_cross. -> cross_residual.norm.", _SCALAR_NORM_NORM),
}
SCALAR_NORM_NAMES = {
    **layered("encoder.norm. -> encoder.norm.", _SCALAR_NORM_NORM),
    **layered("decoder.norm. -> decoder.norm.", _SCALAR_NORM_NORM),
    **layered("encoder.layers.*. -> encoder.layers.*.", _SCALAR_NORM_LAYER),
    **layered("decoder.layers.*. -> decoder.layers.*.", {**_SCALAR_NORM_LAYER, **_CROSS}),
}


def tells(weights: Weights) -> bool:
    """Its projections and its gains are called like nobody else's."""
    endings = ("W_Q.weight", "W_O.weight", ".gain", "linear_1.weight")
    return all(any(name.endswith(ending) for name in weights.tensors) for ending in endings)


def prepare_scalar_norm(weights: Weights) -> Weights:
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
    for ending, sides in (
        (".embedding.weight", (SCALAR_NORM_SOURCE, SCALAR_NORM_TARGET)),
        (".pe", SCALAR_NORM_TABLES),
    ):
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


def configure_scalar_norm(weights: Weights) -> ModelConfig:
    """No shape says h, nor which tokens are special: 0 pads, 1 starts, 2 ends."""
    return ModelConfig(
        **SCALAR_NORM_EMBEDDINGS.sizes(weights),
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


SCALAR_NORM_MAPPING = CodeMapping(
    name="scalar_norm",
    title="Notebook with a scalar LayerNorm",
    tells=tells,
    names=SCALAR_NORM_NAMES,
    embeddings=SCALAR_NORM_EMBEDDINGS,
    configure=configure_scalar_norm,
    prepare=prepare_scalar_norm,
    tables=SCALAR_NORM_TABLES,
    assumed=order,
)


# A notebook's encoder-decoder that returns its attention, with separate d_k and d_v.
#
# x + norm(sublayer(x)), where one norm serves all sublayers of a layer; a norm closes the
# encoder, and the decoder's feed-forward sublayer has none. The notebook does not say where
# embeddings and positions stand: they are found by the names of their own modules, `lut` and
# `PE`.

SEPARATE_SIZES_SOURCE, SEPARATE_SIZES_TARGET, SEPARATE_SIZES_OUTPUT = (
    "source.lut.weight",
    "target.lut.weight",
    "trg_word_prj.weight",
)
SEPARATE_SIZES_EMBEDDINGS = Embeddings(
    SEPARATE_SIZES_SOURCE, SEPARATE_SIZES_TARGET, SEPARATE_SIZES_OUTPUT
)
SEPARATE_SIZES_TABLES = ("source.PE", "target.PE")
NORM = ".layerNorm."
_SEPARATE_SIZES_ATTENTION = {"w_q": "query", "w_k": "key", "w_v": "value", "FC": "output"}
_SEPARATE_SIZES_FEED = {"FFN.W_1": "feed_forward.inner", "FFN.W_2": "feed_forward.outer"}
SEPARATE_SIZES_NAMES = {
    "encoder.layerNorm": "encoder.norm",
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("MHA. -> self_attention.", _SEPARATE_SIZES_ATTENTION),
            **_SEPARATE_SIZES_FEED,
            "first": "self_residual.norm",
            "second": "feed_residual.norm",
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("MMHA. -> self_attention.", _SEPARATE_SIZES_ATTENTION),
            **layered("MHA. -> cross_attention.", _SEPARATE_SIZES_ATTENTION),
            **_SEPARATE_SIZES_FEED,
            "first": "self_residual.norm",
            "second": "cross_residual.norm",
        },
    ),
}


def prepare_separate_sizes(weights: Weights) -> Weights:
    """Each layer's norm twice, and embeddings and positions under the names of their sides."""
    tensors = {}
    for name, tensor in weights.tensors.items():
        if ".layers." in name and NORM in name and "MHA" not in name:
            tensors[name.replace(NORM, ".first.")] = tensor
            tensors[name.replace(NORM, ".second.")] = tensor
        elif not name.endswith(("lut.weight", ".PE")):
            tensors[name] = tensor
    for ending, sides in (
        ("lut.weight", (SEPARATE_SIZES_SOURCE, SEPARATE_SIZES_TARGET)),
        (".PE", SEPARATE_SIZES_TABLES),
    ):
        each = [tensor for name, tensor in weights.tensors.items() if name.endswith(ending)]
        if not 1 <= len(each) <= 2:
            raise Misfit(
                f"has {len(each)} tensors whose names end in {ending}: one per side is due"
            )
        tensors |= dict(zip(sides, (each[0], each[-1]), strict=True))
    return weights.having(tensors)


def configure_separate_sizes(weights: Weights) -> ModelConfig:
    """No shape says n_head; with it the shapes say d_k and d_v."""
    n_heads, first = weights.heads("n_head"), "encoder.layers.0.MHA"
    return ModelConfig(
        **SEPARATE_SIZES_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.FFN.W_1.weight")[0],
        n_heads=n_heads,
        d_key=max(1, weights.shape(f"{first}.w_q.weight")[0] // n_heads),
        d_value=max(1, weights.shape(f"{first}.w_v.weight")[0] // n_heads),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=5000,
        norm_order="sublayer",
        norm_eps=1e-6,
        encoder_norm=True,
        decoder_feed_norm=False,
        tied="none",
        **TORCHTEXT,
    )


SEPARATE_SIZES_MAPPING = CodeMapping(
    name="separate_sizes",
    title="Notebook with separate d_k and d_v",
    tells=holds("decoder.layers.0.MMHA.w_q.weight"),
    names=SEPARATE_SIZES_NAMES,
    embeddings=SEPARATE_SIZES_EMBEDDINGS,
    configure=configure_separate_sizes,
    prepare=prepare_separate_sizes,
    tables=SEPARATE_SIZES_TABLES,
    ignored=(r".*\.M?MHA\.layerNorm\.(weight|bias)",),
)


MAPPING = (
    ANNOTATED_MAPPING,
    TORCH_TRANSFORMER_MAPPING,
    SEQ2SEQ_TUTORIAL_MAPPING,
    SCALAR_NORM_MAPPING,
    SEPARATE_SIZES_MAPPING,
)
