"""Small models of many Hugging Face families, built from their configurations: no download."""

import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

SOURCE, TARGET = 9, 6
ENCODER_DECODER = {
    **{"vocab_size": 50, "d_model": 16, "encoder_layers": 2, "decoder_layers": 2},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 20},
    **{"decoder_ffn_dim": 20, "max_position_embeddings": 40, "pad_token_id": 1},
    **{"bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2},
}
SMALL = {
    **{"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"intermediate_size": 20, "max_position_embeddings": 40, "pad_token_id": 1},
    **{"bos_token_id": 0, "eos_token_id": 2},
}
GROUPED = {**SMALL, "num_key_value_heads": 2, "head_dim": 4}
T5 = {
    **{"vocab_size": 50, "d_model": 16, "d_kv": 4, "d_ff": 20, "num_layers": 2, "num_heads": 4},
    **{"decoder_start_token_id": 0},
}
GPT2 = {"vocab_size": 50, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40}
_MODERN = {**SMALL, "local_attention": 4, "global_attn_every_n_layers": 2, "cls_token_id": 3}
_NEO = {
    **{"vocab_size": 50, "hidden_size": 16, "num_layers": 2, "num_heads": 4, "window_size": 4},
    **{"attention_types": [[["global", "local"], 1]], "max_position_embeddings": 40},
}
DEEPSEEK = {
    **{**SMALL, "num_key_value_heads": 4, "moe_intermediate_size": 8, "n_routed_experts": 4},
    **{"n_group": 1, "topk_group": 1, "num_experts_per_tok": 2, "first_k_dense_replace": 1},
    **{"q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 4},
    **{"v_head_dim": 6},
}
_JAMBA = {
    **{**GROUPED, "attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    **{"mamba_d_state": 4, "num_experts": 2},
}
_LONG = {**SMALL, "attention_window": [4, 4], "sep_token_id": 2}
_FULL = "original_full"
_DISTIL = {"vocab_size": 50, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 20}

FAMILIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Marian": ("MarianMTModel", "MarianConfig", ENCODER_DECODER),
    "BART": ("BartForConditionalGeneration", "BartConfig", ENCODER_DECODER),
    "mBART": ("MBartForConditionalGeneration", "MBartConfig", ENCODER_DECODER),
    "M2M100": ("M2M100ForConditionalGeneration", "M2M100Config", ENCODER_DECODER),
    "Pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", ENCODER_DECODER),
    "T5": ("T5ForConditionalGeneration", "T5Config", T5),
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "GPT-J": ("GPTJForCausalLM", "GPTJConfig", {**GPT2, "rotary_dim": 4}),
    "GPT-NeoX": ("GPTNeoXForCausalLM", "GPTNeoXConfig", SMALL),
    "BLOOM": (
        "BloomForCausalLM",
        "BloomConfig",
        {"vocab_size": 50, "hidden_size": 16, "n_layer": 2, "n_head": 4},
    ),
    "OPT": ("OPTForCausalLM", "OPTConfig", {**SMALL, "ffn_dim": 20, "word_embed_proj_dim": 16}),
    "Llama": ("LlamaForCausalLM", "LlamaConfig", GROUPED),
    "Mistral": ("MistralForCausalLM", "MistralConfig", {**GROUPED, "sliding_window": 4}),
    "Qwen2": ("Qwen2ForCausalLM", "Qwen2Config", GROUPED),
    "Qwen3": ("Qwen3ForCausalLM", "Qwen3Config", GROUPED),
    "Phi-3": ("Phi3ForCausalLM", "Phi3Config", GROUPED),
    "Gemma": ("GemmaForCausalLM", "GemmaConfig", GROUPED),
    "Gemma-2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        {**GROUPED, "sliding_window": 4, "attn_logit_softcapping": 2.0},
    ),
    "gpt-oss": (
        "GptOssForCausalLM",
        "GptOssConfig",
        {**GROUPED, "sliding_window": 4, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "Mixtral": ("MixtralForCausalLM", "MixtralConfig", {**GROUPED, "num_local_experts": 4}),
    "BERT": ("BertForMaskedLM", "BertConfig", SMALL),
    "RoBERTa": ("RobertaForMaskedLM", "RobertaConfig", SMALL),
    "DistilBERT": ("DistilBertForMaskedLM", "DistilBertConfig", _DISTIL),
    "ELECTRA": ("ElectraForMaskedLM", "ElectraConfig", {**SMALL, "embedding_size": 16}),
    "ALBERT": ("AlbertForMaskedLM", "AlbertConfig", {**SMALL, "embedding_size": 16}),
    "ModernBERT": ("ModernBertForMaskedLM", "ModernBertConfig", _MODERN),
    "DeBERTa-v2": (
        "DebertaV2ForMaskedLM",
        "DebertaV2Config",
        {**SMALL, "relative_attention": True},
    ),
    "MPNet": ("MPNetForMaskedLM", "MPNetConfig", SMALL),
    "BigBird": ("BigBirdForMaskedLM", "BigBirdConfig", {**SMALL, "attention_type": _FULL}),
    "XLNet": (
        "XLNetLMHeadModel",
        "XLNetConfig",
        {"vocab_size": 50, "d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 20},
    ),
    "Falcon": ("FalconForCausalLM", "FalconConfig", {**SMALL, "ffn_hidden_size": 20}),
    "MPT": (
        "MptForCausalLM",
        "MptConfig",
        {"vocab_size": 50, "d_model": 16, "n_layers": 2, "n_heads": 4, "max_seq_len": 40},
    ),
    "GPT-Neo": ("GPTNeoForCausalLM", "GPTNeoConfig", _NEO),
    "CodeGen": ("CodeGenForCausalLM", "CodeGenConfig", {**GPT2, "rotary_dim": 4}),
    "Gemma-3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {**GROUPED, "sliding_window": 4}),
    "DeepSeek-V3": ("DeepseekV3ForCausalLM", "DeepseekV3Config", DEEPSEEK),
    "UMT5": ("UMT5ForConditionalGeneration", "UMT5Config", T5),
    "Switch": (
        "SwitchTransformersForConditionalGeneration",
        "SwitchTransformersConfig",
        {**T5, "num_decoder_layers": 2, "num_experts": 2},
    ),
    "Blenderbot": ("BlenderbotForConditionalGeneration", "BlenderbotConfig", ENCODER_DECODER),
    "NLLB-MoE": (
        "NllbMoeForConditionalGeneration",
        "NllbMoeConfig",
        {**ENCODER_DECODER, "num_experts": 2, "expert_capacity": 4},
    ),
    "T5Gemma": (
        "T5GemmaForConditionalGeneration",
        "T5GemmaConfig",
        {"vocab_size": 50, "encoder": GROUPED, "decoder": GROUPED},
    ),
    "OpenAI GPT": ("OpenAIGPTLMHeadModel", "OpenAIGPTConfig", GPT2),
    "CTRL": ("CTRLLMHeadModel", "CTRLConfig", {**GPT2, "dff": 20}),
    "Cohere": ("CohereForCausalLM", "CohereConfig", SMALL),
    "Persimmon": ("PersimmonForCausalLM", "PersimmonConfig", SMALL),
    "StableLM": ("StableLmForCausalLM", "StableLmConfig", {**SMALL, "num_key_value_heads": 4}),
    "OLMo": ("OlmoForCausalLM", "OlmoConfig", SMALL),
    "StarCoder2": ("Starcoder2ForCausalLM", "Starcoder2Config", GROUPED),
    "Granite": ("GraniteForCausalLM", "GraniteConfig", GROUPED),
    "Jamba": ("JambaForCausalLM", "JambaConfig", _JAMBA),
    "LFM2": (
        "Lfm2ForCausalLM",
        "Lfm2Config",
        {**GROUPED, "layer_types": ["conv", "full_attention"]},
    ),
    "RoFormer": ("RoFormerForMaskedLM", "RoFormerConfig", {**SMALL, "embedding_size": 16}),
    "XLM": (
        "XLMWithLMHeadModel",
        "XLMConfig",
        {"vocab_size": 50, "emb_dim": 16, "n_layers": 2, "n_heads": 4},
    ),
    "CamemBERT": ("CamembertForMaskedLM", "CamembertConfig", SMALL),
    "XLM-RoBERTa": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", SMALL),
    "LayoutLM": ("LayoutLMForMaskedLM", "LayoutLMConfig", SMALL),
    "Megatron-BERT": ("MegatronBertForMaskedLM", "MegatronBertConfig", SMALL),
    "LongT5": ("LongT5ForConditionalGeneration", "LongT5Config", {**T5, "local_radius": 3}),
    "Longformer": ("LongformerForMaskedLM", "LongformerConfig", _LONG),
    "FNet": ("FNetForMaskedLM", "FNetConfig", SMALL),
    "Mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4},
    ),
}
"""Name in the documents -> model class, configuration class, configuration."""
FEW = {
    "an encoder and a decoder, sinusoids that are made anew": "Marian",
    "learned positions that begin elsewhere": "BART",
    "a relative bias": "T5",
    "one matrix for queries, keys and values": "GPT-2",
    "rotary positions, grouped heads": "Llama",
    "rotary positions in pairs": "GPT-J",
    "queries, keys and values in turn for each head": "GPT-NeoX",
    "a window": "Mistral",
    "scores that are capped": "Gemma-2",
    "slopes": "BLOOM",
    "experts": "Mixtral",
    "reads both ways": "BERT",
    "scores of content and of places": "DeBERTa-v2",
    "keys and values of a latent vector": "DeepSeek-V3",
    "two streams": "XLNet",
    "layers without attention": "Jamba",
    "a configuration for each side": "T5Gemma",
    "attention in blocks": "Longformer",
    "no attention": "FNet",
}
"""What differs in how attention is computed, or kept -> the family that shows it."""

KINDS: dict[str, Callable[[Any], Any]] = {
    "encoder_self": lambda out: out.get("encoder_attentions"),
    "decoder_self": lambda out: out.get("decoder_attentions"),
    "cross": lambda out: out.get("cross_attentions"),
}


REQUIRED = (
    *("Marian", "BART", "mBART", "T5", "M2M100", "GPT-2", "GPT-NeoX", "Llama", "Mistral"),
    *("Qwen2", "Gemma", "Gemma-2", "BERT", "RoBERTa", "DistilBERT", "ELECTRA", "ModernBERT"),
)
"""Families whose every kind must be seen."""


def build(family: str, attention: str | None = None) -> nn.Module:
    """attention: "eager", or None for what the family does by default."""
    import transformers

    name, of_config, values = FAMILIES[family]
    torch.manual_seed(0)
    config = getattr(transformers, of_config)(**values)
    more = {} if attention is None else {"attn_implementation": attention}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a family says of its defaults is its own affair
        model: nn.Module = getattr(transformers, name)._from_config(config, **more).eval()
    for parameter in model.parameters():
        if parameter.dim() > 1 and family not in (
            "T5",
            "UMT5",
        ):  # fresh ones make weights nearly even
            parameter.data.mul_(6)
    return model


def inputs_of(model: Any, padded: bool = False) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 50, (1, SOURCE), generator=generator)
    mask = torch.ones_like(ids)
    if padded:
        mask[:, -2:] = 0
    inputs = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.randint(5, 50, (1, TARGET), generator=generator)
    return inputs


def expected(model: Any, inputs: dict[str, torch.Tensor]) -> dict[str, tuple[torch.Tensor, ...]]:
    """kind -> weights [1, H, Q, K] of each layer, as the library itself gives them."""
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        output = model(**inputs, output_attentions=True)
    if model.config.is_encoder_decoder:
        return {kind: get(output) for kind, get in KINDS.items()}
    causal = ("CausalLM", "LMHeadModel")
    is_causal = type(model).__name__.endswith(causal) and "XL" not in type(model).__name__
    return {"decoder_self" if is_causal else "encoder_self": output.attentions}
