"""joeynmt, as its training saves it: best.ckpt or N.ckpt, {"model_state", "optimizer_state", ...}.

Norms before each sublayer, with one that closes each stack, or after each; no bias at the output.
What no shape shows stands in the config.yaml that it leaves beside the weights.
"""

from typing import Any

from transformer.config import ModelConfig
from transformer.files.foreign_text import clean
from transformer.files.weights import Misfit, Weights
from transformer.formats.mappings.mapping import TORCHTEXT, CodeMapping, Embeddings, holds, layered

SOURCE, TARGET = "src_embed.lut.weight", "trg_embed.lut.weight"
EMBEDDINGS = Embeddings(SOURCE, TARGET, "decoder.output_layer.weight")
CLOSING = ("encoder.layer_norm.weight", "decoder.layer_norm.weight")
_ATTENTION = {
    "q_layer": "query",
    "k_layer": "key",
    "v_layer": "value",
    "output_layer": "output",
}
_FEED = {
    "feed_forward.layer_norm": "feed_residual.norm",
    "feed_forward.pwff_layer.0": "feed_forward.inner",
    "feed_forward.pwff_layer.3": "feed_forward.outer",
}
NAMES = {
    "encoder.layer_norm": "encoder.norm",
    "decoder.layer_norm": "decoder.norm",
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("src_src_att. -> self_attention.", _ATTENTION),
            "layer_norm": "self_residual.norm",
            **_FEED,
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("trg_trg_att. -> self_attention.", _ATTENTION),
            **layered("src_trg_att. -> cross_attention.", _ATTENTION),
            "x_layer_norm": "self_residual.norm",
            "dec_layer_norm": "cross_residual.norm",
            **_FEED,
        },
    ),
}


def setting(weights: Weights, name: str, encoder: Any, decoder: Any) -> Any:
    """Read a setting of both stacks, or its default. Raises Misfit where they differ."""
    sides = {"encoder": encoder, "decoder": decoder}
    values = [weights.options.get(f"model.{side}.{name}", usual) for side, usual in sides.items()]
    if values[0] != values[1]:
        raise Misfit(
            f"has {name} {clean(values[0])} in its encoder and {clean(values[1])} in its decoder, "
            "which are one here"
        )
    return values[0]


def configure(weights: Weights) -> ModelConfig:
    """Without a config.yaml: embeddings are scaled, as in all those that it comes with."""
    closing = [weights.has(name) for name in CLOSING]
    is_told = "model.encoder.num_heads" in weights.options
    usual = (
        ("pre", "post") if is_told else (("post", "pre")[closing[0]], ("post", "pre")[closing[1]])
    )
    order = setting(weights, "layer_norm", *usual)
    if setting(weights, "alpha", 1.0, 1.0) != 1:
        raise Misfit("has residual sums with an alpha other than 1, which is not known here")
    setting(weights, "num_heads", None, None)
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.feed_forward.pwff_layer.0.weight")[0],
        n_heads=weights.heads("model.encoder.num_heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=5000,
        norm_order=order,
        norm_eps=1e-6,
        encoder_norm=closing[0],
        decoder_norm=closing[1],
        activation=setting(weights, "activation", "relu", "relu"),
        tied="none",
        scaled_embeddings=setting(weights, "embeddings.scale", *[not is_told] * 2),
        **TORCHTEXT,
    )


def scale(config: ModelConfig) -> str:
    """Name the scale, which config.yaml says and its weights do not, for the title."""
    return f"embeddings {'× √d_model' if config.scaled_embeddings else 'not scaled'}"


MAPPING = CodeMapping(
    name="joey_nmt",
    title="joeynmt",
    tells=holds("encoder.layers.0.src_src_att.q_layer.weight"),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    tables=("encoder.pe.pe", "decoder.pe.pe"),
    settings="config.yaml",
    frames_source=(False, True),
    assumed=scale,
)
