"""Small encoders of many families, with the library's own tokenizers, which join two texts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

NAMES = ["input_ids", "token_type_ids", "attention_mask"]
A, B = "the cat sat .", "a dog ran home ."
WORDS = ["the", "cat", "sat", ".", "a", "dog", "ran", "home"]
SIZES = {
    **{"vocab_size": 48, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4},
    **{"intermediate_size": 32, "max_position_embeddings": 48, "num_labels": 3},
    **{"initializer_range": 0.5},
}
BART = {
    **{"vocab_size": 48, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2},
    **{"encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 32},
    **{"decoder_ffn_dim": 32, "max_position_embeddings": 48, "num_labels": 3, "init_std": 0.5},
    **{"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2},
}
XLNET = {"vocab_size": 48, "d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 32}
FUNNEL = {
    **{"vocab_size": 48, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8},
    **{"d_inner": 32, "num_decoder_layers": 1, "num_labels": 3},
}
DISTIL = {"vocab_size": 48, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 32}
DISTIL |= {"num_labels": 3, "initializer_range": 0.5}
DEBERTA = {**SIZES, "relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
ROBERTA = {**SIZES, "max_position_embeddings": 50, "type_vocab_size": 1, "pad_token_id": 1}


def _pieces(name: str, *special: str) -> Callable[[], Any]:
    """WordPiece: special tokens, then the words."""

    def make() -> Any:
        import transformers

        vocab = {piece: i for i, piece in enumerate((*special, *WORDS))}
        return getattr(transformers, name)(vocab=vocab)

    return make


def _bytes(name: str, *special: str) -> Callable[[], Any]:
    """Byte-level pieces of one character each."""

    def make() -> Any:
        import transformers

        characters = sorted({*"".join(WORDS), "Ġ"})
        vocab = {piece: i for i, piece in enumerate((*special, *characters))}
        return getattr(transformers, name)(vocab=vocab, merges=[])

    return make


def _unigrams(name: str, *special: str) -> Callable[[], Any]:
    """Words of a unigram model, with ▁ for the space before them; its folder asks for segments."""

    def make() -> Any:
        import transformers

        pieces = [*special, *(f"▁{word}" for word in WORDS)]
        vocab = [(piece, -float(i)) for i, piece in enumerate(pieces)]
        return getattr(transformers, name)(vocab=vocab, model_input_names=NAMES)

    return make


BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
BPE = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
FAMILIES: dict[str, tuple[str, str, dict[str, Any], Callable[[], Any]]] = {
    "BERT": ("BertForSequenceClassification", "BertConfig", SIZES, _pieces("BertTokenizer", *BERT)),
    "BERT, next sentence": (
        "BertForNextSentencePrediction",
        "BertConfig",
        {**SIZES, "num_labels": 2},
        _pieces("BertTokenizer", *BERT),
    ),
    "RoBERTa": (
        "RobertaForSequenceClassification",
        "RobertaConfig",
        ROBERTA,
        _bytes("RobertaTokenizer", *BPE),
    ),
    "DeBERTa": (
        "DebertaForSequenceClassification",
        "DebertaConfig",
        {**DEBERTA, "type_vocab_size": 2},
        _bytes("DebertaTokenizer", "[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"),
    ),
    "DeBERTa-v2": (
        "DebertaV2ForSequenceClassification",
        "DebertaV2Config",
        {**DEBERTA, "type_vocab_size": 0},
        _unigrams("DebertaV2Tokenizer", "[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"),
    ),
    "ALBERT": (
        "AlbertForSequenceClassification",
        "AlbertConfig",
        {**SIZES, "embedding_size": 16},
        _unigrams("AlbertTokenizer", "<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"),
    ),
    "XLNet": (
        "XLNetForSequenceClassification",
        "XLNetConfig",
        {**XLNET, "num_labels": 3, "initializer_range": 0.5},
        _unigrams("XLNetTokenizer", "<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"),
    ),
    "ELECTRA": (
        "ElectraForSequenceClassification",
        "ElectraConfig",
        {**SIZES, "embedding_size": 16},
        _pieces("ElectraTokenizer", *BERT),
    ),
    "DistilBERT": (
        "DistilBertForSequenceClassification",
        "DistilBertConfig",
        DISTIL,
        _pieces("DistilBertTokenizer", *BERT),
    ),
    "MPNet": (
        "MPNetForSequenceClassification",
        "MPNetConfig",
        {**SIZES, "max_position_embeddings": 50},
        _pieces("MPNetTokenizer", "<s>", "<pad>", "</s>", "[UNK]", "<mask>"),
    ),
    "Funnel": (
        "FunnelForSequenceClassification",
        "FunnelConfig",
        FUNNEL,
        _pieces("FunnelTokenizer", "<pad>", "<unk>", "<cls>", "<sep>", "<mask>"),
    ),
    "BART": (
        "BartForSequenceClassification",
        "BartConfig",
        BART,
        _bytes("BartTokenizer", *BPE),
    ),
}
"""Family -> class, configuration, sizes, tokenizer: classifiers of pairs."""
FEW = {
    "segments": "BERT",
    "two classes of an order": "BERT, next sentence",
    "no segments, two tokens between": "RoBERTa",
    "segments that no tokenizer gives": "DeBERTa",
    "segments where a folder asks for them": "ALBERT",
    "special tokens at the end": "XLNet",
    "fewer places in later layers": "Funnel",
    "a decoder that reads both again": "BART",
}
"""What differs in how two texts are joined and read -> the family that shows it."""


def save_pair_reader(family: str, folder: Path, **values: Any) -> tuple[Any, Any]:
    """Save one; returns the library's model and tokenizer."""
    import transformers

    name, of_config, sizes, make = FAMILIES[family]
    torch.manual_seed(0)
    model = getattr(transformers, name)(getattr(transformers, of_config)(**{**sizes, **values}))
    model.eval().save_pretrained(folder)
    tokenizer = make()
    tokenizer.save_pretrained(folder)
    return model, tokenizer
