"""joeynmt, as its training saves it: best.ckpt or N.ckpt, {"model_state", "optimizer_state", ...}.

Norms before each sublayer, with one that closes each stack, or after each; no bias at the output.
Residual sums are those of its default, an alpha of 1.
"""

from transformer.config import ModelConfig
from transformer.files.found import Found, Misfit
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, holds, layered

SOURCE, TARGET = "src_embed.lut.weight", "trg_embed.lut.weight"
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


def configure(found: Found) -> ModelConfig:
    """No shape says num_heads, nor that embeddings are scaled, as in all its configurations."""
    closing = [found.has(name) for name in CLOSING]
    if len(set(closing)) > 1:
        raise Misfit("closes one of its stacks with a norm and not the other: layer_norm differs")
    vocab_size, d_model = found.shape(TARGET)
    return ModelConfig(
        vocab_size=vocab_size,
        source_vocab_size=found.shape(SOURCE)[0],
        d_model=d_model,
        d_ff=found.shape("encoder.layers.0.feed_forward.pwff_layer.0.weight")[0],
        n_heads=found.heads("num_heads"),
        n_encoder_layers=found.layers("encoder.layers.*."),
        n_decoder_layers=found.layers("decoder.layers.*."),
        max_len=5000,
        norm_order="pre" if all(closing) else "post",
        norm_eps=1e-6,
        encoder_norm=all(closing),
        decoder_norm=all(closing),
        tied="none",
        pad_id=1,
        bos_id=2,
        eos_id=3,
    )


def scale(config: ModelConfig) -> str:
    """What its config.yaml says and its weights do not, for the title."""
    return f"embeddings {'× √d_model' if config.scaled_embeddings else 'not scaled'}"


MAPPING = CodeMapping(
    name="joey_nmt",
    title="joeynmt",
    tells=holds("encoder.layers.0.src_src_att.q_layer.weight"),
    names=NAMES,
    embeddings=Embeddings(SOURCE, TARGET, "decoder.output_layer.weight"),
    configure=configure,
    tables=("encoder.pe.pe", "decoder.pe.pe"),
    frames_source=(False, True),
    assumed=scale,
)
