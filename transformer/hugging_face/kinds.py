"""Kinds of classes of the library: what one reads and writes, asked of it and its output."""

from typing import Any

from transformer.hugging_face.model import (
    DECODER,
    ENCODER,
    ENCODER_DECODER,
    ENCODER_DECODER_READER,
)
from transformer.models.family import Family

READS_BOTH_WAYS = ("xlnet", "xlm", "flaubert", "cpmant", "paligemma")
"""Models with a head for words that see later tokens too, be it only those of a prompt: what they
would write is another pass."""
CLASSIFIES = "ForSequenceClassification"
FOLLOWS = "ForNextSentencePrediction"
ASKS = ("ForMaskedLM", "ForPreTraining")


def family_of(model: Any) -> Family:
    """model: of the library, with values or without."""
    if reads_two(model):
        return ENCODER_DECODER if writes(model) else ENCODER_DECODER_READER
    return DECODER if writes(model) else ENCODER


def reads_two(model: Any) -> bool:
    """Tell whether it reads a source and a target."""
    from inspect import signature

    return "decoder_input_ids" in signature(type(model).forward).parameters


def writes(model: Any) -> bool:
    """Tell whether it goes on writing: can generate, has an output matrix, looks back."""
    if not model.can_generate() or model.get_output_embeddings() is None:
        return False
    return reads_two(model) or not _sees_later_tokens(model)


def only_looks_causal(model: Any) -> bool:
    """Tell whether it is a class for generating that sees later tokens as it is configured."""
    return bool(model.can_generate()) and not writes(model)


def asks(model: Any) -> bool:
    """Tell whether it says what it would put in the place of a mask."""
    named = type(model).__name__.endswith(ASKS)
    return named and not reads_two(model) and model.get_output_embeddings() is not None


def classifies(model: Any) -> bool:
    """Tell whether it puts one of several classes on a text."""
    return type(model).__name__.endswith(CLASSIFIES)


def _sees_later_tokens(model: Any) -> bool:
    """BERT's kind looks back only, where its configuration says that it is a decoder."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_MASKED_LM_MAPPING

    config = model.config
    if config.model_type in READS_BOTH_WAYS:
        return True
    is_masked = type(config) in MODEL_FOR_MASKED_LM_MAPPING
    return is_masked and getattr(config, "is_decoder", True) is False
