"""A Marian model of the transformers library, with the weights of an encoder-decoder of ours."""

from typing import Any

from torch import Tensor


def marian_twin(ours: Any) -> Any:
    """A MarianMTModel that computes what ours does.

    ours: post-norm, ReLU, sinusoids, one embedding for all. Its positions are changed: Marian's
    sines stand first, then the cosines, another layout of the same encoding.
    """
    from transformers import MarianConfig, MarianMTModel

    config = ours.config
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size,
            d_model=config.d_model,
            encoder_layers=config.n_encoder_layers,
            decoder_layers=config.n_decoder_layers,
            encoder_attention_heads=config.n_heads,
            decoder_attention_heads=config.n_heads,
            encoder_ffn_dim=config.d_ff,
            decoder_ffn_dim=config.d_ff,
            max_position_embeddings=config.max_len,
            activation_function="relu",
            scale_embedding=True,
            static_position_embeddings=True,
            share_encoder_decoder_embeddings=True,
            tie_word_embeddings=True,
            pad_token_id=config.pad_id,
            bos_token_id=config.bos_id,
            eos_token_id=config.eos_id,
            decoder_start_token_id=config.bos_id,
            forced_eos_token_id=None,
            dropout=0.0,
        )
    )
    theirs = theirs.eval().requires_grad_(False)
    missing, unexpected = theirs.load_state_dict(marian_names(ours.state_dict()), strict=False)
    assert unexpected == []
    assert all("embed" in n or "lm_head" in n or "final_logits_bias" in n for n in missing)
    ours.positions.table.copy_(theirs.model.encoder.embed_positions.weight)
    return theirs


def marian_names(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """Our weights under Marian's names."""
    named = {}
    for name, tensor in weights.items():
        for ours, theirs in (
            ("embedding.weight", "shared.weight"),
            ("self_attention", "self_attn"),
            ("cross_attention", "encoder_attn"),
            (".query.", ".q_proj."),
            (".key.", ".k_proj."),
            (".value.", ".v_proj."),
            (".output.", ".out_proj."),
            ("feed_forward.inner", "fc1"),
            ("feed_forward.outer", "fc2"),
            ("self_residual.norm", "self_attn_layer_norm"),
            ("cross_residual.norm", "encoder_attn_layer_norm"),
            ("feed_residual.norm", "final_layer_norm"),
        ):
            name = name.replace(ours, theirs)
        named[f"model.{name}"] = tensor
    for copy in ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"):
        named[copy] = weights["embedding.weight"]
    named["lm_head.weight"] = weights["embedding.weight"]
    return named
