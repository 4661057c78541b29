"""jadore801120/attention-is-all-you-need-pytorch, as its train.py saves it.

{"epoch", "settings": argparse.Namespace, "model": state dict}. Norms follow each sublayer, and one
stands before the first layer; attention has no bias.
"""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import CodeMapping, Embeddings, holds, layered, same

SOURCE, TARGET, OUTPUT = (
    "encoder.src_word_emb.weight",
    "decoder.trg_word_emb.weight",
    "trg_word_prj.weight",
)
EMBEDDINGS = Embeddings(SOURCE, TARGET, OUTPUT)


def _attention(theirs: str, ours: str, residual: str) -> dict[str, str]:
    return {
        f"{theirs}.w_qs": f"{ours}.query",
        f"{theirs}.w_ks": f"{ours}.key",
        f"{theirs}.w_vs": f"{ours}.value",
        f"{theirs}.fc": f"{ours}.output",
        f"{theirs}.layer_norm": f"{residual}.norm",
    }


_LAYER = {
    **_attention("slf_attn", "self_attention", "self_residual"),
    "pos_ffn.w_1": "feed_forward.inner",
    "pos_ffn.w_2": "feed_forward.outer",
    "pos_ffn.layer_norm": "feed_residual.norm",
}
_CROSS = _attention("enc_attn", "cross_attention", "cross_residual")
NAMES = {
    "encoder.layer_norm": "encoder.embedding_norm",
    "decoder.layer_norm": "decoder.embedding_norm",
    **layered("encoder.layer_stack.*. -> encoder.layers.*.", _LAYER),
    **layered("decoder.layer_stack.*. -> decoder.layers.*.", {**_LAYER, **_CROSS}),
}


def _scaling(weights: Weights) -> str:
    """Name what sqrt(d_model) scales where the output is the target's embedding, else "none"."""
    output, target = weights.tensors.get(OUTPUT), weights.tensors.get(TARGET)
    is_shared = output is not None and target is not None and same(output, target)
    return str(weights.options.get("scale_emb_or_prj", "prj")) if is_shared else "none"


def prepare(weights: Weights) -> Weights:
    """Divide embeddings by sqrt(d_model) where logits are; the model multiplies them again.

    That is the same sums: W x / sqrt(d) = (W / sqrt(d)) x.
    """
    if _scaling(weights) != "prj":
        return weights
    root = weights.shape(TARGET)[1] ** 0.5
    scaled = {n: weights.tensors[n] / root for n in (SOURCE, TARGET, OUTPUT) if weights.has(n)}
    return weights.having({**weights.tensors, **scaled})


def configure(weights: Weights) -> ModelConfig:
    """Special tokens as torchtext orders them: unknown, padding, start, end."""
    n_heads = weights.heads("n_head")
    first = "encoder.layer_stack.0.slf_attn"
    option = weights.options.get
    return ModelConfig(
        **EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layer_stack.0.pos_ffn.w_1.weight")[0],
        n_heads=n_heads,
        d_key=max(1, weights.shape(f"{first}.w_qs.weight")[0] // n_heads),
        d_value=max(1, weights.shape(f"{first}.w_vs.weight")[0] // n_heads),
        n_encoder_layers=weights.layers("encoder.layer_stack.*."),
        n_decoder_layers=weights.layers("decoder.layer_stack.*."),
        max_len=200,
        norm_eps=1e-6,
        embedding_norm=True,
        attention_bias="none",
        tied="none",
        scaled_embeddings=_scaling(weights) != "none",
        pad_id=option("src_pad_idx", 1),
        bos_id=option("trg_bos_idx", 2),
        eos_id=option("trg_eos_idx", 3),
    )


MAPPING = CodeMapping(
    name="attention_is_all_you_need",
    title="jadore801120/attention-is-all-you-need-pytorch",
    tells=holds("encoder.layer_stack.0.slf_attn.w_qs.weight", SOURCE),
    names=NAMES,
    embeddings=EMBEDDINGS,
    configure=configure,
    prepare=prepare,
    tables=("encoder.position_enc.pos_table", "decoder.position_enc.pos_table"),
    frames_source=(True, True),
)
