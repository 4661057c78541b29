"""Kinds of models of the library: what one reads and writes, asked of its class and its output."""

from typing import Any

from torch import nn

from transformer.hugging_face.model import HuggingFaceConfig
from transformer.models import decoder_only, encoder_classifier
from transformer.models.family import Family, ForcedPass, Ids, Rows

READS_BOTH_WAYS = ("xlnet", "xlm", "flaubert", "cpmant", "paligemma")
"""Models with a head for words that see later tokens too, be it only those of a prompt: what they
would write is another pass."""
CLASSIFIES = "ForSequenceClassification"
FOLLOWS = "ForNextSentencePrediction"
ASKS = ("ForMaskedLM", "ForPreTraining")


def _encoder_decoder(config: HuggingFaceConfig, source: Ids, target: Ids | None) -> ForcedPass:
    """The decoder reads what it starts with and all of the target but its last."""
    produced = list(target or ())
    read = [*config.start_ids, *produced][: len(config.start_ids) + max(0, len(produced) - 1)]
    rows = [*config.start_ids[1:], *produced]
    return ForcedPass(
        inputs=(source, read),
        rows={
            "encoder_self": Rows(source, source),
            "decoder_self": Rows(read, read, rows),
            "cross": Rows(read, source, rows),
        },
        embedded={},
    )


def _encoder_decoder_reader(
    config: HuggingFaceConfig, source: Ids, target: Ids | None
) -> ForcedPass:
    """The decoder reads the source as well, moved on by one, and writes nothing.

    It begins with its start token; mBART's with the source's last.
    """
    read = [*(config.start_ids[:1] or source[-1:]), *source[:-1]]
    rows = {
        "encoder_self": Rows(source, source),
        "decoder_self": Rows(read, read),
        "cross": Rows(read, source),
    }
    return ForcedPass(inputs=(source, read), rows=rows, embedded={})


def _unbuildable(config: Any) -> nn.Module:
    raise TypeError("a model of Hugging Face's library is built by the library")


ENCODER_DECODER = Family(
    name="hugging_face_encoder_decoder",
    title="Encoder-decoder",
    build=_unbuildable,
    attentions={"encoder_self": None, "decoder_self": None, "cross": None},
    forced_pass=_encoder_decoder,
)
ENCODER_DECODER_READER = Family(
    name="hugging_face_encoder_decoder_reader",
    title="Encoder-decoder that writes nothing",
    build=_unbuildable,
    attentions={"encoder_self": None, "decoder_self": None, "cross": None},
    forced_pass=_encoder_decoder_reader,
    target="none",
    reads="text",
)
DECODER = Family(
    name="hugging_face_decoder",
    title="Decoder-only generator",
    build=_unbuildable,
    attentions={"decoder_self": None},
    forced_pass=decoder_only.forced_pass,
    target="optional",
    reads="prompt",
)
ENCODER = Family(
    name="hugging_face_encoder",
    title="Encoder",
    build=_unbuildable,
    attentions={"encoder_self": None},
    forced_pass=encoder_classifier.forced_pass,
    target="none",
    reads="text",
)


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
