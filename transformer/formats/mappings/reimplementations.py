"""Well-known implementations of AIAYN's model."""

from transformer.config import ModelConfig
from transformer.files.weights import Weights
from transformer.formats.mappings.mapping import (
    TORCHTEXT,
    CodeMapping,
    Embeddings,
    Names,
    holds,
    layered,
    same,
)

# jadore801120/attention-is-all-you-need-pytorch, as its train.py saves it.
#
# {"epoch", "settings": argparse.Namespace, "model": state dict}. Norms follow each sublayer, and
# one stands before the first layer; attention has no bias.

ATTENTION_IS_ALL_YOU_NEED_SOURCE, ATTENTION_IS_ALL_YOU_NEED_TARGET, OUTPUT = (
    "encoder.src_word_emb.weight",
    "decoder.trg_word_emb.weight",
    "trg_word_prj.weight",
)
ATTENTION_IS_ALL_YOU_NEED_EMBEDDINGS = Embeddings(
    ATTENTION_IS_ALL_YOU_NEED_SOURCE, ATTENTION_IS_ALL_YOU_NEED_TARGET, OUTPUT
)


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
ATTENTION_IS_ALL_YOU_NEED_NAMES = {
    "encoder.layer_norm": "encoder.embedding_norm",
    "decoder.layer_norm": "decoder.embedding_norm",
    **layered("encoder.layer_stack.*. -> encoder.layers.*.", _LAYER),
    **layered("decoder.layer_stack.*. -> decoder.layers.*.", {**_LAYER, **_CROSS}),
}


def _scaling(weights: Weights) -> str:
    """Name what sqrt(d_model) scales where the output is the target's embedding, else "none"."""
    output, target = (
        weights.tensors.get(OUTPUT),
        weights.tensors.get(ATTENTION_IS_ALL_YOU_NEED_TARGET),
    )
    is_shared = output is not None and target is not None and same(output, target)
    return str(weights.options.get("scale_emb_or_prj", "prj")) if is_shared else "none"


def prepare(weights: Weights) -> Weights:
    """Divide embeddings by sqrt(d_model) where logits are; the model multiplies them again.

    That is the same sums: W x / sqrt(d) = (W / sqrt(d)) x.
    """
    if _scaling(weights) != "prj":
        return weights
    root = weights.shape(ATTENTION_IS_ALL_YOU_NEED_TARGET)[1] ** 0.5
    scaled = {
        n: weights.tensors[n] / root
        for n in (ATTENTION_IS_ALL_YOU_NEED_SOURCE, ATTENTION_IS_ALL_YOU_NEED_TARGET, OUTPUT)
        if weights.has(n)
    }
    return weights.having({**weights.tensors, **scaled})


def configure_attention_is_all_you_need(weights: Weights) -> ModelConfig:
    """Special tokens as torchtext orders them: unknown, padding, start, end."""
    n_heads = weights.heads("n_head")
    first = "encoder.layer_stack.0.slf_attn"
    option = weights.options.get
    return ModelConfig(
        **ATTENTION_IS_ALL_YOU_NEED_EMBEDDINGS.sizes(weights),
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


ATTENTION_IS_ALL_YOU_NEED_MAPPING = CodeMapping(
    name="attention_is_all_you_need",
    title="jadore801120/attention-is-all-you-need-pytorch",
    tells=holds("encoder.layer_stack.0.slf_attn.w_qs.weight", ATTENTION_IS_ALL_YOU_NEED_SOURCE),
    names=ATTENTION_IS_ALL_YOU_NEED_NAMES,
    embeddings=ATTENTION_IS_ALL_YOU_NEED_EMBEDDINGS,
    configure=configure_attention_is_all_you_need,
    prepare=prepare,
    tables=("encoder.position_enc.pos_table", "decoder.position_enc.pos_table"),
    frames_source=(True, True),
)


# hyunwoongko/transformer, as its train.py saves it: a state dict, saved/model-LOSS.pt.
#
# Norms follow each sublayer, with an eps of 1e-12, and nothing closes a stack; embeddings are not
# scaled, and sinusoids are not saved. Before December 2022 (9c5515d, 2eb96c7) its mask hid
# nothing and its norm divided by the unbiased deviation: such models are not told apart.

HYUNWOONGKO_SOURCE, HYUNWOONGKO_TARGET = "encoder.emb.tok_emb.weight", "decoder.emb.tok_emb.weight"
HYUNWOONGKO_EMBEDDINGS = Embeddings(HYUNWOONGKO_SOURCE, HYUNWOONGKO_TARGET, "decoder.linear.weight")
_HYUNWOONGKO_ATTENTION = {"w_q": "query", "w_k": "key", "w_v": "value", "w_concat": "output"}


def _norm_hyunwoongko(theirs: str, ours: str) -> Names:
    return {f"{theirs}.gamma": f"{ours}.norm.weight", f"{theirs}.beta": f"{ours}.norm.bias"}


_HYUNWOONGKO_FEED = {"ffn.linear1": "feed_forward.inner", "ffn.linear2": "feed_forward.outer"}
HYUNWOONGKO_NAMES = {
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("attention. -> self_attention.", _HYUNWOONGKO_ATTENTION),
            **_HYUNWOONGKO_FEED,
            **_norm_hyunwoongko("norm1", "self_residual"),
            **_norm_hyunwoongko("norm2", "feed_residual"),
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("self_attention. -> self_attention.", _HYUNWOONGKO_ATTENTION),
            **layered("enc_dec_attention. -> cross_attention.", _HYUNWOONGKO_ATTENTION),
            **_HYUNWOONGKO_FEED,
            **_norm_hyunwoongko("norm1", "self_residual"),
            **_norm_hyunwoongko("norm2", "cross_residual"),
            **_norm_hyunwoongko("norm3", "feed_residual"),
        },
    ),
}


def configure_hyunwoongko(weights: Weights) -> ModelConfig:
    """No shape says n_heads."""
    return ModelConfig(
        **HYUNWOONGKO_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.ffn.linear1.weight")[0],
        n_heads=weights.heads("n_heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=256,
        norm_eps=1e-12,
        tied="none",
        scaled_embeddings=False,
        **TORCHTEXT,
    )


HYUNWOONGKO_MAPPING = CodeMapping(
    name="hyunwoongko",
    title="hyunwoongko/transformer",
    tells=holds("encoder.layers.0.attention.w_concat.weight", HYUNWOONGKO_SOURCE),
    names=HYUNWOONGKO_NAMES,
    embeddings=HYUNWOONGKO_EMBEDDINGS,
    configure=configure_hyunwoongko,
    frames_source=(True, True),
)


# gordicaleksa/pytorch-original-transformer, as its training_script.py saves it.
#
# {"dataset_name", "language_direction", "num_of_epochs", "batch_size", "state_dict"}. Norms
# before each sublayer, and one that closes each stack.

ORIGINAL_TRANSFORMER_SOURCE, ORIGINAL_TRANSFORMER_TARGET = (
    "src_embedding.embeddings_table.weight",
    "trg_embedding.embeddings_table.weight",
)
ORIGINAL_TRANSFORMER_EMBEDDINGS = Embeddings(
    ORIGINAL_TRANSFORMER_SOURCE, ORIGINAL_TRANSFORMER_TARGET, "decoder_generator.linear.weight"
)
_ORIGINAL_TRANSFORMER_ATTENTION = {
    "qkv_nets.0": "query",
    "qkv_nets.1": "key",
    "qkv_nets.2": "value",
    "out_projection_net": "output",
}
_ORIGINAL_TRANSFORMER_FEED = {
    "pointwise_net.linear1": "feed_forward.inner",
    "pointwise_net.linear2": "feed_forward.outer",
}
ORIGINAL_TRANSFORMER_NAMES = {
    "encoder.norm": "encoder.norm",
    "decoder.norm": "decoder.norm",
    **layered(
        "encoder.encoder_layers.*. -> encoder.layers.*.",
        {
            **layered(
                "multi_headed_attention. -> self_attention.", _ORIGINAL_TRANSFORMER_ATTENTION
            ),
            **_ORIGINAL_TRANSFORMER_FEED,
            "sublayers.0.norm": "self_residual.norm",
            "sublayers.1.norm": "feed_residual.norm",
        },
    ),
    **layered(
        "decoder.decoder_layers.*. -> decoder.layers.*.",
        {
            **layered(
                "trg_multi_headed_attention. -> self_attention.", _ORIGINAL_TRANSFORMER_ATTENTION
            ),
            **layered(
                "src_multi_headed_attention. -> cross_attention.", _ORIGINAL_TRANSFORMER_ATTENTION
            ),
            **_ORIGINAL_TRANSFORMER_FEED,
            "sublayers.0.norm": "self_residual.norm",
            "sublayers.1.norm": "cross_residual.norm",
            "sublayers.2.norm": "feed_residual.norm",
        },
    ),
}


def configure_original_transformer(weights: Weights) -> ModelConfig:
    """No shape says the heads."""
    return ModelConfig(
        **ORIGINAL_TRANSFORMER_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.encoder_layers.0.pointwise_net.linear1.weight")[0],
        n_heads=weights.heads("number_of_heads"),
        n_encoder_layers=weights.layers("encoder.encoder_layers.*."),
        n_decoder_layers=weights.layers("decoder.decoder_layers.*."),
        max_len=5000,
        norm_order="pre",
        tied="none",
        **TORCHTEXT,
    )


ORIGINAL_TRANSFORMER_MAPPING = CodeMapping(
    name="original_transformer",
    title="gordicaleksa/pytorch-original-transformer",
    tells=holds(
        "encoder.encoder_layers.0.multi_headed_attention.qkv_nets.0.weight",
        ORIGINAL_TRANSFORMER_SOURCE,
    ),
    names=ORIGINAL_TRANSFORMER_NAMES,
    embeddings=ORIGINAL_TRANSFORMER_EMBEDDINGS,
    configure=configure_original_transformer,
    tables=(
        "src_pos_embedding.positional_encodings_table",
        "trg_pos_embedding.positional_encodings_table",
    ),
)


# SamLynnEvans/Transformer, as its train.py saves it: a state dict, weights/model_weights.
#
# Norms like The Annotated Transformer's, before each sublayer and at the end of each stack. The
# cosine beside a sine has another wavelength than it, so that its positions are no rotations.

SAM_LYNN_EVANS_SOURCE, SAM_LYNN_EVANS_TARGET = (
    "encoder.embed.embed.weight",
    "decoder.embed.embed.weight",
)
SAM_LYNN_EVANS_EMBEDDINGS = Embeddings(SAM_LYNN_EVANS_SOURCE, SAM_LYNN_EVANS_TARGET, "out.weight")
_SAM_LYNN_EVANS_ATTENTION = {
    "q_linear": "query",
    "k_linear": "key",
    "v_linear": "value",
    "out": "output",
}


def _norm_sam_lynn_evans(theirs: str, ours: str) -> Names:
    return {f"{theirs}.alpha": f"{ours}.weight", f"{theirs}.bias": f"{ours}.bias"}


_SAM_LYNN_EVANS_FEED = {"ff.linear_1": "feed_forward.inner", "ff.linear_2": "feed_forward.outer"}
SAM_LYNN_EVANS_NAMES = {
    **_norm_sam_lynn_evans("encoder.norm", "encoder.norm"),
    **_norm_sam_lynn_evans("decoder.norm", "decoder.norm"),
    **layered(
        "encoder.layers.*. -> encoder.layers.*.",
        {
            **layered("attn. -> self_attention.", _SAM_LYNN_EVANS_ATTENTION),
            **_SAM_LYNN_EVANS_FEED,
            **_norm_sam_lynn_evans("norm_1", "self_residual.norm"),
            **_norm_sam_lynn_evans("norm_2", "feed_residual.norm"),
        },
    ),
    **layered(
        "decoder.layers.*. -> decoder.layers.*.",
        {
            **layered("attn_1. -> self_attention.", _SAM_LYNN_EVANS_ATTENTION),
            **layered("attn_2. -> cross_attention.", _SAM_LYNN_EVANS_ATTENTION),
            **_SAM_LYNN_EVANS_FEED,
            **_norm_sam_lynn_evans("norm_1", "self_residual.norm"),
            **_norm_sam_lynn_evans("norm_2", "cross_residual.norm"),
            **_norm_sam_lynn_evans("norm_3", "feed_residual.norm"),
        },
    ),
}


def configure_sam_lynn_evans(weights: Weights) -> ModelConfig:
    """No shape says the heads."""
    return ModelConfig(
        **SAM_LYNN_EVANS_EMBEDDINGS.sizes(weights),
        d_ff=weights.shape("encoder.layers.0.ff.linear_1.weight")[0],
        n_heads=weights.heads("heads"),
        n_encoder_layers=weights.layers("encoder.layers.*."),
        n_decoder_layers=weights.layers("decoder.layers.*."),
        max_len=200,
        norm_order="pre",
        norm="deviation",
        norm_eps=1e-6,
        tied="none",
        **TORCHTEXT,
    )


SAM_LYNN_EVANS_MAPPING = CodeMapping(
    name="sam_lynn_evans",
    title="SamLynnEvans/Transformer",
    tells=holds("encoder.layers.0.attn.q_linear.weight", SAM_LYNN_EVANS_SOURCE),
    names=SAM_LYNN_EVANS_NAMES,
    embeddings=SAM_LYNN_EVANS_EMBEDDINGS,
    configure=configure_sam_lynn_evans,
    tables=("encoder.pe.pe", "decoder.pe.pe"),
)


MAPPING = (
    ATTENTION_IS_ALL_YOU_NEED_MAPPING,
    HYUNWOONGKO_MAPPING,
    ORIGINAL_TRANSFORMER_MAPPING,
    SAM_LYNN_EVANS_MAPPING,
)
