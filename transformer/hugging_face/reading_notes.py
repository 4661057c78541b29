"""Sentences about what a model reads otherwise here than where it was trained, or at each step."""

import re
from collections.abc import Iterator
from typing import Any

from transformer.hugging_face.kinds import DECODER
from transformer.hugging_face.lengths import first_position
from transformer.hugging_face.pairing import reads_pairs, tells_segments
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer

_SEGMENTS = re.compile(r"(token_type|segment|seg_embed)")
"""Parts of the names of what a model adds for segments."""
_BY_LENGTH = ("prophetnet", "xlm-prophetnet")
"""Types of model whose rows depend on how many there are: of their streams that predict."""


def reading_notes(model: Any, family: Family, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a sentence each. model: of the library, with values or without."""
    is_one_segment = not _has_segments(model) or tells_segments(family, tokenizer)
    if reads_pairs(family, tokenizer) and not is_one_segment:
        yield (
            "Its tokenizer gives the second text of a pair no segment of its own (token_type_ids), "
            "and the model has several: both texts are read as one segment."
        )
    first = first_position(model)
    if family is DECODER and first:
        yield (
            f"By itself its class counts positions from {first} (padding_idx + 1), as in training; "
            "here they are counted from 0, as the library's `generate` has them."
        )
    if family.decodes and model.config.model_type in _BY_LENGTH:
        yield (
            "A row of its decoder depends on how many rows there are: what is recorded of a whole "
            "text differs from what its steps saw, as it does in the library."
        )


def _has_segments(model: Any) -> bool:
    """Tell whether it has more than one, by names and sizes of its parameters."""
    named = model.named_parameters()
    return any(_SEGMENTS.search(name) and len(each) > 1 for name, each in named if each.dim() > 1)
