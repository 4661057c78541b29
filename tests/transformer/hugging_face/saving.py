"""Folders that tests save: a small model, and a vocabulary of words."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

WORDS = ["<pad>", "<s>", "</s>", "<unk>", "the", "cat", "sat", "dog", "ran", "."]
MARIAN = {
    **{"vocab_size": 64, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 32},
    **{"decoder_ffn_dim": 32, "max_position_embeddings": 60, "decoder_start_token_id": 3},
    **{"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "forced_eos_token_id": None},
    **{"init_std": 0.5},
}
T5 = {
    **{"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 4},
    **{"decoder_start_token_id": 3, "pad_token_id": 0, "eos_token_id": 2},
}
LLAMA = {
    **{"vocab_size": 64, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 200},
    **{"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.5},
}
GPT2 = {
    **{"vocab_size": 64, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 60},
    **{"bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.5},
}
WRITERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Marian": ("MarianMTModel", "MarianConfig", MARIAN),
    "BART": ("BartForConditionalGeneration", "BartConfig", MARIAN),
    "T5": ("T5ForConditionalGeneration", "T5Config", T5),
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "Llama": ("LlamaForCausalLM", "LlamaConfig", LLAMA),
}
"""Family -> class, configuration, sizes: each has a vocabulary of 64.

What is followed of a folder is the same code for all of them, but that two write after a prompt.
"""


def saver(make: Callable[[str], Any], above: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Where the model that `make` gives of a family is saved; each once."""

    @cache
    def folder(family: str) -> Path:
        saved = above.mktemp("saved") / "model"
        make(family).save_pretrained(saved)
        return saved

    return folder


def writer(family: str, seed: int = 0, **values: Any) -> Any:
    """A small model whose weights are large enough that it writes something."""
    import transformers

    name, of_config, sizes = WRITERS[family]
    torch.manual_seed(seed)
    config = getattr(transformers, of_config)(**{**sizes, **values})
    model = getattr(transformers, name)._from_config(config).eval()
    if family == "T5":
        for parameter in model.parameters():
            parameter.data.mul_(3)
    return model


def save_tokenizer(folder: Path, size: int = 64, **named: Any) -> None:
    """One piece a word; what is not among them is <unk>."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = [*WORDS, *(f"w{i}" for i in range(size - len(WORDS)))]
    inner = Tokenizer(
        models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    usual = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    fast: Any = PreTrainedTokenizerFast
    fast(tokenizer_object=inner, **{**usual, **named}).save_pretrained(folder)


def save(model: Any, folder: Path) -> Path:
    """The model with the vocabulary."""
    model.save_pretrained(folder)
    save_tokenizer(folder)
    return folder


def generated(model: Any, ids: list[int], n: int, **options: Any) -> list[int]:
    """What the library writes after a source or a prompt: without what it starts with."""
    told = {"num_beams": 1, "do_sample": False, "max_new_tokens": n} | options
    with torch.no_grad():
        written = model.generate(torch.tensor([ids]), **told)[0].tolist()
    return written[1 if model.config.is_encoder_decoder else len(ids) :]
