"""A notebook's encoder-decoder that returns its attention, with separate d_k and d_v.

x + norm(sublayer(x)), where one norm serves all sublayers of a layer; a norm closes the encoder,
and the decoder's feed-forward sublayer has none. The notebook does not say where embeddings and
positions stand: they are found by the names of their own modules, `lut` and `PE`.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import TORCHTEXT, CodeMapping, Embeddings, holds, layered

SOURCE, TARGET, OUTPUT = "source.lut.weight", "target.lut.weight", "trg_word_prj.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, OUTPUT)
TABLES = ("source.PE", "target.PE")
NORM = ".layerNorm."
_ATTENTION = {"w_q": "query", "w_k": "key", "w_v": "value", "FC": "output"}
_FEED = {"FFN.W_1": "feed_forward.inner", "FFN.W_2": "feed_forward.outer"}
NAMES = {
    "encoder.layerNorm": "encoder.norm",
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("MHA. -> self_attention.", _ATTENTION),
            **_FEED,
            "first": "self_residual.norm",
            "second": "feed_residual.norm",
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("MMHA. -> self_attention.", _ATTENTION),
            **layered("MHA. -> cross_attention.", _ATTENTION),
            **_FEED,
            "first": "self_residual.norm",
            "second": "cross_residual.norm",
        },
    ),
}


def prepare(weights: Weights) -> Weights:
    """Each layer's norm twice, and embeddings and positions under the names of their sides."""
    tensors = {}
    for name, tensor in weights.tensors.items():
        if ".layers." in name and NORM in name and "MHA" not in name:
            tensors[name.replace(NORM, ".first.")] = tensor
            tensors[name.replace(NORM, ".second.")] = tensor
        elif not name.endswith(("lut.weight", ".PE")):
            tensors[name] = tensor
    for ending, sides in (("lut.weight", (SOURCE, TARGET)), (".PE", TABLES)):
        each = [tensor for name, tensor in weights.tensors.items() if name.endswith(ending)]
        if not 1 <= len(each) <= 2:
            raise Misfit(
                f"has {len(each)} tensors whose names end in {ending}: one per side is due"
            )
        tensors |= dict(zip(sides, (each[0], each[-1]), strict=True))
    return weights.having(tensors)


def configure(weights: Weights) -> ModelConfig:
    """No shape says n_head; with it the shapes say d_k and d_v."""
    n_heads, first = weights.heads("n_head"), "encoder.layers.0.MHA"
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
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


MAPPING = CodeMapping(
    name="separate_sizes",
    title="Notebook with separate d_k and d_v",
    tells=holds("decoder.layers.0.MMHA.w_q.weight"),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    prepare=prepare,
    tables=TABLES,
    ignored=(r".*\.M?MHA\.layerNorm\.(weight|bias)",),
)
