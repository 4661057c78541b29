"""More families of the library, beyond those that are opened as folders: text, images, sound."""

from typing import Any

import torch

from tests.transformer.watch.family import (
    Family,
    captioned,
    decoder,
    encoder,
    frames,
    ids,
    image,
    noise,
    placed,
    plain,
    series,
    sound,
    text,
    texts,
    tokens,
    translator,
)
from tests.transformer.watch.hugging_face import (
    DEEPSEEK,
    ENCODER_DECODER,
    GPT2,
    GROUPED,
    SMALL,
    T5,
)

EXPERTS = {
    **{**GROUPED, "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4},
    **{"num_experts_per_tok": 2, "moe_intermediate_size": 8, "n_group": 1, "topk_group": 1},
}
LOCAL = {**GROUPED, "sliding_window": 4}
LOCAL_FIRST = {**LOCAL, "layer_types": ["sliding_attention", "full_attention"]}
LINEAR_FIRST = {
    **{**EXPERTS, "layer_types": ["linear_attention", "full_attention"], "block_size": 4},
    **{"linear_key_head_dim": 4, "linear_value_head_dim": 4, "linear_num_key_heads": 2},
    **{"linear_num_value_heads": 2, "shared_expert_intermediate_size": 8},
}
MAMBA_2 = {"mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 4, "mamba_n_groups": 1}
STATES = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}
INDEXED = {**DEEPSEEK, "index_topk": 4, "index_n_heads": 2, "index_head_dim": 8}
SIZES = {"d_model": 16, "d_ff": 20, "num_layers": 2, "num_heads": 4, "vocab_size": 50}
LAYERS = {
    **{"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "d_model": 16},
    **{"decoder_attention_heads": 4, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20},
}
WITH_LINEAR = "linear attention has no weights"

TRANSLATORS = {
    "mT5": translator("MT5", T5, scale=1),
    "ProphetNet": translator(
        "ProphetNet",
        {
            **{"vocab_size": 50, "hidden_size": 16, "encoder_ffn_dim": 20, "ngram": 2},
            **{"decoder_ffn_dim": 20, "num_encoder_layers": 2, "num_decoder_layers": 2},
            **{"num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4},
            "max_position_embeddings": 40,
        },
        note="its streams that predict are missing; in `cross` they are rows after the main one's",
        says="scores",
    ),
    "FSMT": translator(
        "FSMT",
        {**ENCODER_DECODER, "src_vocab_size": 50, "tgt_vocab_size": 50, "langs": ["en", "de"]},
    ),
    "PLBart": translator("PLBart", ENCODER_DECODER),
    "BigBird-Pegasus": translator(
        "BigBirdPegasus", {**ENCODER_DECODER, "attention_type": "original_full"}
    ),
    "Pegasus-X": translator(
        "PegasusX",
        {**ENCODER_DECODER, "num_global_tokens": 2, "block_size": 4},
        note="of its encoder, the global tokens' attention is seen",
        says="other",
    ),
    "LED": translator("LED", {**ENCODER_DECODER, "attention_window": 4}, says="other"),
    "Blenderbot-small": translator("BlenderbotSmall", ENCODER_DECODER),
    "MVP": translator("Mvp", ENCODER_DECODER),
    "UDOP": translator(
        "Udop",
        {**T5, "image_size": 12, "patch_size": 4},
        lambda: {**texts(), "bbox": torch.zeros(1, 9, 4)},
        scale=1,
    ),
    "SeamlessM4T": Family(
        "SeamlessM4TForTextToText",
        "SeamlessM4TConfig",
        {**ENCODER_DECODER, **LAYERS, "hidden_size": 16, "pad_token_id": 0},
        texts,
    ),
    "BERT to BERT": Family(
        "EncoderDecoderModel",
        "EncoderDecoderConfig",
        {
            "encoder": {**SMALL, "model_type": "bert"},
            "decoder": {
                **SMALL,
                **{"model_type": "bert", "is_decoder": True, "add_cross_attention": True},
            },
        },
        texts,
    ),
    "T5Gemma-2": translator(
        "T5Gemma2",
        {
            "encoder": {
                "text_config": LOCAL,
                "vision_config": {**SMALL, "image_size": 12, "patch_size": 4},
            },
            "decoder": LOCAL,
        },
        note="its decoder reads itself and the encoder in one softmax, so it is neither kind",
        says="other",
    ),
}
DECODERS = {
    "XGLM": decoder("XGLM", {**SIZES, "attention_heads": 4, "ffn_dim": 20}),
    "BioGPT": decoder("BioGpt", SMALL),
    "GPT-BigCode": decoder("GPTBigCode", GPT2),
    "GPT-NeoX-Japanese": decoder("GPTNeoXJapanese", SMALL),
    "BERT generation": Family(
        "BertGenerationDecoder", "BertGenerationConfig", {**SMALL, "is_decoder": True}, text
    ),
    "TrOCR": decoder(
        "TrOCR", {**SIZES, "decoder_layers": 2, "decoder_attention_heads": 4, "decoder_ffn_dim": 20}
    ),
    "CPM-Ant": decoder(
        "CpmAnt",
        {
            **{**SMALL, "dim_head": 4, "dim_ff": 20, "prompt_length": 4, "prompt_types": 8},
            **{"position_bias_num_buckets": 16, "position_bias_max_distance": 32},
        },
        note="its masks let all tokens read its context both ways, as an encoder",
        says="other",
    ),
    "Bark": Family(
        "BarkSemanticModel",
        "BarkSemanticConfig",
        {
            **{"input_vocab_size": 50, "output_vocab_size": 50, "hidden_size": 16},
            **{"num_layers": 2, "num_heads": 4, "block_size": 40},
        },
        tokens,
    ),
    "MusicGen": Family(
        "MusicgenForCausalLM",
        "MusicgenDecoderConfig",
        {**SMALL, "ffn_dim": 20, "num_codebooks": 1, "pad_token_id": 50, "bos_token_id": 50},
        tokens,
    ),
    "Moshi": decoder("Moshi", {**GROUPED, "num_codebooks": 2, "ffn_dim": 20}),
    "ImageGPT": Family(
        "ImageGPTForCausalImageModeling", "ImageGPTConfig", {**GPT2, "vocab_size": 51}, tokens
    ),
    "Decision Transformer": plain(
        "DecisionTransformer",
        {"hidden_size": 16, "n_layer": 2, "n_head": 4, "state_dim": 3, "act_dim": 2},
        lambda: {
            **{"states": noise(3, 3), "actions": noise(3, 2), "returns_to_go": noise(3, 1)},
            **{"timesteps": torch.arange(3)[None], "attention_mask": torch.ones(1, 3)},
        },
    ),
    "Phi": decoder("Phi", SMALL),
    "OLMo-2": decoder("Olmo2", SMALL),
    "OLMo-3": decoder("Olmo3", {**SMALL, "sliding_window": 4}),
    "Cohere-2": decoder("Cohere2", {**SMALL, "sliding_window": 4}),
    "Nemotron": decoder("Nemotron", GROUPED),
    "Gemma-3n": Family(
        "Gemma3nForCausalLM",
        "Gemma3nTextConfig",
        {
            **{**LOCAL_FIRST, "intermediate_size": [20, 20], "vocab_size_per_layer_input": 50},
            **{"hidden_size_per_layer_input": 4, "altup_num_inputs": 2, "laurel_rank": 4},
            **{"num_kv_shared_layers": 0, "activation_sparsity_pattern": [0.0, 0.0]},
        },
        text,
    ),
    "Gemma-4": Family(
        "Gemma4ForCausalLM",
        "Gemma4TextConfig",
        {
            **{**LOCAL_FIRST, "global_head_dim": 4, "hidden_size_per_layer_input": 4},
            **{"vocab_size_per_layer_input": 50, "num_kv_shared_layers": 0},
        },
        text,
    ),
    "VaultGemma": decoder("VaultGemma", LOCAL),
    "GLM": decoder("Glm", GROUPED),
    "GLM-4": decoder("Glm4", GROUPED),
    "Helium": decoder("Helium", GROUPED),
    "SmolLM3": decoder("SmolLM3", {**GROUPED, "no_rope_layers": [1, 0]}),
    "EXAONE-4": decoder("Exaone4", {**LOCAL, "sliding_window_pattern": 2}),
    "ERNIE-4.5": decoder("Ernie4_5", GROUPED),
    "Hunyuan": decoder("HunYuanDenseV1", GROUPED),
    "Seed-OSS": decoder("SeedOss", GROUPED),
    "Apertus": decoder("Apertus", GROUPED),
    "Arcee": decoder("Arcee", GROUPED),
    "Doge": decoder("Doge", {**GROUPED, "keep_window_size": 40}),
    "NanoChat": decoder("NanoChat", GROUPED),
    "MiniCPM3": decoder("MiniCPM3", DEEPSEEK),
    "ModernBERT decoder": decoder(
        "ModernBertDecoder",
        {**SMALL, "local_attention": 4, "global_attn_every_n_layers": 2, "cls_token_id": 3},
    ),
    "BitNet": decoder("BitNet", GROUPED),
    "DiffLlama": decoder(
        "DiffLlama",
        GROUPED,
        "W_O: it meets the difference of what two heads give; each has its own map",
    ),
    "Mllama": Family(
        "MllamaForCausalLM",
        "MllamaTextConfig",
        {**GROUPED, "cross_attention_layers": [1]},
        lambda: {
            **{**text(), "cross_attention_states": noise(5, 16)},
            "cross_attention_mask": torch.zeros(1, 1, 9, 5),
            "full_text_row_masked_out_mask": torch.ones(1, 1, 9, 1),
        },
        says="other",
    ),
}
EXPERT_DECODERS = {
    "PhiMoE": decoder("Phimoe", EXPERTS),
    "Qwen2-MoE": decoder("Qwen2Moe", {**EXPERTS, "shared_expert_intermediate_size": 8}),
    "Qwen3-MoE": decoder("Qwen3Moe", EXPERTS),
    "OLMoE": decoder("Olmoe", {**SMALL, "num_experts": 4, "num_experts_per_tok": 2}),
    "FlexOLMo": decoder("FlexOlmo", {**SMALL, "num_experts": 4, "num_experts_per_tok": 2}),
    "GLM-4-MoE": decoder("Glm4Moe", {**EXPERTS, "first_k_dense_replace": 1}),
    "GraniteMoE": decoder("GraniteMoe", EXPERTS),
    "MiniMax-M2": decoder("MiniMaxM2", EXPERTS),
    "dots.llm1": decoder("Dots1", {**EXPERTS, "n_shared_experts": 1, "first_k_dense_replace": 1}),
    "DBRX": decoder(
        "Dbrx",
        {
            **{"vocab_size": 50, "d_model": 16, "n_heads": 4, "n_layers": 2, "max_seq_len": 40},
            "attn_config": {"kv_n_heads": 2, "rope_theta": 10000.0, "clip_qkv": 8.0},
            "ffn_config": {
                **{"ffn_hidden_size": 20, "moe_num_experts": 4, "moe_top_k": 2},
                "hidden_size": 16,
            },
        },
    ),
    "JetMoE": decoder(
        "JetMoe",
        {
            **{**SMALL, "num_key_value_heads": 2, "kv_channels": 4, "num_local_experts": 4},
            "num_experts_per_tok": 2,
        },
        "W_O: each of its experts has one",
    ),
    "AFMoE": decoder(
        "Afmoe",
        {**EXPERTS, **LOCAL_FIRST, "num_dense_layers": 1, "num_shared_experts": 1},
    ),
    "Llama-4": Family(
        "Llama4ForCausalLM",
        "Llama4TextConfig",
        {
            **{**EXPERTS, "intermediate_size_mlp": 20, "attention_chunk_size": 4},
            "no_rope_layers": [1, 0],
        },
        text,
    ),
    "DeepSeek-V2": decoder("DeepseekV2", {**DEEPSEEK, "topk_method": "greedy"}),
    "DeepSeek-V3.2": decoder("DeepseekV32", INDEXED),
    "DeepSeek-V4": decoder(
        "DeepseekV4",
        DEEPSEEK,
        "its last key is a sink; W_O: of groups of heads, one after the other",
    ),
    "GLM-DSA": decoder("GlmMoeDsa", INDEXED),
    "Mistral-4": decoder("Mistral4", DEEPSEEK),
    "LongCat-Flash": decoder(
        "LongcatFlash",
        {
            **{**DEEPSEEK, "head_dim": 4, "num_layers": 2, "ffn_hidden_size": 20},
            **{"expert_ffn_hidden_size": 8, "moe_topk": 2, "zero_expert_num": 1},
        },
    ),
}
HYBRIDS = {
    "Bamba": decoder("Bamba", {**GROUPED, **MAMBA_2, "attn_layer_indices": [1]}),
    "Falcon-H1": decoder("FalconH1", {**GROUPED, **MAMBA_2, "mamba_d_ssm": 32}),
    "GraniteMoE hybrid": decoder(
        "GraniteMoeHybrid",
        {
            **{**EXPERTS, **MAMBA_2, "layer_types": ["mamba", "attention"]},
            **{"layers_block_type": ["mamba", "attention"], "shared_intermediate_size": 8},
        },
    ),
    "Zamba": decoder(
        "Zamba",
        {
            **{**SMALL, "num_hidden_layers": 4, "attn_layer_period": 2, "attn_layer_offset": 1},
            **{"use_mamba_kernels": False, "mamba_d_state": 4, "n_mamba_heads": 2},
            **{"num_key_value_heads": 4, "layers_block_type": ["mamba", "hybrid"] * 2},
        },
    ),
    "Zamba-2": decoder(
        "Zamba2",
        {
            **{**SMALL, "num_hidden_layers": 4, "num_key_value_heads": 4, "mamba_d_state": 4},
            **{"mamba_ngroups": 1, "n_mamba_heads": 4, "mamba_headdim": 8, "num_mem_blocks": 1},
            **{"use_mem_rope": True, "layers_block_type": ["mamba", "hybrid"] * 2},
            "hybrid_layer_ids": [1, 3],
        },
    ),
    "Nemotron-H": decoder(
        "NemotronH",
        {
            **{**GROUPED, "num_hidden_layers": 4, "mamba_num_heads": 4, "mamba_head_dim": 8},
            **{"layers_block_type": ["mamba", "attention", "moe", "attention"]},
            **{"ssm_state_size": 4, "n_groups": 1},
        },
    ),
    "RecurrentGemma": decoder(
        "RecurrentGemma",
        {
            **{**GROUPED, "num_hidden_layers": 3, "lru_width": 16, "attention_window_size": 4},
            "block_types": ["recurrent", "recurrent", "attention"],
        },
    ),
    "LFM2-MoE": decoder(
        "Lfm2Moe", {**EXPERTS, "layer_types": ["conv", "full_attention"], "num_dense_layers": 1}
    ),
    "OLMo hybrid": decoder(
        "OlmoHybrid",
        {**SMALL, "layer_types": ["linear_attention", "full_attention"]},
        "linear attention has no weights",
    ),
    "MiniMax": decoder("MiniMax", LINEAR_FIRST, "linear attention has no weights", says="other"),
    "Kimi Linear": decoder(
        "KimiLinear",
        {**DEEPSEEK, "layer_types": ["linear_attention", "full_attention"]},
        "linear attention has no weights",
    ),
    "Qwen3-Next": decoder("Qwen3Next", LINEAR_FIRST, WITH_LINEAR),
    "Qwen3.5": Family("Qwen3_5ForCausalLM", "Qwen3_5TextConfig", LINEAR_FIRST, text, WITH_LINEAR),
    "Mamba-2": decoder("Mamba2", {**STATES, "num_heads": 4, "head_dim": 8, "n_groups": 1}),
    "FalconMamba": decoder("FalconMamba", STATES),
    "RWKV": Family("RwkvForCausalLM", "RwkvConfig", {**STATES, "context_length": 40}, tokens),
}
ENCODERS = {
    "DeBERTa": encoder(
        "Deberta", {**SMALL, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
    ),
    "data2vec, text": encoder("Data2VecText", SMALL),
    "ERNIE": encoder("Ernie", SMALL),
    "ESM": encoder("Esm", {**SMALL, "position_embedding_type": "rotary", "mask_token_id": 4}),
    "ESM-C": encoder("Esmc", {**SMALL, "d_model": 16, "n_heads": 4, "n_layers": 2}),
    "FlauBERT": Family(
        "FlaubertWithLMHeadModel",
        "FlaubertConfig",
        {"vocab_size": 50, "emb_dim": 16, "n_layers": 2, "n_heads": 4},
        text,
    ),
    "Funnel": encoder(
        "Funnel",
        {
            **{"vocab_size": 50, "d_model": 16, "n_head": 4, "d_head": 4, "d_inner": 20},
            **{"block_sizes": [1, 1], "num_decoder_layers": 1},
        },
        "`cross` is a layer of its encoder whose queries are pooled",
        says="other",
    ),
    "I-BERT": encoder("IBert", SMALL),
    "LiLT": plain(
        "Lilt",
        {**SMALL, "hidden_size": 24, "channel_shrink_ratio": 2},
        placed,
        "one map of layout and one of text; W_O: found for the text's",
        says="other",
    ),
    "LUKE": encoder("Luke", {**SMALL, "entity_vocab_size": 20, "entity_emb_size": 8}),
    "LUKE with entities": plain(
        "Luke",
        {**SMALL, "entity_vocab_size": 20, "entity_emb_size": 8},
        lambda: {
            **{**text(), "entity_ids": torch.tensor([[3, 4]])},
            "entity_attention_mask": torch.ones(1, 2, dtype=torch.long),
            "entity_position_ids": torch.tensor([[[1, 2], [3, 4]]]),
        },
        "two entities stand after the tokens, so it has a name of its own",
    ),
    "MarkupLM": plain("MarkupLM", {**SMALL, "max_depth": 3}, text),
    "MobileBERT": encoder(
        "MobileBert",
        {
            **{**SMALL, "embedding_size": 8, "intra_bottleneck_size": 8},
            "num_feedforward_networks": 2,
        },
    ),
    "RemBERT": encoder("RemBert", {**SMALL, "input_embedding_size": 8, "output_embedding_size": 8}),
    "RoBERTa-PreLayerNorm": encoder("RobertaPreLayerNorm", SMALL),
    "RoCBert": encoder(
        "RoCBert",
        {
            **{**SMALL, "shape_vocab_size": 20, "pronunciation_vocab_size": 20},
            **{"shape_embed_dim": 8, "pronunciation_embed_dim": 8},
        },
    ),
    "SqueezeBERT": encoder(
        "SqueezeBert",
        {**SMALL, "embedding_size": 16},
        "W_O: a convolution",
        says="scores",
    ),
    "TAPAS": encoder("Tapas", SMALL),
    "XLM-RoBERTa-XL": encoder("XLMRobertaXL", SMALL),
    "X-MOD": encoder("Xmod", {**SMALL, "languages": ["en"], "default_language": "en"}),
    "NomicBERT": encoder("NomicBert", SMALL),
    "EuroBERT": encoder("EuroBert", GROUPED),
    "Jina embeddings": encoder("JinaEmbeddingsV3", SMALL),
    "Splinter": plain("Splinter", SMALL, text),
    "BROS": plain(
        "Bros",
        {**SMALL, "hidden_size": 64, "dim_bbox": 8, "bbox_scale": 1.0},
        lambda: {**text(), "bbox": torch.zeros(1, 9, 8)},
    ),
    "LayoutLMv3": plain(
        "LayoutLMv3",
        {
            **{**SMALL, "input_size": 12, "patch_size": 4, "coordinate_size": 2},
            **{"shape_size": 4, "max_2d_position_embeddings": 40, "visual_embed": False},
        },
        placed,
    ),
    "ConvBERT": encoder(
        "ConvBert",
        {**SMALL, "embedding_size": 16, "head_ratio": 2, "conv_kernel_size": 3},
        "W_O: it meets a convolution beside the heads",
    ),
    "CANINE": plain(
        "Canine",
        {
            **{**SMALL, "num_hash_buckets": 20, "num_hash_functions": 4},
            **{"local_transformer_stride": 4, "downsampling_rate": 2},
        },
        text,
        says="other",
    ),
    "Nyströmformer": encoder(
        "Nystromformer",
        {**SMALL, "segment_means_seq_len": 9, "num_landmarks": 3, "conv_kernel_size": 3},
        "its three factors by way of landmarks, not their product; W_O: a convolution is added",
        says="other",
    ),
    "BigBird, sparse": Family(
        "BigBirdForMaskedLM",
        "BigBirdConfig",
        {
            **{**SMALL, "attention_type": "block_sparse", "block_size": 2},
            **{"num_random_blocks": 1, "max_position_embeddings": 80},
        },
        lambda: {"input_ids": ids(32)},
    ),
    "MRA": encoder("Mra", SMALL),
    "YOSO": encoder("Yoso", {**SMALL, "use_expectation": True}),
    "Reformer": Family(
        "ReformerModelWithLMHead",
        "ReformerConfig",
        {
            **{"vocab_size": 50, "hidden_size": 16, "num_attention_heads": 4},
            **{"attention_head_size": 4, "feed_forward_size": 20, "is_decoder": True},
            **{"attn_layers": ["local", "local"], "axial_pos_embds": False},
            **{"max_position_embeddings": 40, "local_attn_chunk_length": 4},
        },
        tokens,
    ),
    "Perceiver": Family(
        "PerceiverForMaskedLM",
        "PerceiverConfig",
        {
            **{"vocab_size": 50, "d_model": 16, "d_latents": 16, "num_latents": 5},
            **{"num_blocks": 1, "num_self_attends_per_block": 2, "qk_channels": 16},
            **{"num_self_attention_heads": 4, "num_cross_attention_heads": 4},
            **{"max_position_embeddings": 9, "v_channels": 16},
        },
        lambda: {"inputs": ids(), "attention_mask": torch.ones(1, 9)},
        "`encoder_self` is that of its latents",
        says="other",
    ),
}
VIT = {
    **{"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"intermediate_size": 20, "image_size": 12, "patch_size": 4},
}
SWIN = {
    **{"image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2, 1]},
    **{"num_heads": [2, 4], "window_size": 4},
}
DETR = {
    **{**LAYERS, "use_timm_backbone": False, "num_queries": 5},
    "backbone_config": (
        "ResNetConfig",
        {
            **{"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]},
            "out_features": ["stage2"],
        },
    ),
}
PYRAMID: dict[str, Any] = {
    **{"image_size": 32, "depths": [1] * 4, "hidden_sizes": [8, 8, 16, 16]},
    **{"strides": [4, 2, 2, 2], "num_attention_heads": [1, 2, 2, 4], "mlp_ratios": [2] * 4},
}
GROUPS = {
    **{**VIT, "depths": [1, 1], "num_group_tokens": [4, 0], "num_output_groups": [3, 0]},
}
VIDEO = {**VIT, "num_frames": 2}
PROJECTED = {"text_config": SMALL, "vision_config": VIT, "projection_dim": 8}
ROTARY_3D = {"rope_type": "default", "mrope_section": [1, 1, 0], "rope_theta": 10000.0}
QWEN_VL = {
    "text_config": {**GROUPED, "rope_parameters": ROTARY_3D},
    **{"image_token_id": 49, "vision_start_token_id": 48, "vision_end_token_id": 47},
    "video_token_id": 46,
}
PATCHES = {"num_heads": 4, "patch_size": 4, "spatial_merge_size": 2, "temporal_patch_size": 2}
STAGES = "a layer each: their sizes differ"


def with_patches(size: int) -> dict[str, torch.Tensor]:
    """An image of size * size patches between words, as Qwen-VL reads it."""
    n_tokens = size * size // 4
    return {
        "input_ids": torch.tensor([[5, 48, *[49] * n_tokens, 47, 8]]),
        "attention_mask": torch.ones(1, n_tokens + 4, dtype=torch.long),
        "mm_token_type_ids": torch.tensor([[0, 0, *[1] * n_tokens, 0, 0]]),
        "pixel_values": noise(size * size, 96)[0],
        "image_grid_thw": torch.tensor([[1, size, size]]),
    }


IMAGES = {
    "ViT": plain("ViT", VIT, image()),
    "DeiT": plain("DeiT", VIT, image()),
    "BEiT": plain("Beit", VIT, image()),
    "data2vec, images": plain("Data2VecVision", VIT, image()),
    "DINOv2": plain("Dinov2", VIT, image()),
    "DINOv3": plain("DINOv3ViT", VIT, image()),
    "ViT-MAE": plain("ViTMAE", {**VIT, "mask_ratio": 0.0}, image(), "patches in a random order"),
    "ViT-MSN": plain("ViTMSN", VIT, image()),
    "I-JEPA": plain("IJepa", VIT, image()),
    "YOLOS": plain("Yolos", {**VIT, "image_size": [12, 12], "num_detection_tokens": 3}, image()),
    "DPT": plain(
        "DPT",
        {**VIT, "backbone_out_indices": [0, 1], "neck_hidden_sizes": [8, 8], "is_hybrid": False},
        image(),
    ),
    "Pixtral": Family("PixtralVisionModel", "PixtralVisionConfig", VIT, image()),
    "AIMv2": Family("Aimv2VisionModel", "Aimv2VisionConfig", VIT, image(), says="other"),
    "VideoMAE": plain("VideoMAE", {**VIDEO, "tubelet_size": 2}, frames),
    "ViViT": plain("Vivit", {**VIDEO, "tubelet_size": [2, 4, 4]}, frames),
    "V-JEPA-2": plain(
        "VJEPA2",
        {
            **{"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2},
            **{"crop_size": 8, "patch_size": 4, "frames_per_clip": 2, "tubelet_size": 2},
            **{"pred_hidden_size": 24, "pred_num_attention_heads": 2},
            **{"pred_num_hidden_layers": 1, "pred_num_mask_tokens": 1},
        },
        lambda: {"pixel_values_videos": noise(2, 3, 8, 8)},
        says="other",
    ),
    "DETR": plain("Detr", DETR, image(32), "`decoder_self` is that of its object queries"),
    "Table Transformer": plain(
        "TableTransformer", DETR, image(32), "`decoder_self` is that of its object queries"
    ),
    "SegFormer": plain(
        "Segformer",
        {
            **{"num_encoder_blocks": 2, "depths": [1, 1], "sr_ratios": [2, 1]},
            **{"hidden_sizes": [8, 16], "patch_sizes": [3, 3], "strides": [2, 2]},
            **{"num_attention_heads": [2, 4], "mlp_ratios": [2, 2]},
        },
        image(16),
        STAGES,
        says="other",
    ),
    "PVT": plain(
        "Pvt",
        {**PYRAMID, "sequence_reduction_ratios": [2, 2, 1, 1], "patch_sizes": [4, 2, 2, 2]},
        image(32),
        STAGES,
        says="other",
    ),
    "PVT-v2": plain(
        "PvtV2",
        {**PYRAMID, "sr_ratios": [2, 2, 1, 1], "patch_sizes": [7, 3, 3, 3]},
        image(32),
        STAGES,
        says="other",
    ),
    "LeViT": plain(
        "Levit",
        {
            **{"image_size": 64, "hidden_sizes": [16, 24, 32], "depths": [1, 1, 1]},
            **{"num_attention_heads": [2, 3, 4], "key_dim": [4] * 3, "mlp_ratio": [2] * 3},
            "attention_ratio": [2] * 3,
        },
        image(64),
        STAGES,
        says="other",
    ),
    "ViTDet": plain(
        "VitDet", {**VIT, "window_size": 2, "window_block_indices": [0]}, image(), says="other"
    ),
    "SAM": Family(
        "SamVisionModel",
        "SamVisionConfig",
        {
            **{**VIT, "image_size": 16, "mlp_dim": 20, "output_channels": 8, "window_size": 2},
            **{"global_attn_indexes": [1], "initializer_range": 0.02},
        },
        image(16),
        says="other",
    ),
    "Swin": plain("Swin", SWIN, image(16), says="other"),
    "Swin-v2": plain("Swinv2", SWIN, image(16), says="other"),
    "Donut, Swin": plain("DonutSwin", SWIN, image(16), says="other"),
    "Swin2SR": plain(
        "Swin2SR",
        {
            **{"image_size": 8, "patch_size": 1, "embed_dim": 8, "depths": [1, 1]},
            **{"num_heads": [2, 2], "window_size": 4, "mlp_ratio": 2.0},
        },
        image(8),
    ),
    "Hiera": plain(
        "Hiera",
        {
            **{"image_size": [16, 16], "patch_size": [3, 3], "patch_stride": [2, 2]},
            **{"patch_padding": [1, 1], "embed_dim": 8, "depths": [1, 1], "num_heads": [2, 4]},
            **{"masked_unit_size": [2, 2], "query_stride": [2, 2], "num_query_pool": 1},
        },
        image(16),
    ),
    "MobileViT": plain(
        "MobileViT",
        {
            **{"image_size": 32, "hidden_sizes": [12, 16, 20], "num_attention_heads": 4},
            "neck_hidden_sizes": [4, 4, 8, 8, 8, 8, 16],
        },
        image(32),
    ),
    "TimeSformer": plain("Timesformer", VIDEO, frames),
    "PoolFormer": plain(
        "PoolFormer",
        {
            **{"hidden_sizes": [8, 8], "depths": [1, 1], "num_encoder_blocks": 2},
            **{"patch_sizes": [7, 3], "strides": [4, 2], "padding": [2, 1]},
        },
        image(32),
    ),
    "Florence-2, images": Family(
        "Florence2VisionBackbone",
        "Florence2VisionConfig",
        {
            **{"embed_dim": [8, 8], "depths": [1, 1], "num_heads": [2, 2], "num_groups": [2, 2]},
            **{"patch_size": [3, 3], "patch_stride": [2, 2], "patch_padding": [1, 1]},
            **{"patch_prenorm": [False, True], "window_size": 4},
        },
        lambda: {"hidden_states": noise(3, 16, 16)},
        "`channel_block` is attention from channels to channels, whose W_O is not found",
        says="other",
    ),
    "GroupViT, images": Family(
        "GroupViTVisionModel",
        "GroupViTVisionConfig",
        GROUPS,
        image(),
        "`cross`: group tokens read patches",
        says="other",
    ),
    "CLIP": plain("CLIP", PROJECTED, captioned, "its text tower is causal", says="other"),
    "OWL-ViT": plain("OwlViT", PROJECTED, captioned, "its text tower is causal", says="other"),
    "AltCLIP": plain(
        "AltCLIP",
        {**PROJECTED, "text_config": {**SMALL, "project_dim": 8}},
        captioned,
        says="other",
    ),
    "SigLIP": plain(
        "Siglip", {"text_config": SMALL, "vision_config": VIT}, captioned, says="other"
    ),
    "SigLIP-2, text": Family("Siglip2TextModel", "Siglip2TextConfig", SMALL, tokens),
    "ViLT": plain("Vilt", {**SMALL, **VIT}, captioned, "patches in a random order"),
    "VisualBERT": plain(
        "VisualBert",
        {**SMALL, "visual_embedding_dim": 8},
        lambda: {
            **{**text(), "visual_embeds": noise(4, 8)},
            "visual_attention_mask": torch.ones(1, 4),
        },
    ),
    "LXMERT": plain(
        "Lxmert",
        {
            **{**SMALL, "l_layers": 1, "x_layers": 1, "r_layers": 1, "visual_feat_dim": 8},
        },
        lambda: {**text(), "visual_feats": noise(5, 8), "visual_pos": noise(5, 4)},
        "`layer` is of text, `r_layers` of regions, `x_layers` of what reads both",
        says="other",
    ),
    "BLIP": translator(
        "Blip",
        {
            **PROJECTED,
            "text_config": {**SMALL, "encoder_hidden_size": 16, "projection_dim": 8},
        },
        captioned,
        says="other",
    ),
    "GIT": plain("Git", {**SMALL, "vision_config": VIT}, captioned, says="other"),
    "ViT to GPT-2": Family(
        "VisionEncoderDecoderModel",
        "VisionEncoderDecoderConfig",
        {
            "encoder": {**VIT, "model_type": "vit"},
            "decoder": {**GPT2, "model_type": "gpt2", "add_cross_attention": True},
        },
        lambda: {**image()(), "decoder_input_ids": ids(6)},
    ),
    "Pix2Struct": translator(
        "Pix2Struct",
        {
            "text_config": {
                **{**SIZES, "hidden_size": 16, "d_kv": 4, "decoder_start_token_id": 0},
            },
            "vision_config": {
                **{**VIT, "patch_embed_hidden_size": 8, "d_ff": 20, "d_kv": 4, "seq_len": 10},
            },
        },
        lambda: {"flattened_patches": noise(10, 10).abs(), "decoder_input_ids": ids(6)},
        scale=1,
    ),
    "LLaVA": translator(
        "Llava",
        {
            "vision_config": ("CLIPVisionConfig", VIT),
            "text_config": ("LlamaConfig", GROUPED),
            **{"image_token_index": 49, "vision_feature_select_strategy": "default"},
        },
        lambda: {"input_ids": torch.tensor([[5, 6, *[49] * 9, 7, 8]]), **image()()},
        says="other",
    ),
    "PaliGemma": translator(
        "PaliGemma",
        {
            "vision_config": {**VIT, "model_type": "siglip_vision_model"},
            "text_config": {**GROUPED, "model_type": "gemma"},
            **{"image_token_index": 49, "projection_dim": 16, "hidden_size": 16},
        },
        lambda: {
            "input_ids": torch.tensor([[49] * 9 + [7, 8, 9]]),
            "token_type_ids": torch.tensor([[0] * 9 + [1] * 3]),
            **image()(),
        },
        "its prompt is read both ways, so `language_model` has a name of its own",
        says="other",
    ),
    "Qwen2-VL": translator(
        "Qwen2VL",
        {
            **QWEN_VL,
            "vision_config": {
                **{**PATCHES, "depth": 2, "embed_dim": 16, "hidden_size": 16, "mlp_ratio": 2},
            },
        },
        lambda: with_patches(4),
        says="other",
    ),
    "Qwen2.5-VL": translator(
        "Qwen2_5_VL",
        {
            **QWEN_VL,
            "vision_config": {
                **{**PATCHES, "depth": 2, "out_hidden_size": 16, "hidden_size": 16},
                **{"intermediate_size": 20, "window_size": 16, "fullatt_block_indexes": [1]},
            },
        },
        lambda: with_patches(8),
        says="other",
    ),
    "Kosmos-2": plain(
        "Kosmos2",
        {
            "text_config": {
                **{"vocab_size": 50, "embed_dim": 16, "layers": 2, "ffn_dim": 20},
                **{"attention_heads": 4, "max_position_embeddings": 40},
            },
            **{"vision_config": VIT, "latent_query_num": 3},
        },
        lambda: {
            **{**tokens(), **image()()},
            "image_embeds_position_mask": torch.tensor([[0, 1, 1, 1, 0, 0, 0, 0, 0]]),
        },
        "`cross`: a few queries read the image",
        says="other",
    ),
}
SOUND = {
    **{**SMALL, "conv_dim": [8, 8], "conv_stride": [5, 4], "conv_kernel": [10, 8]},
    **{"num_feat_extract_layers": 2, "num_conv_pos_embeddings": 8},
    **{"num_conv_pos_embedding_groups": 2, "conv_depthwise_kernel_size": 3},
}
SPEECH = {**ENCODER_DECODER, "max_source_positions": 40, "max_target_positions": 20}
TIMES = {
    **{**LAYERS, "prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2]},
    "num_time_features": 1,
}
SOUNDS = {
    "Wav2Vec2": plain("Wav2Vec2", SOUND, sound),
    "Wav2Vec2-Conformer": plain(
        "Wav2Vec2Conformer", {**SOUND, "position_embeddings_type": "relative"}, sound
    ),
    "Wav2Vec2-BERT": plain(
        "Wav2Vec2Bert",
        {**SMALL, "feature_projection_input_dim": 8, "conv_depthwise_kernel_size": 3},
        lambda: {"input_features": noise(9, 8)},
    ),
    "HuBERT": plain("Hubert", SOUND, sound),
    "WavLM": plain("WavLM", SOUND, sound, says="other"),
    "UniSpeech": plain("UniSpeech", SOUND, sound),
    "UniSpeech-SAT": plain("UniSpeechSat", SOUND, sound),
    "data2vec, sound": plain("Data2VecAudio", {**SOUND, "conv_pos_kernel_size": 3}, sound),
    "SEW": plain("SEW", SOUND, sound),
    "SEW-D": plain("SEWD", SOUND, sound),
    "AST": plain(
        "AST",
        {
            **{**VIT, "max_length": 16, "num_mel_bins": 8, "frequency_stride": 4},
            "time_stride": 4,
        },
        lambda: {"input_values": noise(16, 8)},
    ),
    "CLAP, sound": Family(
        "ClapAudioModel",
        "ClapAudioConfig",
        {
            **{"spec_size": 16, "patch_size": 4, "patch_stride": [4, 4], "num_mel_bins": 8},
            **{"window_size": 2, "patch_embeds_hidden_size": 8, "depths": [1, 1]},
            **{"num_attention_heads": [2, 2], "hidden_size": 16},
        },
        lambda: {
            "input_features": noise(1, 32, 8),
            "is_longer": torch.zeros(1, 1, dtype=torch.bool),
        },
        says="other",
    ),
    "Parakeet": Family(
        "ParakeetEncoder",
        "ParakeetEncoderConfig",
        {**SMALL, "num_mel_bins": 16, "subsampling_conv_channels": 8, "conv_kernel_size": 3},
        lambda: {"input_features": noise(48, 16)},
    ),
    "Mimi": plain(
        "Mimi",
        {
            **{**GROUPED, "num_filters": 4, "upsampling_ratios": [4, 2], "codebook_size": 8},
            **{"codebook_dim": 8, "vector_quantization_hidden_dimension": 8},
            **{"num_quantizers": 2, "num_semantic_quantizers": 1, "upsample_groups": 4},
            **{"frame_rate": 12.5, "sampling_rate": 200},
        },
        lambda: {"input_values": noise(1, 400)},
        "two causal stacks, named by what they are part of",
        says="other",
    ),
    "Whisper": translator(
        "Whisper",
        {**SPEECH, "num_mel_bins": 8, "max_source_positions": 10},
        lambda: {"input_features": noise(8, 20), "decoder_input_ids": ids(6)},
    ),
    "Speech2Text": translator(
        "Speech2Text",
        {**SPEECH, "input_feat_per_channel": 8, "conv_channels": 8},
        lambda: {"input_features": noise(24, 8), "decoder_input_ids": ids(6)},
    ),
    "SpeechT5": Family(
        "SpeechT5ForSpeechToText",
        "SpeechT5Config",
        {**SOUND, **LAYERS},
        lambda: {**sound(), "decoder_input_ids": ids(6)},
    ),
    "Moonshine": translator(
        "Moonshine",
        {
            **{"vocab_size": 50, "hidden_size": 16, "intermediate_size": 20},
            **{"encoder_num_hidden_layers": 2, "decoder_num_hidden_layers": 2},
            **{"encoder_num_attention_heads": 4, "decoder_num_attention_heads": 4},
        },
        lambda: {"input_values": noise(2000), "decoder_input_ids": ids(6)},
    ),
    "VITS": plain(
        "Vits",
        {
            **{**SMALL, "ffn_dim": 20, "flow_size": 16, "spectrogram_bins": 9},
            **{"upsample_initial_channel": 16, "upsample_rates": [2]},
            **{"upsample_kernel_sizes": [4], "resblock_kernel_sizes": [3]},
            **{"resblock_dilation_sizes": [[1]], "prior_encoder_num_flows": 1},
            **{"posterior_encoder_num_wavenet_layers": 1, "duration_predictor_num_flows": 1},
            **{"prior_encoder_num_wavenet_layers": 1, "depth_separable_num_layers": 1},
            "use_stochastic_duration_prediction": False,
        },
        tokens,
        scale=1,
    ),
}
SERIES = {
    "PatchTST": plain(
        "PatchTST",
        {
            **{"num_input_channels": 1, "context_length": 32, "patch_length": 4},
            **{"patch_stride": 4, "d_model": 16, "num_hidden_layers": 2, "ffn_dim": 20},
            "num_attention_heads": 4,
        },
        lambda: {"past_values": noise(32, 1)},
    ),
    "TimesFM": Family(
        "TimesFmModelForPrediction",
        "TimesFmConfig",
        {
            **{**SMALL, "patch_length": 4, "context_length": 32, "horizon_length": 4},
            "head_dim": 4,
        },
        lambda: {"past_values": noise(32)},
    ),
    "Time Series Transformer": plain("TimeSeriesTransformer", TIMES, series),
    "Informer": plain("Informer", TIMES, series, says="other"),
    "Autoformer": plain("Autoformer", {**TIMES, "label_length": 2}, series),
}

MORE: dict[str, Family] = {
    **{**TRANSLATORS, **DECODERS, **EXPERT_DECODERS, **HYBRIDS, **ENCODERS, **IMAGES},
    **{**SOUNDS, **SERIES},
}
"""Name in the documents -> family."""
FEW = {
    **{"characters in blocks": "CANINE", "a difference of two softmaxes": "DiffLlama"},
    **{"an encoder and a decoder of other families": "ViT to GPT-2", "few bits": "BitNet"},
    **{"two vocabularies": "FSMT", "blocks, and tokens that see all": "Pegasus-X"},
    **{"several models in one": "Bark", "buckets": "Reformer", "keys of blocks": "DeepSeek-V4"},
    **{"states and attention in turn": "GraniteMoE hybrid", "two streams": "ProphetNet"},
    **{"a bias of segments": "CPM-Ant", "states that are no tokens": "Perceiver"},
    **{"relative keys and values": "VITS", "two flows of one text": "LiLT"},
    **{"no words": "Decision Transformer", "words and sounds": "SeamlessM4T"},
    **{"pixels": "ImageGPT", "a sound that is written": "Whisper", "a sound": "HuBERT"},
    **{"words and pictures on one side": "T5Gemma-2", "words and a picture": "PaliGemma"},
    **{"pooling": "PoolFormer", "hashes in the place of a softmax": "YOSO"},
    **{"linear attention with gates": "Qwen3-Next", "recurrence and windows": "RecurrentGemma"},
    **{"landmarks": "Nyströmformer", "convolutions in the place of matrices": "SqueezeBERT"},
    **{"sinusoids from elsewhere": "XGLM", "a text of amino acids": "ESM-C"},
}
"""What differs in what comes of a folder -> the family that shows it."""
