"""Sentence pairs: a second text, which an encoder reads behind the first (Devlin et al. 2019).

The tokenizer joins both as its folder says: BERT's writes [CLS] A [SEP] B [SEP], with segments 0
and 1 (token_type_ids), RoBERTa's <s> A </s></s> B </s>, without segments.
"""

from dataclasses import replace
from typing import Any

from transformer.checkpoint import Checkpoint
from transformer.hugging_face.model import HuggingFaceConfig, HuggingFaceModel
from transformer.hugging_face.tokenizer import ALIKE, Ends, HuggingFaceTokenizer
from transformer.inputs import InputError, check_length
from transformer.models.family import Family, Ids
from transformer.token import Token
from transformer.tokenizer import Tokenizer

PROBE = "a"
"""A text for which it is seen how a tokenizer joins two."""


def pairing(checkpoint: Checkpoint, second: str) -> Checkpoint:
    """The same model, for texts that a second one follows; nothing is loaded again.

    A text is then A and the second one B, joined as the folder's tokenizer does. Neither is ever
    cut. Raises InputError for a model that reads one text, and for a text of nothing.
    """
    config, tokenizer, model = checkpoint.config, checkpoint.tokenizer, checkpoint.model
    if (
        not isinstance(config, HuggingFaceConfig)
        or not isinstance(tokenizer, HuggingFaceTokenizer)
        or not isinstance(model, HuggingFaceModel)
        or not config.reads_pairs
    ):
        raise InputError(f"{checkpoint.name} reads one text: leave the second one out.")
    second = second.strip()
    check_length(second)
    ends = tokenizer.ends(PROBE, second) if second else ALIKE
    if not ends.n_second:
        raise InputError("The second text holds nothing that the model can read: type a sentence.")
    _check_segments(checkpoint, ends)
    config = replace(config, ends=ends)
    paired = HuggingFaceModel(model.inner, config).eval()
    return replace(checkpoint, config=config, tokenizer=tokenizer.for_pair(second), model=paired)


def reads_pairs(family: Family, tokenizer: Tokenizer) -> bool:
    """Tell whether it reads, and its tokenizer puts a special token between two texts."""
    return bool(_ends(family, tokenizer, PROBE).n_second)


def tells_segments(family: Family, tokenizer: Tokenizer) -> bool:
    """Tell whether its tokenizer gives the second of two texts segments of its own."""
    return any(_ends(family, tokenizer, PROBE).last)


def ends_of_one(family: Family, tokenizer: Tokenizer) -> Ends:
    """Find the segments at both ends of any text: XLNet's and Funnel's have one of their own."""
    return _ends(family, tokenizer, None)


def _ends(family: Family, tokenizer: Tokenizer, second: str | None) -> Ends:
    if family.decodes or not isinstance(tokenizer, HuggingFaceTokenizer):
        return ALIKE
    try:
        return tokenizer.ends(PROBE, second)
    except Exception:  # of a damaged one, which is said once it is to read a text
        return ALIKE


def of_two_texts(
    checkpoint: Checkpoint, tokens: tuple[Token, ...], sources: Ids
) -> tuple[Token, ...]:
    """Say of each token which text of a pair it is of; special ones belong to the text before.

    sources: what the model reads; a decoder may read the same, moved on by one.
    """
    config = checkpoint.config
    if not isinstance(config, HuggingFaceConfig) or not config.ends.n_second:
        return tokens
    ids = [token.id for token in tokens]
    moved = next((n for n in (0, 1) if ids[n:] == list(sources[: len(sources) - n])), None)
    if moved is None or len(ids) != len(sources):
        return tokens
    at = len(sources) - config.ends.n_second + moved
    return tuple(replace(it, segment="A" if i < at else "B") for i, it in enumerate(tokens))


def _check_segments(checkpoint: Checkpoint, ends: Ends) -> None:
    config: Any = checkpoint.config
    n_segments = config.values.get("type_vocab_size")
    last = max((*ends.first, *ends.last), default=0)
    if isinstance(n_segments, int) and 0 < n_segments <= last:
        raise InputError(
            f"{checkpoint.name} has {n_segments} segments, and its tokenizer gives a second text "
            f"the segment {last}, counted from 0: it reads no pairs."
        )
